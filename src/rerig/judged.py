"""Which session's evidence each case and each target of a run is judged with. Pure."""

from __future__ import annotations

from typing import Any

from rerig.rundir import RawRun
from rerig.schema import fits
from rerig.session_doubts import SeenTarget
from rerig.sessions import Event, RawSession, measuring_session
from rerig_agent.judge.classify import classify
from rerig_agent.judge.known_evidence import shown_name
from rerig_agent.plan_format import MACHINE

Reason = dict[str, str]

OTHER_MEDIUM = {
    "code": "other_medium",
    "sentence": "The file lay on another kind of storage than when the run was planned.",
}
NOT_REACHED = {"code": "not_reached", "sentence": "The run stopped before it looked at this file."}
# The machine itself, which some cases are about, is judged by nothing: it is no file.
_THE_MACHINE = {"refusal": None, "refusal_code": None, "medium": None}
_SHARED = "common-1.0.schema.json#/$defs/"


def reason_of(session: RawSession, target_id: str, event: Event) -> Reason:
    """Code and sentence of an event, without the file's name: a name may look like an address or a path.

    What a result may not hold (a damaged journal can say anything) is left out.
    """
    code, sentence = event.get("code"), event.get("sentence")
    path = _evidence(session, target_id).get("path")
    if isinstance(sentence, str) and isinstance(path, str):
        sentence = sentence.replace(shown_name(path), "The file", 1)
    return {
        "code": str(code) if fits(code, _SHARED + "code") else "unknown",
        "sentence": str(sentence) if fits(sentence, _SHARED + "sentence") else "The reason is not told here.",
    }


class JudgedRun:
    """A raw run with the evidence of every session judged, each once and when it is asked for."""

    def __init__(self, run: RawRun) -> None:
        self.run = run
        self._classified: dict[tuple[int, str], dict[str, Any] | None] = {}
        self._measured_by = {case["id"]: measuring_session(run.sessions, case) for case in run.plan["cases"]}

    def of_case(self, case: dict[str, Any]) -> SeenTarget | None:
        """What the session that measured the case knew of its file.

        None where it knew nothing, refused it, or found it on another medium than the case is about.
        """
        seen = self._seen(self._measured_by[case["id"]], case["target"])
        if seen is None or seen.classified["refusal"] is not None or not _on_planned_medium(seen, case):
            return None
        return seen

    def moved(self, case: dict[str, Any]) -> bool:
        """Whether the case was measured on another medium than it is about."""
        seen = self._seen(self._measured_by[case["id"]], case["target"])
        return seen is not None and seen.classified["refusal"] is None and not _on_planned_medium(seen, case)

    def that_measured(self, target_id: str) -> list[SeenTarget]:
        """The sessions that measured cases of a target, in order, as they saw it."""
        cases = [case for case in self.run.plan["cases"] if case["target"] == target_id]
        found = [self.of_case(case) for case in cases if self.run.repeats[case["id"]]]
        by_number = {seen.session.number: seen for seen in found if seen is not None}
        return [by_number[number] for number in sorted(by_number)]

    def measuring_sessions(self) -> list[RawSession]:
        """The sessions that figures come from, in order; where there are none, the last."""
        targets = (target["id"] for target in self.run.plan["targets"])
        numbers = {seen.session.number for target in targets for seen in self.that_measured(target)}
        return [session for session in self.run.sessions if session.number in numbers] or self.run.sessions[-1:]

    def of_target(self, target_id: str) -> SeenTarget | Reason:
        """What a result shows of a target: as the last session that measured it saw it.

        One that was never measured: as the last session that looked saw it, or why that one refused it. One that
        stopped answering later was no refused one.
        """
        measured = self.that_measured(target_id)
        if measured:
            return measured[-1]
        case = next((case for case in self.run.plan["cases"] if case["target"] == target_id), None)
        for session in reversed(self.run.sessions):
            for event in session.events:
                refused = event["event"] == "target-refused" and event.get("target") == target_id
                if refused and event.get("code") != "hung_later":
                    return reason_of(session, target_id, event)
            seen = self._seen(session, target_id)
            if seen is None:
                continue
            if seen.classified["refusal"] is not None:
                code, sentence = seen.classified["refusal_code"], seen.classified["refusal"]
                return reason_of(session, target_id, {"code": code, "sentence": sentence})
            return seen if case is None or _on_planned_medium(seen, case) else OTHER_MEDIUM
        return NOT_REACHED

    def _seen(self, session: RawSession, target_id: str) -> SeenTarget | None:
        key = (session.number, target_id)
        evidence = _evidence(session, target_id)
        if key not in self._classified:
            is_machine = evidence.get("kind") == MACHINE
            self._classified[key] = _THE_MACHINE if is_machine else classify(evidence) if evidence else None
        classified = self._classified[key]
        return None if classified is None else SeenTarget(session, evidence, classified)


def _evidence(session: RawSession, target_id: str) -> dict[str, Any]:
    found = session.targets.get(target_id)
    return found if isinstance(found, dict) else {}


def _on_planned_medium(seen: SeenTarget, case: dict[str, Any]) -> bool:
    return bool(seen.classified["medium"] == case["identity"].get("medium"))
