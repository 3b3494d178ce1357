"""What differs between sessions, and that time alone is no difference."""

from __future__ import annotations

from typing import Any

import pytest

from raw_runs import block_classified, nfs_classified, session, start, target_evidence
from rerig.session_doubts import SeenTarget, agent_issues, target_issues

TARGET = {"id": "t1", "label": "m.gguf", "origin": "user"}
MOUNT = target_evidence()["mount"]


def seen(number: int, classified: dict[str, Any] | None = None, **evidence: Any) -> SeenTarget:
    return SeenTarget(session([], number), target_evidence(**evidence), classified or block_classified())


def found(*looks: SeenTarget, target: dict[str, Any] = TARGET) -> list[tuple[str, str]]:
    return [(one["code"], one["what"]) for one in target_issues(target, list(looks))]


def test_the_same_file_on_the_same_mount_is_no_doubt() -> None:
    assert found(seen(1), seen(2), seen(5)) == []
    assert found(seen(1)) == found() == []


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (seen(3, mount={**MOUNT, "source": "/dev/sdb1"}), "the mount of t1"),
        (seen(3, data_mounts=[MOUNT]), "the mount of t1"),
        (
            seen(3, block_classified(file_system={"type": "ext4", "options": ["ro"], "nfs": None, "smb": None})),
            "the mount of t1",
        ),
        (seen(3, block_chain=[{"name": "sdb1"}]), "the storage under t1"),
        (seen(3, block_classified(devices=[])), "the storage under t1"),
        (seen(3, block_classified(link={"speed_mbit": 100, "mtu": 1500, "kind": None})), "the network link of t1"),
    ],
)
def test_another_mount_device_or_link_is_a_doubt(second: SeenTarget, words: str) -> None:
    expected = [("state_changed", f"{words} changed between session 1 and session 3")]
    assert found(seen(1), second) == expected
    assert found(seen(1), second, seen(4)) == expected, "each kind once"


@pytest.mark.parametrize("change", [{"size_bytes": 7}, {"modified_ns": 7}])
def test_a_users_file_that_was_written_is_a_doubt_and_a_new_scratch_file_is_none(change: dict[str, Any]) -> None:
    what = "the file t1 changed between session 1 and session 2"
    assert found(seen(1), seen(2, **change)) == [("file_changed", what)]
    assert found(seen(1), seen(2, **change), target={**TARGET, "origin": "scratch"}) == []


def test_what_one_session_does_not_know_is_no_doubt() -> None:
    assert found(seen(1), seen(2, modified_ns=None)) == []
    assert found(seen(1, mount=None), seen(2, mount=None)) == []


def test_no_name_of_a_source_or_folder_is_shown() -> None:
    export = {"fs_type": "nfs4", "source": "nas.example.net:/models", "mount_point": "/mnt/nas", "root": "/"}
    first = seen(1, nfs_classified(), mount=export)
    issues = target_issues(TARGET, [first, seen(2, nfs_classified(), mount={**export, "source": "other:/x"})])
    assert issues
    assert not any(word in str(issues) for word in ("nas.", "models", "mnt", "other:"))


def test_another_agent_or_tool_is_a_doubt() -> None:
    first, second = session([start()]), session([start(session=2, agent_sha256="c" * 64)], 2)
    tools = {"dd": {"version": "coreutils 9.5"}, "fio": None}
    third = session([start(session=3, agent_sha256="c" * 64, tools=tools)], 3)
    assert [one["what"] for one in agent_issues([first, second, third])] == [
        "the build of the agent changed between session 1 and session 2",
        "the version of dd changed between session 2 and session 3",
    ]


@pytest.mark.parametrize("tools", [None, "dd", {"dd": "9.1"}, {}])
def test_an_agent_that_does_not_know_itself_is_no_doubt(tools: Any) -> None:
    unknown = session([start(session=2, agent_sha256=None, tools=tools)], 2)
    assert agent_issues([session([start()]), unknown]) == []
