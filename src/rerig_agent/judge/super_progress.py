"""How far a board is on the road to Super: not begun, waiting for the boot that applies it, done, or failed. Pure."""

from __future__ import annotations

from typing import Any

from .reflash import reflash_advice
from .super_gates import CAPSULE_NAME, RELEASES, Gate, capsule_asked, judge_gates, may_ever
from .super_mode import judge_super
from .super_specs import super_spec

OTHER_SLOT = {"A": "B", "B": "A"}
SEEN_AT_BOOT = (
    "The next boot applies the capsule: a progress bar for one to five minutes, on the screen and on the serial"
    " console, then another boot. Don't cut the power meanwhile."
)


def judge_progress(
    evidence: dict[str, Any],
    road: dict[str, Any],
    releases: Any = RELEASES,
    other_slot: bool = False,
) -> dict[str, Any]:
    """{"state", "sentence", "gates", "advice" or None, "verdict", "specs", "record"}.

    state: super (nothing to do), open (all gates passed), refused (a gate did not), staged (the next boot applies it),
    applied (it booted, the table proves Super) or failed (it booted, and it doesn't). ``other_slot``: whether a board
    that runs Super already shall get it into its other slot too. specs: {file's key: [as it is, as it shall be]}.
    record: {"A" or "B": {"version", "gpu_last_hz", "super"}} of the slot that runs, empty where that isn't known.
    """
    verdict = judge_super(evidence)
    gates: list[Gate] = []
    state, sentence = _after_staging(evidence, road, verdict)
    if state is None:
        state, sentence = _before_staging(verdict, other_slot, may_ever(verdict["board"], releases))
    if state == "open":
        gates = judge_gates(evidence, road, releases)
        failed = [gate["sentence"] for gate in gates if not gate["passed"]]
        if failed:
            state, sentence = "refused", " ".join(failed)
    return {
        "state": state,
        "sentence": sentence,
        "gates": gates,
        "advice": reflash_advice(verdict["board"]) if state in ("refused", "failed") else None,
        "verdict": verdict,
        "specs": _specs(verdict["firmware"]),
        "record": _record(verdict),
    }


def _runs_super(verdict: dict[str, Any]) -> bool:
    return bool(verdict["layers"]["firmware"]["state"] == "super")


def _before_staging(verdict: dict[str, Any], other_slot: bool, may: bool) -> tuple[str, str]:
    if not _runs_super(verdict):
        return "open", verdict["cause"]
    slot, other = verdict["firmware"]["slot"], verdict["firmware"]["other_slot"]
    if other == "super":
        return "super", f"Both bootloader slots are Super. {verdict['cause']}"
    if other_slot and slot is not None:
        return "open", f"Slot {slot} is Super already, and slot {OTHER_SLOT[slot]} is to become so."
    advice = f" {_other_slot_advice(slot, other)}" if may else ""
    return "super", f"The running bootloader is Super already. {verdict['cause']}{advice}"


def _other_slot_advice(slot: str | None, other: str) -> str:
    known = "is not Super" if other == "not_super" else "may not be"
    name = f"slot {OTHER_SLOT[slot]}" if slot else "the other slot"
    return (
        f"Since {name} {known}, a fallback boot would end it: once you trust this one, run the role again with"
        " super_mode_other_slot: true, which updates the slot that does not run."
    )


def _after_staging(evidence: dict[str, Any], road: dict[str, Any], verdict: dict[str, Any]) -> tuple[str | None, str]:
    """(None, "") where nothing was staged."""
    staged = road["staged"]
    if not road["pending"] or not staged:
        return None, ""
    jetson = evidence.get("jetson") or {"variables": {}}
    there, asked = road["esp"]["waiting"].get(CAPSULE_NAME) == staged.get("sha256"), capsule_asked(jetson)
    same_boot = staged.get("boot_id") == evidence.get("boot_id")
    if same_boot and there and asked:
        return "staged", SEEN_AT_BOOT
    if same_boot or (there and not asked):
        return None, ""  # an earlier run ended before it had asked, or somebody took it away: this one goes on
    firmware = verdict["firmware"]
    if there:
        return "failed", "The machine has booted, but its firmware did not look for the capsule, which still waits."
    moved = firmware["slot"] not in (None, staged.get("slot"))
    # A reflash from a host may have come in between, after which the slot says nothing.
    if _runs_super(verdict) and (moved or staged.get("super") is False):
        done = f"The capsule was applied: slot {firmware['slot']} runs, and its tables are Super's."
        advice = "" if firmware["other_slot"] == "super" else f" {_other_slot_advice(firmware['slot'], 'not_super')}"
        return "applied", f"{done} {verdict['cause']}{advice}"
    return "failed", f"{_why(firmware, staged)} {verdict['cause']}"


def _why(firmware: dict[str, Any], staged: dict[str, Any]) -> str:
    status = (firmware["esrt"] or {}).get("last_attempt_status")
    numbered = f" (last_attempt_status {status})" if status else ""
    if firmware["capsule_status"] == 2:
        return "The capsule was written, but the boot from the new slot failed and the old one runs on."
    if firmware["capsule_status"] == 3 or status:
        left = ", since a BootChainFwStatus was left over" if firmware["left_over_status"] else ""
        return f"The firmware refused the capsule{left}{numbered}; nothing was written."
    if firmware["slot"] == staged.get("slot"):
        return f"The machine has booted, but slot {firmware['slot']} still runs."
    return "The capsule was applied, but the tables are not Super's."


def _specs(firmware: dict[str, Any]) -> dict[str, list[str]]:
    specs = {"TNSPEC": firmware["tnspec"], "COMPATIBLE_SPEC": firmware["compatible_spec"]}
    return {name: [spec, super_spec(spec)] for name, spec in specs.items() if spec is not None}


def _record(verdict: dict[str, Any]) -> dict[str, Any]:
    firmware, last = verdict["firmware"], verdict["clocks"]["gpu_last_hz"]
    if firmware["slot"] is None or firmware["version"] is None or last is None:
        return {}
    return {
        firmware["slot"]: {"version": firmware["version"], "gpu_last_hz": last, "super": _runs_super(verdict)},
    }
