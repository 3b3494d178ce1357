"""The sessions of a run: how its journal is parted, how long each lasted, and which one measured what."""

from __future__ import annotations

from typing import Any

import pytest

from raw_runs import case_events, dd_case, end, session, start
from rerig.sessions import (
    RawSession,
    describe_sessions,
    last_reason,
    measuring_session,
    session_numbers,
    split_journal,
)


def described(*sessions: RawSession) -> list[tuple[Any, ...]]:
    keys = ("number", "stopped_by", "gap_before_s")
    return [tuple(block[key] for key in keys) for block in describe_sessions(list(sessions))]


def test_a_journal_is_parted_where_the_agent_started() -> None:
    early, undone = {"event": "undo-add"}, {"event": "undo-done", "by": "later start"}
    events = [early, start(), undone, start(session=2), end()]
    assert split_journal(events) == [[early, start(), undone], [start(session=2), end()]]
    assert session_numbers(split_journal(events)) == [1, 2]


def test_there_is_one_session_whatever_the_journal_lacks() -> None:
    assert split_journal([]) == [[]]
    assert session_numbers([[]]) == [1]
    assert described(session([])) == [(1, "killed", None)]


def test_a_run_of_before_there_were_sessions_is_its_first() -> None:
    old = {key: value for key, value in start().items() if key != "session"}
    assert session_numbers(split_journal([old, start(session=2)])) == [1, 2]


def test_the_gap_is_counted_from_the_last_that_a_killed_session_wrote_down() -> None:
    later_start = {"event": "undo-done", "by": "later start", "at": "2026-03-01T10:05:00.000Z"}
    set_aside = {"event": "case-set-aside", "at": "2026-03-01T10:05:00.000Z"}
    killed = session([start(), *case_events("dd-8m.t1", 1, at="10:02:00"), later_start, set_aside])
    assert described(killed, session([start("10:05:00"), end("10:06:00")], 2)) == [
        (1, "killed", None),
        (2, None, 180.0),
    ]
    assert describe_sessions([killed])[0]["ended_at"] is None


def test_the_gap_after_a_stopped_session_is_counted_from_its_end_whatever_was_undone_later() -> None:
    later_start = {"event": "undo-done", "by": "later start", "at": "2026-03-01T10:05:00.000Z"}
    stopped = session([start(), end(stopped_by="signal"), later_start])
    assert described(stopped, session([start("10:05:00"), end("10:06:00")], 2))[1] == (2, None, 240.0)


@pytest.mark.parametrize("at", ["09:59:00", "10:00:59"])
def test_a_clock_that_was_set_back_gives_no_gap(at: str) -> None:
    first = session([start(), end(stopped_by="error")])
    assert described(first, session([start(at), end("10:06:00")], 2))[1] == (2, None, None)


def test_a_clock_that_began_in_1970_gives_no_gap_either() -> None:
    first = session([start(at="10:00:00") | {"at": "1970-01-01T00:00:09.000Z"}])
    assert described(first, session([start("10:05:00"), end("10:06:00")], 2))[1] == (2, None, None)


def test_a_clock_that_was_set_back_within_a_session_is_mended_by_the_steady_one() -> None:
    (block,) = describe_sessions([session([start("10:00:00"), end("09:00:00")])])
    assert block["ended_at"] == "2026-03-01T10:01:00.000000Z"
    (block,) = describe_sessions([session([start("10:00:00"), end("09:00:00", monotonic_s="?")])])
    assert block["ended_at"] == block["started_at"] == "2026-03-01T10:00:00.000Z"


def test_an_end_in_unknown_words_is_an_error() -> None:
    assert described(session([start(), end(stopped_by="boredom")])) == [(1, "error", None)]
    assert described(session([start(), {"event": "run-end"}])) == [(1, "error", None)]


def test_the_last_session_that_ran_a_repeat_measured_the_case() -> None:
    case = dd_case()
    first = session([start(), *case_events(case["id"], 1)])
    second = session([start(session=2), {"event": "case-set-aside", "case": case["id"]}], 2)
    third = session([start(session=3), *case_events(case["id"], 1, done=False)], 3)
    assert measuring_session([first, second], case) is first
    assert measuring_session([first, second, third], case) is third


def test_where_the_journal_says_nothing_the_last_that_knew_the_file_did() -> None:
    first, second = session([start()]), session([start(session=2)], 2, targets={})
    assert measuring_session([first, second], dd_case()) is first
    assert measuring_session([second], dd_case()) is second


def test_the_last_session_that_began_a_case_has_the_last_word_on_it() -> None:
    skipped = {"event": "case-skipped", "case": "x.t1", "code": "hung_later", "sentence": "It hung."}
    first = session([start(), skipped])
    assert last_reason([first, session([start(session=2)], 2)], "x.t1") == (first, skipped)
    begun = session([start(session=2), {"event": "case-start", "case": "x.t1"}], 2)
    assert last_reason([first, begun], "x.t1") is None
    assert last_reason([first], "y.t1") is None
