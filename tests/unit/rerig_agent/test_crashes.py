"""A run that is killed at any line of its journal, or whose disk fills there, leaves nothing and can be resumed."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from rerig_agent.journal import read_journal
from rerig_agent.sessions import done_cases, is_complete, split_sessions
from small_run import KILLED, READ_AHEAD_KB, SmallRun, die_at, full_from, kept_bytes

pytestmark = pytest.mark.slow
CASES = {"ahead.t1", "reread.t2", "scratch.t2"}
REPEATS = 4


@pytest.fixture
def small(disk_path: Path) -> SmallRun:
    return SmallRun(disk_path)


def assert_whole(small: SmallRun, run_dir: Path) -> None:
    events = read_journal(run_dir)
    assert is_complete(events)
    assert set(done_cases(events)) == CASES
    assert events[-1]["exit_status"] == 0
    assert events[-1]["measured_repeats"] == REPEATS
    assert small.left_over(run_dir) == []
    records = [json.loads(path.read_text()) for path in run_dir.glob("cases/*/r*/record.json")]
    assert len(records) == REPEATS
    assert {record["exit_status"] for record in records} == {0}
    ahead = json.loads((run_dir / "cases/ahead.t1/r1/record.json").read_text())
    assert ahead.get("read_ahead_kb") == (READ_AHEAD_KB if small.knobs else None)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_run_killed_at_any_line_is_resumed(small: SmallRun, after: bool) -> None:
    for number in itertools.count(1):
        run_dir = small.folder / f"runs-{number}" / "run"
        status = small.start(run_dir, before=die_at(number, after))
        if status == 0:
            break
        assert status == KILLED
        if after and is_complete(read_journal(run_dir)):
            assert_whole(small, run_dir)
            continue
        kept = kept_bytes(run_dir)
        assert small.start(run_dir, resume=True) == 0, f"killed at line {number}"
        assert_whole(small, run_dir)
        assert kept.items() <= kept_bytes(run_dir).items()
    assert number > 15
    assert_whole(small, run_dir)


def test_a_run_killed_again_and_again_comes_to_its_end(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    kept: dict = {}
    statuses = []
    for number in itertools.count(1):
        statuses.append(small.start(run_dir, resume=number > 1, before=die_at(number, number % 2 == 0)))
        assert kept.items() <= kept_bytes(run_dir).items()
        kept = kept_bytes(run_dir)
        if is_complete(read_journal(run_dir)):
            break
        assert statuses[-1] == KILLED
    assert_whole(small, run_dir)
    sessions = split_sessions(read_journal(run_dir))
    assert [session.start["session"] for session in sessions] == list(range(1, len(sessions) + 1))
    assert len(sessions) > 5
    assert (run_dir / "targets.json").is_file()
    assert (run_dir / f"conditions-after-{len(sessions)}.json").is_file()


def test_a_run_whose_disk_fills_at_any_line_leaves_nothing_and_is_resumed(small: SmallRun) -> None:
    for number in itertools.count(1, 2):  # every second line: it is the same code at each
        run_dir = small.folder / f"runs-{number}" / "run"
        status = small.start(run_dir, before=full_from(number))
        if status == 0:
            break
        assert status == 74
        assert list(small.scratch.iterdir()) == []
        kept = kept_bytes(run_dir)
        assert small.start(run_dir, resume=True) == 0, f"full at line {number}"
        assert_whole(small, run_dir)
        assert kept.items() <= kept_bytes(run_dir).items()
    assert number > 15
