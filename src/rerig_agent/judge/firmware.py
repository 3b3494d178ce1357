"""What the firmware says of itself: board specs, UEFI's copies of them, slots, capsules, ESRT."""

from __future__ import annotations

import json
from typing import Any

from ..parse import ParseError
from ..parse.efivar import parse_variable
from ..parse.esrt import version_text
from ..parse.nv_boot_control import parse_boot_control, parse_spec
from ..parse.nvbootctrl import parse_slots
from .board import text_of
from .clock_readings import frequency

ESRT = ("fw_version", "lowest_supported_fw_version", "last_attempt_version", "last_attempt_status")


def judge_firmware(jetson: dict[str, Any]) -> dict[str, Any]:
    """See the verdict's part "firmware" in :mod:`rerig_agent.judge.super_mode`. What can't be read is None."""
    control = _control(jetson)
    specs = {
        "tnspec": _spec(control.get("TNSPEC")),
        "compatible_spec": _spec(control.get("COMPATIBLE_SPEC")),
        "variable_spec": _spec(_variable(jetson, "TegraPlatformSpec", "text")),
        "variable_compatible_spec": _spec(_variable(jetson, "TegraPlatformCompatSpec", "text")),
    }
    in_file, in_variables = (
        _both_super(specs["tnspec"], specs["compatible_spec"]),
        _both_super(specs["variable_spec"], specs["variable_compatible_spec"]),
    )
    slots = _slots(jetson)
    esrt = {name: frequency(jetson, "esrt", name) for name in ESRT}
    version = slots.get("version") or (version_text(esrt["fw_version"]) if esrt["fw_version"] else None)
    slot = _slot(jetson, slots)
    return {
        **specs,
        "tnspec_super": in_file,
        "variables_super": in_variables,
        "specs_agree": _agree(specs),
        "version": version,
        "slot": slot,
        "other_slot": _other_slot(jetson, slot, version),
        "slots_normal": all(one["status"] == "normal" for one in slots["slots"]) if slots.get("slots") else None,
        "esrt": esrt if any(value is not None for value in esrt.values()) else None,
        "capsule_status": slots.get("capsule_status"),
        "left_over_status": _left_over(jetson),
    }


def _control(jetson: dict[str, Any]) -> dict[str, str]:
    try:
        return parse_boot_control(text_of(jetson, "files", "nv_boot_control") or "")
    except ParseError:
        return {}


def _reading(jetson: dict[str, Any], name: str) -> dict[str, Any]:
    variables = jetson.get("variables")
    found = variables.get(name) if isinstance(variables, dict) else None
    return found if isinstance(found, dict) else {}


def _variable(jetson: dict[str, Any], name: str, part: str) -> Any:
    text = _reading(jetson, name).get("hex")
    try:
        return parse_variable(text if isinstance(text, str) else "")[part]
    except ParseError:
        return None


def _spec(text: Any) -> str | None:
    """What is a board spec, and nothing else."""
    try:
        parse_spec(text if isinstance(text, str) else "")
    except ParseError:
        return None
    return str(text)


def _both_super(*specs: str | None) -> bool | None:
    found = [parse_spec(spec)["super"] for spec in specs if spec is not None]
    return all(found) if found else None


def _agree(specs: dict[str, Any]) -> bool | None:
    """The firmware compares its own copies, so a file that says something else changes nothing."""
    pairs = (("tnspec", "variable_spec"), ("compatible_spec", "variable_compatible_spec"))
    known = [(specs[one], specs[other]) for one, other in pairs if specs[one] and specs[other]]
    return all(one == other for one, other in known) if known else None


def _slots(jetson: dict[str, Any]) -> dict[str, Any]:
    try:
        return parse_slots(text_of(jetson, "nvbootctrl") or "")
    except ParseError:
        return {}


def _slot(jetson: dict[str, Any], slots: dict[str, Any]) -> str | None:
    number = _variable(jetson, "BootChainFwCurrent", "number")
    return slots.get("current") or {0: "A", 1: "B"}.get(number)


def _other_slot(jetson: dict[str, Any], slot: str | None, version: str | None) -> str:
    """A bootloader that doesn't run can't be looked at: only what was seen when it ran says something of it."""
    try:
        record = json.loads(text_of(jetson, "files", "slot_record") or "")
    except (ValueError, RecursionError):
        return "unknown"
    other = record.get({"A": "B", "B": "A"}.get(slot or "", "")) if isinstance(record, dict) else None
    if not isinstance(other, dict) or other.get("version") != version or version is None:
        return "unknown"
    flavour = other.get("super")
    return {True: "super", False: "not_super"}[flavour] if isinstance(flavour, bool) else "unknown"


def _left_over(jetson: dict[str, Any]) -> bool | None:
    if "hex" in _reading(jetson, "BootChainFwStatus"):
        return True
    variables = jetson.get("variables")
    others = list(variables) if isinstance(variables, dict) else []
    missing = _reading(jetson, "BootChainFwStatus").get("error") == "missing"
    # Where no variable can be read at all, that one is missing says nothing.
    return False if missing and any("hex" in _reading(jetson, name) for name in others) else None
