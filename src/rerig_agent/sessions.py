"""The sessions of one run, as its journal tells them: each start of the agent on the run directory is one.

Pure: it works on the events of :func:`rerig_agent.journal.read_journal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict

Event = Dict[str, Any]


@dataclass(frozen=True)
class Session:
    """One start of the agent: its number (from 1), the event that began it, all its events, and its end, if any."""

    number: int
    start: Event
    events: list[Event]
    end: Event | None

    @property
    def stopped_by(self) -> str | None:
        """None for a session that came to its end, else "signal", "error", or "killed" where it said no word."""
        if self.end is None:
            return "killed"
        word = self.end.get("stopped_by")
        return word if word is None or isinstance(word, str) else "error"


def split_sessions(events: list[Event]) -> list[Session]:
    """The sessions in their order; what a later start undid belongs to the session that had left it."""
    sessions: list[Session] = []
    for event in events:
        if event["event"] == "run-start":
            sessions.append(Session(len(sessions) + 1, event, [], None))
        if not sessions:
            continue
        last = sessions[-1]
        last.events.append(event)
        if event["event"] == "run-end":
            sessions[-1] = Session(last.number, last.start, last.events, event)
    return sessions


def is_complete(events: list[Event]) -> bool:
    """True when the last session came to its end: nothing is left to resume."""
    sessions = split_sessions(events)
    return bool(sessions) and sessions[-1].stopped_by is None


def done_cases(events: list[Event]) -> dict[str, int]:
    """The cases of which all repeats were run, good or bad, with the number of the session that did it."""
    return {
        event["case"]: session.number
        for session in split_sessions(events)
        for event in session.events
        if event["event"] == "case-done" and isinstance(event.get("case"), str)
    }


def measured_repeats(events: list[Event]) -> int:
    """How many repeats of the done cases ended well, in the sessions that finished these cases."""
    kept = list(done_cases(events).items())
    return sum(
        event["event"] == "repeat-done" and event.get("exit_status") == 0 and (event.get("case"), number) in kept
        for number, session in enumerate(split_sessions(events), start=1)
        for event in session.events
    )


def left_by(events: list[Event], case_id: str) -> int:
    """The number of the last session that began this case; the last session at all where none is known to have."""
    sessions = split_sessions(events)
    began = [
        session.number
        for session in sessions
        if any(event["event"] == "case-start" and event.get("case") == case_id for event in session.events)
    ]
    return began[-1] if began else max(1, len(sessions))


def session_file(name: str, number: int) -> str:
    """``targets.json`` of the first session, ``targets-2.json`` of the second."""
    stem, dot, suffix = name.partition(".")
    return name if number == 1 else f"{stem}-{number}{dot}{suffix}"
