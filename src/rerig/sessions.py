"""A run's sessions: every start of the agent on one run directory, what each knew, and which one measured what. Pure.

A run that was killed or stopped can be resumed. Cases that were done keep their figures, all others are measured anew,
and whatever describes the machine or the files is taken anew. So each case is judged with what its own session knew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from rerig.instants import format_instant, read_instant, seconds_between

Event = dict[str, Any]

LONGEST_GAP_S = 1e9  # a clock that starts in 1970 makes longer ones
_MEASURING = ("repeat-start", "repeat-done", "case-done")
_DECIDING = (*_MEASURING, "case-start", "case-skipped", "case-failed")


@dataclass(frozen=True)
class RawSession:
    """One session as the agent left it: its events, and the evidence that it took (by target id) before and after."""

    number: int
    events: list[Event]
    targets: dict[str, Any] = field(default_factory=dict)
    conditions_before: dict[str, Any] | None = None
    conditions_after: dict[str, Any] | None = None

    @property
    def start(self) -> Event:
        """The ``run-start`` event; empty where there is none."""
        return next((event for event in self.events if event["event"] == "run-start"), {})

    @property
    def end(self) -> Event | None:
        """The last ``run-end`` event; None: it was killed."""
        return next((event for event in reversed(self.events) if event["event"] == "run-end"), None)

    def of_case(self, case_id: str, names: Iterable[str]) -> list[Event]:
        """Its events of one case that have one of these names."""
        return [event for event in self.events if event["event"] in names and event.get("case") == case_id]


def split_journal(events: list[Event]) -> list[list[Event]]:
    """The events of each session in order, one session at the least; what precedes the first start is the first's."""
    sessions: list[list[Event]] = [[]]
    started = False
    for event in events:
        if event["event"] == "run-start":
            if started:
                sessions.append([])
            started = True
        sessions[-1].append(event)
    return sessions


def session_numbers(sessions: list[list[Event]]) -> list[int]:
    """The number that each session gave itself; a run of before there were sessions gave none and has one."""
    numbers = []
    for place, events in enumerate(sessions, start=1):
        start: Event = next((event for event in events if event["event"] == "run-start"), {})
        number = start.get("session")
        numbers.append(number if isinstance(number, int) and not isinstance(number, bool) else place)
    return numbers


def describe_sessions(sessions: list[RawSession]) -> list[dict[str, Any]]:
    """The blocks of ``run.sessions``: number, started_at, ended_at, stopped_by, gap_before_s."""
    blocks: list[dict[str, Any]] = []
    last_seen: datetime | None = None
    for session in sessions:
        started, ended = read_instant(session.start.get("at")), _ended(session)
        gap_s = seconds_between(last_seen, started) if blocks else None
        blocks.append(
            {
                "number": session.number,
                "started_at": None if started is None else session.start["at"],
                "ended_at": ended,
                "stopped_by": stopped_by(session),
                # A clock that was set in between tells no length.
                "gap_before_s": gap_s if gap_s is not None and 0 <= gap_s <= LONGEST_GAP_S else None,
            }
        )
        last_seen = read_instant(ended) or _last_sign_of_life(session)
    return blocks


def stopped_by(session: RawSession) -> str | None:
    """None: it came to its end; "signal", "error", or "killed" where it could not even journal its end."""
    if session.end is None:
        return "killed"
    word = session.end.get("stopped_by", "error")
    return word if word in (None, "signal") else "error"


def measuring_session(sessions: list[RawSession], case: dict[str, Any]) -> RawSession:
    """The session whose figures of ``case`` the run directory holds: the last that ran a repeat of it.

    Where the journal says nothing: the last one that knew the case's file.
    """
    for session in reversed(sessions):
        if session.of_case(case["id"], _MEASURING):
            return session
    return next((session for session in reversed(sessions) if case["target"] in session.targets), sessions[-1])


def last_reason(sessions: list[RawSession], case_id: str) -> tuple[RawSession, Event] | None:
    """The last ``case-skipped`` or ``case-failed``, with its session; None where a later session began the case."""
    for session in reversed(sessions):
        if session.of_case(case_id, _DECIDING):
            found = session.of_case(case_id, ("case-skipped", "case-failed"))
            return (session, found[-1]) if found else None
    return None


def _ended(session: RawSession) -> str | None:
    """When it ended, never before its start: a clock that was set back meanwhile is corrected by the steady one."""
    if session.end is None:
        return None
    started, ended = read_instant(session.start.get("at")), read_instant(session.end.get("at"))
    if started is None or ended is None or ended >= started:
        return None if ended is None else str(session.end["at"])
    try:
        lasted_s = max(0.0, session.end["monotonic_s"] - session.start["monotonic_s"])
        return format_instant(started + timedelta(seconds=lasted_s))
    except (KeyError, TypeError, ValueError, OverflowError):
        return str(session.start["at"])


def _last_sign_of_life(session: RawSession) -> datetime | None:
    """When its last own event was journalled; what a later start undid or set aside is not its own."""
    moments = (
        read_instant(event.get("at"))
        for event in reversed(session.events)
        if event["event"] != "case-set-aside" and (event["event"] != "undo-done" or event.get("by") == "same run")
    )
    return next((moment for moment in moments if moment is not None), None)
