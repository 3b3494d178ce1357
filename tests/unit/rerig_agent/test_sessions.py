"""What a journal tells about the sessions of its run."""

from __future__ import annotations

from typing import Any

import pytest

from rerig_agent.sessions import (
    done_cases,
    is_complete,
    left_by,
    measured_repeats,
    session_file,
    split_sessions,
)


def event(name: str, **data: Any) -> dict:
    return {"event": name, **data}


KILLED = [
    event("run-start", session=1),
    event("case-start", case="a"),
    event("repeat-done", case="a", number=1, exit_status=0),
    event("repeat-done", case="a", number=2, exit_status=1),
    event("case-done", case="a"),
    event("case-start", case="b"),
    event("repeat-done", case="b", number=1, exit_status=0),
]
STOPPED = [
    *KILLED,
    event("undo-done", path="x", by="later start"),
    event("run-start", session=2),
    event("case-start", case="b"),
    event("run-end", stopped_by="signal"),
]
ENDED = [
    *STOPPED,
    event("run-start", session=3),
    event("case-start", case="b"),
    event("repeat-done", case="b", number=1, exit_status=0),
    event("case-done", case="b"),
    event("run-end", stopped_by=None),
]


def test_each_start_is_a_session_with_its_own_end() -> None:
    assert [session.number for session in split_sessions(ENDED)] == [1, 2, 3]
    assert [session.stopped_by for session in split_sessions(ENDED)] == ["killed", "signal", None]
    assert split_sessions(ENDED)[0].events[-1]["event"] == "undo-done"


@pytest.mark.parametrize(("events", "complete"), [([], False), (KILLED, False), (STOPPED, False), (ENDED, True)])
def test_only_a_last_session_that_came_to_its_end_completes_a_run(events: list, complete: bool) -> None:
    assert is_complete(events) is complete


def test_an_end_with_an_odd_word_is_an_error() -> None:
    assert split_sessions([event("run-start"), event("run-end", stopped_by=7)])[0].stopped_by == "error"


def test_done_is_what_ran_all_its_repeats_good_or_bad() -> None:
    assert done_cases(STOPPED) == {"a": 1}
    assert done_cases(ENDED) == {"a": 1, "b": 3}


def test_only_good_repeats_of_done_cases_count_and_only_those_that_were_kept() -> None:
    assert measured_repeats(STOPPED) == 1
    assert measured_repeats(ENDED) == 2


def test_what_is_left_of_a_case_is_of_the_session_that_began_it_last() -> None:
    assert left_by(KILLED, "b") == 1
    assert left_by(STOPPED, "b") == 2
    assert left_by(STOPPED, "never begun") == 2
    assert left_by([], "b") == 1


def test_files_of_later_sessions_are_numbered() -> None:
    assert session_file("targets.json", 1) == "targets.json"
    assert session_file("conditions-before.json", 2) == "conditions-before-2.json"


@pytest.mark.parametrize("odd", [event("case-done"), event("case-done", case=7), event("repeat-done", case=[])])
def test_odd_events_are_no_cases(odd: dict) -> None:
    assert done_cases([event("run-start"), odd]) == {}
    assert measured_repeats([event("run-start"), odd]) == 0
