"""What changed or was busy on the machine around a run: doubts about the run as a whole. Pure."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any, Literal

from rerig.doubts import issue

BUSY_SHARE = 0.5  # load average per core above which a machine is called busy
SWAP_GROWTH_BYTES = 64 * 1024 * 1024
# So long after a session its own load is still in the average of one minute (5 % of it are left then).
OWN_LOAD_S = 180.0

# Summary fields that must be the same at every look, with the words for each.
STEADY = {
    "kernel_release": "the kernel",
    "governors": "the CPU frequency governor",
    "board_model": "the board",
}
_POWER_MODE = re.compile(r"[A-Za-z]{1,16}[:=]?[0-9]{1,6}", re.ASCII)


@dataclass(frozen=True)
class Look:
    """The machine's state at one moment: raw evidence (for what is never published) and its summary.

    ``gap_before_s``: how long before this session an earlier one ended; None for the first, or where it is not known.
    """

    session: int
    when: Literal["before", "after"]
    evidence: dict[str, Any]
    summary: dict[str, Any]
    gap_before_s: float | None = None


def machine_issues(looks: list[Look], sessions: int = 1) -> list[dict[str, Any]]:
    """Issues from the looks in their order, those before and after each session that measured; of ``sessions`` all."""
    issues = [found for look in looks for found in _load_issues(look, sessions)]
    pairs = list(itertools.pairwise(looks))
    for first, second in pairs:
        if _differ(first.evidence.get("boot_id"), second.evidence.get("boot_id")):
            issues.append(issue("state_changed", f"the machine was rebooted {span(first, second, sessions)}"))
    for key, words in STEADY.items():
        changed = ((a, b) for a, b in pairs if a.summary.get(key) != b.summary.get(key))
        for first, second in itertools.islice(changed, 1):
            what = f"{words} changed {span(first, second, sessions)}"
            issues.append(issue("state_changed", what, str(first.summary.get(key)), str(second.summary.get(key))))
    modes = ((a, b) for a, b in pairs if _differ(_power_mode(a), _power_mode(b)))
    for first, second in itertools.islice(modes, 1):
        what = f"the power mode changed {span(first, second, sessions)}"
        issues.append(issue("state_changed", what, _shown(_power_mode(first)), _shown(_power_mode(second))))
    return issues + _swap_issues(looks)


def span(first: Look, second: Look, sessions: int) -> str:
    """Between which looks something happened, in words."""
    return between(first.session, second.session, sessions)


def between(first: int, second: int, sessions: int) -> str:
    """``during the run``, ``during session 2`` or ``between session 1 and session 2``."""
    if first != second:
        return f"between session {first} and session {second}"
    return "during the run" if sessions == 1 else f"during session {first}"


def _load_issues(look: Look, sessions: int) -> list[dict[str, Any]]:
    load, cores = look.summary.get("load_1m"), look.summary.get("cores")
    by_itself = look.gap_before_s is not None and look.gap_before_s < OWN_LOAD_S
    if look.when != "before" or by_itself or load is None or not cores or load <= BUSY_SHARE * cores:
        return []
    before = "the run" if sessions == 1 else f"session {look.session}"
    what = f"the load average was {load} on {cores} cores before {before}"
    return [issue("background_load", what, BUSY_SHARE * cores, load)]


def _swap_issues(looks: list[Look]) -> list[dict[str, Any]]:
    """Swap starts anew with every boot."""
    issues = []
    for _boot, group in itertools.groupby(looks, key=lambda look: look.evidence.get("boot_id")):
        used = [look.summary["swap_used_bytes"] for look in group if look.summary.get("swap_used_bytes") is not None]
        if used and used[-1] - used[0] > SWAP_GROWTH_BYTES:
            issues.append(issue("swap_grew", "swap was used during the run", used[0], used[-1]))
    return issues


def _differ(first: object, second: object) -> bool:
    """What is not known on one side is no difference."""
    return first is not None and second is not None and first != second


def _power_mode(look: Look) -> str | None:
    mode = look.evidence.get("nvpmodel_status")
    return mode.strip() if isinstance(mode, str) else None


def _shown(mode: str | None) -> str | None:
    """``pmode:0002`` as the file has it; anything longer may hold a name."""
    return mode if mode is not None and _POWER_MODE.fullmatch(mode) else None
