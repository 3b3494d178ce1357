"""What a killed run left is undone once, by what its journal says, and nothing else is touched."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_mounts import RealMounts
from rerig_agent import undo as undo_module
from rerig_agent.journal import JOURNAL_NAME, LOCK_NAME, Journal, is_alive, read_journal
from rerig_agent.sessions import done_cases, is_complete, left_by, measured_repeats, split_sessions
from rerig_agent.undo import (
    SCRATCH_PREFIX,
    is_trusted,
    pending,
    remove_scratch,
    undo_entry,
    undo_killed_runs,
    undo_run,
)


def killed_run(root: Path, *paths: Path) -> Path:
    run_dir = root / "run-1"
    run_dir.mkdir()
    made = Journal(run_dir)
    for path in paths:
        made.append("undo-add", action="remove_file", path=os.fspath(path))
    made.close()
    return run_dir


def undone(runs: Path) -> Iterator[tuple[Path, str]]:
    """(run directory, path) of each thing that a start beside these runs undoes."""
    return ((done.run_dir, done.path) for done in undo_killed_runs(runs))


def test_pending_are_those_made_and_not_removed() -> None:
    events = [
        {"event": "undo-add", "action": "remove_file", "path": "a"},
        {"event": "undo-add", "action": "remove_file", "path": "b"},
        {"event": "undo-done", "action": "remove_file", "path": "a"},
        {"event": "undo-add", "action": "remove_file", "path": "c"},
    ]
    assert [entry["path"] for entry in pending(events)] == ["c", "b"]


def test_the_next_start_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    run_dir = killed_run(tmp_path, scratch)
    assert list(undone(tmp_path)) == [(run_dir, str(scratch))]
    assert not scratch.exists()
    assert list(undone(tmp_path)) == []
    assert pending(read_journal(run_dir)) == []


def test_a_living_run_is_left_alone(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    run_dir = killed_run(tmp_path, scratch)
    journal = Journal(run_dir)
    try:
        assert is_alive(run_dir)
        assert list(undone(tmp_path)) == []
    finally:
        journal.close()
    assert scratch.exists()
    assert not is_alive(run_dir)


def test_a_run_that_was_brought_here_from_another_machine_stays_as_it_is(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    copy = killed_run(tmp_path, scratch)
    (copy / LOCK_NAME).unlink()
    before = (copy / JOURNAL_NAME).read_bytes()
    assert list(undone(tmp_path)) == []
    assert scratch.exists()
    assert (copy / JOURNAL_NAME).read_bytes() == before
    assert not (copy / LOCK_NAME).exists()


def test_a_journal_can_not_make_us_remove_a_users_file(tmp_path: Path) -> None:
    precious = tmp_path / "model.safetensors"
    precious.write_bytes(b"x")
    link = tmp_path / (SCRATCH_PREFIX + "link.bin")
    link.symlink_to(precious)
    directory = tmp_path / (SCRATCH_PREFIX + "directory.bin")
    directory.mkdir()
    killed_run(tmp_path, precious, link, directory)
    assert list(undone(tmp_path)) == []
    assert precious.exists()
    assert link.is_symlink()
    assert directory.is_dir()


@pytest.mark.root
def test_a_scratch_file_on_a_dead_mount_does_not_stop_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_module, "REMOVE_LIMIT_S", 0.2)
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    with RealMounts() as mounts:
        dead = mounts.dead_fuse(tmp_path / "dead") / (SCRATCH_PREFIX + "y.bin")
        (tmp_path / "runs").mkdir()
        run_dir = killed_run(tmp_path / "runs", dead, scratch)
        assert list(undone(tmp_path / "runs")) == [(run_dir, str(scratch))]
        with pytest.raises(TimeoutError, match="does not answer"):
            remove_scratch(dead)
    assert [entry["path"] for entry in pending(read_journal(run_dir))] == [str(dead)]


@pytest.mark.root
@pytest.mark.parametrize("lock_mode", [0o600, 0o666])
def test_what_another_user_left_does_not_stop_a_run(public_path: Path, lock_mode: int) -> None:
    scratch = public_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    run_dir = killed_run(public_path, scratch)
    (run_dir / "lock").chmod(lock_mode)
    (run_dir / "journal.jsonl").chmod(0o666)
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.setuid(65534)
            status = len(list(undone(public_path)))
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert scratch.exists()


ODD_UNDO = '{"event": "undo-add", "action": "remove_file", "path": 7}'
ODD_LINES = ["\xff\xfe", "[]", "{}", '{"event": 3}', ODD_UNDO, "[" * 9999]


@pytest.mark.parametrize("line", ODD_LINES)
def test_a_damaged_journal_is_read_as_far_as_it_goes(tmp_path: Path, line: str) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    run_dir = killed_run(tmp_path, scratch)
    with (run_dir / "journal.jsonl").open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    assert list(undone(tmp_path)) == [(run_dir, str(scratch))]


def test_removing_twice_is_no_error(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    assert remove_scratch(scratch)
    assert not remove_scratch(scratch)


KNOB = {
    "action": "restore_text",
    "path": "/sys/class/bdi/8:0/read_ahead_kb",
    "previous": "128",
    "value": "512",
    "boot_id": "this-boot",
}


def fake_root(folder: Path, *places: str) -> Path:
    for place in ("/proc/sys/kernel/random/boot_id", *places):
        path = folder / place.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("this-boot\n" if place.endswith("boot_id") else "512\n")
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "/sys/class/bdi/8:0/read_ahead_kb",
        "/sys/class/bdi/btrfs-1/read_ahead_kb",
        "/sys/block/nvme0n1/queue/read_ahead_kb",
        "/sys/block/cciss!c0d0/queue/read_ahead_kb",
    ],
)
def test_a_read_ahead_is_put_back(tmp_path: Path, path: str) -> None:
    root = fake_root(tmp_path, path)
    assert undo_entry({**KNOB, "path": path}, root)
    assert (root / path.lstrip("/")).read_text() == "128\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/etc/passwd"},
        {"path": "/sys/class/bdi/../../../etc/read_ahead_kb"},
        {"path": "/sys/class/bdi/a/b/read_ahead_kb"},
        {"path": "/sys/block/sda/queue/nr_requests"},
        {"path": "/sys/class/bdi/8:0/read_ahead_kb\n"},
        {"path": "sys/class/bdi/8:0/read_ahead_kb"},
        {"path": "/x/sys/class/bdi/8:0/read_ahead_kb"},
        {"path": "/sys/class/bdi/../read_ahead_kb"},
        {"previous": "128; reboot"},
        {"previous": "1234567890"},
        {"previous": "-1"},
        {"previous": "\u0661"},
        {"previous": 128},
        {"previous": None},
        {"value": "513"},
        {"value": None},
        {"boot_id": "another"},
        {"boot_id": None},
    ],
)
def test_a_journal_can_not_make_us_write_anything_else(tmp_path: Path, changes: dict) -> None:
    entry = {**KNOB, **changes}
    places = {KNOB["path"], entry["path"].strip()}
    root = fake_root(tmp_path, *places)
    assert not undo_entry(entry, root)
    assert {(root / place.lstrip("/")).read_text() for place in places} == {"512\n"}


def test_without_a_name_of_this_boot_no_number_is_put_back(tmp_path: Path) -> None:
    root = fake_root(tmp_path, KNOB["path"])
    (root / "proc/sys/kernel/random/boot_id").unlink()
    assert not undo_entry({**KNOB, "boot_id": None}, root)
    assert not undo_entry(KNOB, root)


@pytest.mark.parametrize("path", ["/sys/fs/cgroup/rerig-1", "/sys/fs/cgroup/memory/a b/rerig-x.y"])
def test_a_control_group_is_removed(tmp_path: Path, path: str) -> None:
    place = tmp_path / path.lstrip("/")
    place.mkdir(parents=True)
    assert undo_entry({"action": "remove_cgroup", "path": path}, tmp_path)
    assert not place.exists()
    assert not undo_entry({"action": "remove_cgroup", "path": path}, tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        "/sys/fs/cgroup/user.slice",
        "/sys/fs/cgroup/../cgroup/rerig-1",
        "/sys/fs/cgroup/rerig-1/below",
        "/sys/fs/cgroup/rerig-1/..",
        "/sys/fs/rerig-1",
        "/home/rerig-1",
    ],
)
def test_a_journal_can_not_make_us_remove_another_directory(tmp_path: Path, path: str) -> None:
    place = tmp_path / path.lstrip("/")
    (tmp_path / "sys/fs/cgroup/rerig-1").mkdir(parents=True)
    place.mkdir(parents=True, exist_ok=True)
    assert not undo_entry({"action": "remove_cgroup", "path": path}, tmp_path)
    assert place.is_dir()


def test_an_eviction_and_an_unknown_action_are_nothing_to_undo() -> None:
    actions = ("evicted", "format_disk", None, ["remove_file"], {})
    assert pending([{"event": "undo-add", "action": action, "path": "/x"} for action in actions]) == []


def test_the_same_thing_twice_is_undone_from_the_newest_back(tmp_path: Path) -> None:
    root = fake_root(tmp_path, KNOB["path"])
    run_dir = tmp_path / "runs" / "run"
    run_dir.mkdir(parents=True)
    with contextlib.closing(Journal(run_dir)) as journal:
        journal.append("undo-add", **{**KNOB, "previous": "128", "value": "256"})
        journal.append("undo-add", **{**KNOB, "previous": "256", "value": "512"})
    assert len(undo_run(run_dir, root)) == 2
    assert (root / KNOB["path"].lstrip("/")).read_text() == "128\n"


def test_a_journal_behind_a_link_and_one_that_is_a_pipe_are_not_read(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    (tmp_path / "runs").mkdir()
    real = killed_run(tmp_path, scratch)
    (tmp_path / "runs" / "link").symlink_to(real)
    (tmp_path / "runs" / "file").mkdir()
    (tmp_path / "runs" / "file" / "journal.jsonl").symlink_to(real / "journal.jsonl")
    (tmp_path / "runs" / "pipe").mkdir()
    os.mkfifo(str(tmp_path / "runs" / "pipe" / "journal.jsonl"))
    assert list(undone(tmp_path / "runs")) == []
    assert scratch.exists()


def test_a_lock_that_is_a_pipe_stops_nobody(tmp_path: Path) -> None:
    run_dir = killed_run(tmp_path, tmp_path / (SCRATCH_PREFIX + "x.bin"))
    (run_dir / "lock").unlink()
    os.mkfifo(str(run_dir / "lock"))
    assert list(undone(tmp_path)) == []


@pytest.mark.root
@pytest.mark.parametrize(
    ("name", "mode", "owner", "trusted"),
    [
        ("run-1", 0o755, 0, True),
        ("run-1", 0o775, 0, True),
        ("run-1", 0o777, 0, False),
        ("run-1", 0o755, 1000, False),
        ("run-1/journal.jsonl", 0o644, 0, True),
        ("run-1/journal.jsonl", 0o666, 0, False),
        ("run-1/journal.jsonl", 0o644, 1000, False),
    ],
)
def test_root_obeys_only_what_nobody_else_could_have_written(
    tmp_path: Path, name: str, mode: int, owner: int, trusted: bool
) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    run_dir = killed_run(tmp_path, scratch)
    os.chown(str(tmp_path / name), owner, 0)
    (tmp_path / name).chmod(mode)
    assert is_trusted(run_dir) is trusted
    assert len(undo_run(run_dir)) == trusted
    assert scratch.exists() is not trusted


@pytest.mark.root
def test_root_obeys_no_journal_that_a_group_may_write(tmp_path: Path) -> None:
    run_dir = killed_run(tmp_path, tmp_path / (SCRATCH_PREFIX + "x.bin"))
    os.chown(str(run_dir / "journal.jsonl"), 0, 1000)
    (run_dir / "journal.jsonl").chmod(0o664)
    assert not is_trusted(run_dir)


ODD_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["128", "this-boot", KNOB["path"]]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(max_size=3), below, max_size=2),
    max_leaves=4,
)
EVENTS = st.lists(
    st.fixed_dictionaries(
        {"event": st.sampled_from(["undo-add", "undo-done", "run-start", "run-end", "case-start", "case-done", "x"])},
        optional={
            "action": st.sampled_from(["remove_file", "restore_text", "remove_cgroup"]) | ODD_VALUES,
            "path": st.sampled_from(["/x/rerig-scratch-1", "/sys/fs/cgroup/rerig-1", KNOB["path"]]) | ODD_VALUES,
            **dict.fromkeys(("previous", "value", "boot_id", "case", "stopped_by", "exit_status"), ODD_VALUES),
        },
    ),
    max_size=6,
)


@given(EVENTS)
def test_no_journal_breaks_its_readers(events: Any) -> None:
    for entry in pending(events):
        assert entry["event"] == "undo-add"
        undo_entry(entry, Path("/nonexistent"))
    sessions = split_sessions(events)
    assert set(done_cases(events).values()) <= {session.number for session in sessions}
    assert 0 <= measured_repeats(events) <= len(events)
    assert left_by(events, "a") >= 1
    assert is_complete(events) in (True, False)
