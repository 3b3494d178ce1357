"""What a killed run left is undone once, by what its journal says, and nothing else is touched."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from real_mounts import RealMounts
from rerig_agent import undo as undo_module
from rerig_agent.journal import Journal, is_alive, read_journal, undo_left_behind
from rerig_agent.undo import SCRATCH_PREFIX, pending, remove_scratch


def killed_run(root: Path, *paths: Path) -> Path:
    run_dir = root / "run-1"
    run_dir.mkdir()
    made = Journal(run_dir)
    for path in paths:
        made.append("undo-add", action="remove_file", path=os.fspath(path))
    made.close()
    return run_dir


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
    assert list(undo_left_behind(tmp_path)) == [(run_dir, str(scratch))]
    assert not scratch.exists()
    assert list(undo_left_behind(tmp_path)) == []
    assert pending(read_journal(run_dir)) == []


def test_a_living_run_is_left_alone(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    run_dir = killed_run(tmp_path, scratch)
    journal = Journal(run_dir)
    try:
        assert is_alive(run_dir)
        assert list(undo_left_behind(tmp_path)) == []
    finally:
        journal.close()
    assert scratch.exists()
    assert not is_alive(run_dir)


def test_a_journal_can_not_make_us_remove_a_users_file(tmp_path: Path) -> None:
    precious = tmp_path / "model.safetensors"
    precious.write_bytes(b"x")
    link = tmp_path / (SCRATCH_PREFIX + "link.bin")
    link.symlink_to(precious)
    directory = tmp_path / (SCRATCH_PREFIX + "directory.bin")
    directory.mkdir()
    killed_run(tmp_path, precious, link, directory)
    assert list(undo_left_behind(tmp_path)) == []
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
        assert list(undo_left_behind(tmp_path / "runs")) == [(run_dir, str(scratch))]
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
            status = len(list(undo_left_behind(public_path)))
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
    assert list(undo_left_behind(tmp_path)) == [(run_dir, str(scratch))]


def test_removing_twice_is_no_error(tmp_path: Path) -> None:
    scratch = tmp_path / (SCRATCH_PREFIX + "x.bin")
    scratch.write_bytes(b"x")
    assert remove_scratch(scratch)
    assert not remove_scratch(scratch)
