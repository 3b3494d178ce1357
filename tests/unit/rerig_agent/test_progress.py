"""The file of a run's progress: whole lines, few ticks, and no trouble for the run."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from rerig_agent import progress as progress_module
from rerig_agent.progress import ProgressFile


def events(path: Path) -> list:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_events_are_lines_and_a_later_session_goes_on_behind_them(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    ProgressFile(path)("one", path="한글\udcff")
    ProgressFile(path)("two")
    assert events(path) == [{"event": "one", "path": "한글\udcff"}, {"event": "two"}]


def test_nothing_is_made_before_the_first_event(tmp_path: Path) -> None:
    ProgressFile(tmp_path / "progress.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", '{"ev', '{"event": "one"}\n{"ev', '{"event": "one"}\n'])
def test_half_a_line_that_a_killed_run_left_is_taken_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "progress.jsonl"
    path.write_text(text)
    ProgressFile(path)("two")
    assert [event["event"] for event in events(path)] == [*(["one"] if "\n" in text else []), "two"]


def test_of_many_ticks_one_a_second_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: clock[0])
    tell = ProgressFile(tmp_path / "progress.jsonl")
    for tenth in range(31):
        clock[0] = tenth / 10
        tell("tick", elapsed_s=tenth)
        tell("scratch", bytes=tenth, total=25)
        tell("repeat-start", number=tenth)
    told = events(tmp_path / "progress.jsonl")
    assert [event["elapsed_s"] for event in told if event["event"] == "tick"] == [0, 10, 20, 30]
    assert [event["bytes"] for event in told if event["event"] == "scratch"] == [0, 10, 20, 25]
    assert len([event for event in told if event["event"] == "repeat-start"]) == 31


def test_a_full_disk_loses_events_and_spoils_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "progress.jsonl"
    tell = ProgressFile(path)
    tell("one")
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        return real(descriptor, data[: len(data) // 2])

    def nothing(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for full in (half, nothing):
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            tell("two")
        assert path.read_text() == '{"event": "one"}\n'
    tell("three")
    assert [event["event"] for event in events(path)] == ["one", "three"]


def test_a_place_that_can_not_be_written_hinders_nobody(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    (tmp_path / "link").symlink_to(precious)
    ProgressFile(tmp_path / "link")("one")
    ProgressFile(tmp_path / "no" / "folder")("one")
    assert precious.read_text() == "x"
