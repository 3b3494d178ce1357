"""What changed or was busy on the machine around a run: doubts about the run as a whole. Pure."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any, Literal

from rerig.doubts import issue
from rerig_agent.judge.expected_clocks import megahertz
from rerig_agent.judge.public_board import OTHER
from rerig_agent.judge.public_power import public_mode
from rerig_agent.judge.super_mode import MAXN_SUPER, judge_super

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
# What of a board must be so too, where it is known at both looks.
STEADY_BOARD = {
    "verdict": "the verdict on the board's Super mode",
    "gpu_last_hz": "the end of the GPU's table of clocks",
    "gpu_max_hz": "the GPU's highest clock",
    "cpu_max_khz": "the cores' highest clock",
    "emc_max_hz": "the memory's highest clock",
}
# Boards that have no Super mode, or that rerig doesn't know, are blamed for nothing.
BLAMELESS = ("super", "no_super_mode")
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
    modes = ((a, b, *found) for a, b in pairs if _differ(*(found := _power_modes(a, b))))
    for first, second, was, now in itertools.islice(modes, 1):
        what = f"the power mode changed {span(first, second, sessions)}"
        issues.append(issue("state_changed", what, _shown(was), _shown(now)))
    for key, words in STEADY_BOARD.items():
        boards = ((a, b) for a, b in pairs if _differ(_board(a).get(key), _board(b).get(key)))
        for first, second in itertools.islice(boards, 1):
            what = f"{words} changed {span(first, second, sessions)}"
            issues.append(issue("state_changed", what, _board(first)[key], _board(second)[key]))
    return issues + _super_issues(looks, sessions) + _swap_issues(looks)


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


def _super_issues(looks: list[Look], sessions: int) -> list[dict[str, Any]]:
    """One issue, of the first look that found a Jetson not in Super mode with its mode in force."""
    blamed = (look for look in looks if _board(look) and not _is_blameless(_board(look)))
    look = next(blamed, None)
    if look is None:
        return []
    board = _board(look)
    when = f"{look.when} {'the run' if sessions == 1 else f'session {look.session}'}"
    what = f"the board was not shown to be in Super mode {when}: {board['cause'].rstrip('.')}"
    wanted_hz = judge_super(look.evidence)["clocks"]["gpu_expected_hz"]
    found = [hz for hz in (board["gpu_last_hz"], board["gpu_max_hz"]) if hz is not None]
    expected, actual = _mode_and_clock(MAXN_SUPER, wanted_hz), _mode_and_clock(board["mode"], min(found, default=None))
    return [issue("power_mode", what, expected, actual)]


def _is_blameless(board: dict[str, Any]) -> bool:
    return board["verdict"] in BLAMELESS or board["code"] == "unknown_board"


def _mode_and_clock(mode: str | None, gpu_hz: int | None) -> str:
    """``25W, GPU up to 918 MHz``"""
    clock = "an unknown clock" if gpu_hz is None else megahertz(gpu_hz)
    return f"{mode or 'an unknown mode'}, GPU up to {clock}"


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


def _board(look: Look) -> dict[str, Any]:
    return look.summary.get("board_state") or {}


def _power_modes(first: Look, second: Look) -> tuple[str | None, str | None]:
    """By their names where both are NVIDIA's; else as nvpmodel keeps them, by their numbers."""
    names = _board(first).get("mode"), _board(second).get("mode")
    return (_power_mode(first), _power_mode(second)) if {None, OTHER} & {*names} else names


def _power_mode(look: Look) -> str | None:
    mode = look.evidence.get("nvpmodel_status")
    return mode.strip() if isinstance(mode, str) else None


def _shown(mode: str | None) -> str | None:
    """A mode's name, or ``pmode:0002`` as the file has it; anything longer may hold a person's."""
    plain = mode is not None and (public_mode(mode) == mode or _POWER_MODE.fullmatch(mode))
    return mode if plain else None
