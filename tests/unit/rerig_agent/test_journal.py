"""The journal survives torn lines and full disks, and has one writer."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from rerig_agent import journal as journal_module
from rerig_agent.journal import Journal, read_journal


def test_events_come_back_in_order_with_any_file_name(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append("one", path="한글\n\udcff")
    journal.append("two")
    journal.close()
    events = read_journal(tmp_path)
    assert [event["event"] for event in events] == ["one", "two"]
    assert events[0]["path"] == "한글\n\udcff"


def test_a_line_torn_by_a_crash_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append("one")
    journal.close()
    with (tmp_path / "journal.jsonl").open("a") as file:
        file.write('{"event": "tw')
    assert [event["event"] for event in read_journal(tmp_path)] == ["one"]


def test_an_event_after_a_torn_line_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"event": "tw')
    journal = Journal(tmp_path)
    journal.append("three")
    journal.close()
    assert [event["event"] for event in read_journal(tmp_path)] == ["three"]


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert read_journal(tmp_path) == []


def test_two_agents_can_not_hold_one_run(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(OSError, match="temporarily unavailable"):
        Journal(tmp_path)
    journal.close()


def test_half_a_line_that_a_full_disk_took_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    sizes = [10, 0]

    def full(descriptor: int, data: bytes) -> int:
        if not sizes[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data[: sizes.pop(0)])

    journal = Journal(tmp_path)
    journal.append("one")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            journal.append("two")
    assert (tmp_path / "journal.jsonl").read_bytes().count(b"\n") == 1
    assert (tmp_path / "journal.jsonl").read_bytes().endswith(b"\n")
    journal.append("three")
    journal.close()
    assert [event["event"] for event in read_journal(tmp_path)] == ["one", "three"]


def test_opening_the_journal_of_a_run_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"event": "tw')
    Journal(tmp_path).close()
    assert (tmp_path / "journal.jsonl").read_text() == '{"event": "tw'


def test_a_journal_is_never_written_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.jsonl").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        Journal(tmp_path / "run")
    assert precious.read_text() == "x"


def test_a_journal_may_be_closed_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.close()
    journal.close()
    Journal(tmp_path).close()


def test_whoever_only_asks_for_the_lock_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "LOCK_LIMIT_S", 60)
    asking = os.open(str(tmp_path / "lock"), os.O_RDONLY | os.O_CREAT)
    fcntl.flock(asking, fcntl.LOCK_SH)
    left = threading.Timer(0.05, os.close, [asking])
    left.start()
    Journal(tmp_path).close()
    left.join()
