"""Progress: lines where there is no terminal, a bar a machine where there is one, and no event that breaks it."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.report.progress import LONGEST_SENTENCE, Display

PLAN: dict[str, Any] = {
    "cases": [
        {
            "id": f"{name}.t1",
            "target": "t1",
            "skip": None,
            "estimate_s": 10.0,
            "repeats": [{"number": 1}, {"number": 2}],
        }
        for name in ("one", "two")
    ]
}


class Terminal(io.StringIO):
    """A stderr that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def repeat(name: str, number: int, event: str = "repeat-start") -> dict[str, Any]:
    return {"event": event, "case": f"{name}.t1", "number": number}


def test_every_case_is_one_line_however_often_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(quiet=False) as display:
        observer = display.observer(PLAN)
        for event in [repeat("one", 1), repeat("one", 2), repeat("two", 1), repeat("one", 1)]:
            observer.on_event(event)
    assert capsys.readouterr().err == "one.t1: 2 × about 10 s\ntwo.t1: 2 × about 10 s\n"


def test_of_several_machines_every_line_names_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(quiet=False) as display:
        for name in ("box", "orin"):
            display.observer(PLAN, name).on_event(repeat("one", 1))
    assert capsys.readouterr().err == "box: one.t1: 2 × about 10 s\norin: one.t1: 2 × about 10 s\n"


@pytest.mark.parametrize("event", ["target-refused", "case-failed", "undone", "undo-left", "scratch-left"])
@pytest.mark.parametrize("quiet", [True, False])
def test_what_went_wrong_is_said_even_when_quiet(capsys: pytest.CaptureFixture[str], event: str, quiet: bool) -> None:
    with Display(quiet) as display:
        display.observer(PLAN).on_event({"event": event, "target": "t1", "sentence": "The disk is full."})
    assert capsys.readouterr().err == "The disk is full.\n"


def test_a_target_that_was_refused_before_the_run_is_not_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(quiet=False) as display:
        display.observer(PLAN).on_event({"event": "target-refused", "target": "t7", "sentence": "It is on tmpfs."})
    assert capsys.readouterr().err == ""


def test_a_sentence_from_another_machine_can_not_move_the_cursor_or_fill_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Display(quiet=False) as display:
        display.observer(PLAN, "box").on_event({"event": "undone", "sentence": "a\x1b[2Jb\n" + "x" * 5000})
    told = capsys.readouterr().err
    assert told.startswith("box: a\\x1b[2Jb\\nxxx")
    assert len(told) == len("box: ") + LONGEST_SENTENCE + 1


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """stderr from now on; a fixture would be too early, since pytest puts its own there when the test begins."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_on_a_terminal_every_machine_has_a_bar_that_moves_with_its_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal(monkeypatch)
    with Display(quiet=False) as display:
        observers = [display.observer(PLAN, name) for name in ("box", "orin")]
        observers[0].on_event(repeat("one", 2))
        observers[0].on_event(repeat("one", 1, "repeat-done"))
        observers[0].on_event(repeat("one", 1, "repeat-done"))
        observers[0].on_event({**repeat("one", 2, "tick"), "elapsed_s": 99.0})
        assert display.bars is not None
        box, orin = display.bars.tasks
        assert (box.description, box.completed, box.total) == ("box: one.t1  2/2", 20.0, 40.0)
        assert (orin.description, orin.completed) == ("orin: starting", 0)
        for observer, failed in zip(observers, (False, True), strict=True):
            observer.end(failed)
        assert [task.description for task in display.bars.tasks] == ["box: done", "orin: failed"]
    assert "box: done" in stderr.getvalue()


def test_what_earlier_sessions_did_is_no_part_of_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    with Display(quiet=False) as display:
        observer = display.observer(PLAN)
        observer.skip({"one.t1", "unknown"})
        assert display.bars is not None
        assert display.bars.tasks[0].completed == 20.0


def test_quiet_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal(monkeypatch)
    with Display(quiet=True) as display:
        display.observer(PLAN).on_event(repeat("one", 1))
        assert display.bars is None
    assert stderr.getvalue() == ""


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["one.t1", "t1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = ["tick", "scratch", "repeat-start", "repeat-done", "undone", "target-refused", "odd"]
EVENTS = st.dictionaries(
    st.sampled_from(["case", "number", "elapsed_s", "bytes", "total", "sentence", "target"]), VALUES
).flatmap(lambda data: st.sampled_from(NAMES).map(lambda name: {**data, "event": name}))


@given(st.lists(EVENTS, max_size=5), VALUES)
def test_no_event_and_no_plan_of_another_machine_breaks_it(events: list[dict[str, Any]], cases: Any) -> None:
    stderr, sys.stderr = sys.stderr, Terminal()
    try:
        with Display(quiet=False) as display:
            for plan in (PLAN, {"cases": cases}, {}):
                observer = display.observer(plan)
                for event in events:
                    observer.on_event(event)
    finally:
        sys.stderr = stderr
