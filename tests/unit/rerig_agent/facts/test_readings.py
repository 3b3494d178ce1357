"""One small file as evidence: its text or why there is none, and never outside the root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fake_machine import FakeMachine
from rerig_agent.facts.readings import LIMIT, read_hex, read_link, read_reading, within


def test_a_file_is_read_as_it_is(machine: FakeMachine) -> None:
    machine.write("/proc/device-tree/compatible", "one\0two\0")
    machine.write("/odd", "a\r\n\udcff")
    assert read_reading(machine.root, "/proc/device-tree/compatible") == {"text": "one\0two\0"}
    assert read_reading(machine.root, "/odd") == {"text": "a\r\n\udcff"}
    assert read_hex(machine.root, "/odd") == {"hex": "610d0aff"}


def test_no_more_than_64_kib_of_a_file_is_read(machine: FakeMachine) -> None:
    machine.write("/long", "x" * (LIMIT + 1))
    assert len(read_reading(machine.root, "/long")["text"]) == LIMIT
    assert len(read_hex(machine.root, "/long")["hex"]) == 2 * LIMIT


def test_why_a_file_has_no_text_is_told(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write("/folder/file", "")
    assert read_reading(machine.root, "/nowhere/file") == {"error": "missing"}
    assert read_reading(machine.root, "/folder/file/below") == {"error": "missing"}
    assert read_reading(machine.root, "/folder") == {"error": "unreadable"}
    assert read_reading(machine.root, "/a\0b") == {"error": "unreadable"}
    assert read_link(machine.root, "/folder/file") == {"error": "unreadable"}

    def deny(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", deny)
    assert read_reading(machine.root, "/folder/file") == {"error": "denied"}
    assert read_hex(machine.root, "/folder/file") == {"error": "denied"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_only_root_may_read_is_denied(machine: FakeMachine) -> None:
    machine.write("/secret", "x").chmod(0)
    assert read_reading(machine.root, "/secret") == {"error": "denied"}


def test_a_pipe_holds_nobody_up(machine: FakeMachine) -> None:
    os.mkfifo(str(machine.root / "pipe"))
    assert read_reading(machine.root, "/pipe") == {"text": ""}


def test_links_lead_to_places_below_the_root(machine: FakeMachine, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "file"
    outside.write_text("outside", "utf-8")
    machine.write("/etc/real", "inside")
    for name, target in (
        ("absolute", "/etc/real"),
        ("relative", "../etc/real"),
        ("above", "../../../../../../../../etc/real"),
        ("chain", "absolute"),
    ):
        (machine.root / "etc" / name).symlink_to(target)
        assert read_reading(machine.root, f"/etc/{name}") == {"text": "inside"}
    (machine.root / "folder").symlink_to("/etc")
    assert read_reading(machine.root, "/folder/real") == {"text": "inside"}
    (machine.root / "etc" / "out").symlink_to(outside)
    assert read_reading(machine.root, "/etc/out") == {"error": "missing"}
    (machine.root / "etc" / "round").symlink_to("round")
    assert read_reading(machine.root, "/etc/round") == {"error": "unreadable"}


def test_what_a_link_names_is_told_and_not_followed(machine: FakeMachine) -> None:
    (machine.root / "etc").mkdir()
    (machine.root / "etc" / "default.target").symlink_to("/lib/systemd/system/multi-user.target")
    assert read_link(machine.root, "/etc/default.target") == {"text": "/lib/systemd/system/multi-user.target"}
    assert read_link(machine.root, "/etc/none.target") == {"error": "missing"}


def test_the_machine_s_own_root_needs_no_translation() -> None:
    assert within(Path("/"), "/proc/self/exe") == Path("/proc/self/exe")
