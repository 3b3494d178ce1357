"""What a look at a machine has, and what a check of it says: found, wanted, and a sentence where they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rerig_agent.judge.conditions_summary import summarize
from rerig_agent.parse import ParseError
from rerig_agent.parse.procfs import parse_swaps

# In the order of the report; each is a module of tests/state.
GROUPS = ("super", "power_mode", "headless", "memory", "services", "clocks", "fan", "nvme", "versions")
# These mean something on any Linux machine.
ANYWHERE = ("headless", "memory", "nvme")
NOT_A_BOARD = f"on a machine that is none, use --only {','.join(ANYWHERE)}"


class CheckFailed(AssertionError):
    """A check's sentence."""


@dataclass(frozen=True)
class Look:
    """One look at a machine: the agent's evidence and the judgements of it."""

    evidence: dict[str, Any]
    verdict: dict[str, Any]  # of rerig_agent.judge.super_mode.judge_super
    links: list[dict[str, Any]]
    fan: dict[str, Any]
    summary: dict[str, Any]  # of rerig_agent.judge.conditions_summary.summarize

    @classmethod
    def of(cls, told: dict[str, Any]) -> Look:
        """From what the probe printed."""
        evidence = told["evidence"]
        return cls(evidence, told["super"], told.get("links") or [], told.get("fan") or {}, summarize(evidence))

    @property
    def cause(self) -> str:
        """The judge's one sentence."""
        return str(self.verdict["cause"])

    @property
    def is_jetson(self) -> bool:
        return bool(self.verdict["verdict"] != "not_a_jetson")

    @property
    def known_state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.evidence.get("known_state") or {}
        return found

    @property
    def packages(self) -> dict[str, str]:
        """L4T's and CUDA's, by name."""
        found: dict[str, str] = (self.evidence.get("jetson") or {}).get("packages") or {}
        return found

    @property
    def swaps(self) -> list[dict[str, Any]]:
        """What /proc/swaps has, see :func:`rerig_agent.parse.procfs.parse_swaps`."""
        try:
            return parse_swaps(self.evidence.get("swaps") or "")
        except ParseError:
            return []

    def as_json(self) -> dict[str, Any]:
        """What the report keeps: the verdict, and none of the raw texts."""
        return {"super": self.verdict}


@dataclass
class Check:
    """One check of a group: what is looked at, ``found`` and ``wanted`` in words, and how it ended."""

    group: str
    what: str
    found: str = ""
    wanted: str = ""
    status: str = ""  # ok, warning, failed, skipped
    sentence: str = ""
    warnings: list[str] = field(default_factory=list)

    def compare(self, found: str, wanted: str, holds: bool, sentence: str) -> None:
        """Note both, and fail with the sentence unless it holds."""
        self.found, self.wanted = found, wanted
        if not holds:
            self.fail(sentence)

    def fail(self, sentence: str) -> None:
        """End the check with this sentence. Raises CheckFailed."""
        self.sentence = sentence
        raise CheckFailed(sentence)

    def warn(self, sentence: str) -> None:
        """Let it be shown, without failing."""
        self.warnings.append(sentence)

    def needs_a_jetson(self, look: Look) -> None:
        """Fail where the machine is none, and say what to ask instead."""
        if not look.is_jetson:
            self.found, self.wanted = "not a Jetson", "a Jetson"
            self.fail(f"{look.cause[:-1]}; {NOT_A_BOARD}.")

    def end(self, status: str, sentence: str) -> None:
        """How it ended."""
        self.status, self.sentence = status, sentence

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "what": self.what,
            "status": self.status,
            "found": self.found,
            "wanted": self.wanted,
            "sentence": self.sentence or None,
            "warnings": list(self.warnings),
        }
