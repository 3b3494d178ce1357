"""The journal survives torn lines and full disks, and has one writer."""

from __future__ import annotations

from pathlib import Path

import pytest

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
