"""What the owner of a board should know besides the verdict, and what root would add to it."""

from __future__ import annotations

from typing import Any

from .board import error_of

# Seen there by owners of boards, and gone on 36.4.7.
HELD_ON = "36.4.3"


def warnings_of(
    states: dict[str, str], board: dict[str, Any], firmware: dict[str, Any], clocks: dict[str, Any]
) -> list[dict[str, str]]:
    """[{"code", "text"}] for the boards that have a Super mode."""
    if board["family"] != "p3767":
        return []
    found = []

    def warn(code: str, text: str) -> None:
        found.append({"code": code, "text": text})

    if states["firmware"] == "super":
        plain = "624 MHz" if board["name"] and "Nano" in board["name"] else "918 MHz"
        falls = f"a fallback boot returns to {plain}"
        if firmware["other_slot"] == "not_super":
            warn("other_slot_not_super", f"The other slot's bootloader is not Super: {falls}.")
        elif firmware["other_slot"] == "unknown":
            warn("other_slot_unknown", f"Whether the other slot's bootloader is Super is not known; if not, {falls}.")
    resting = not clocks["pinned"] and not clocks["emc_locked"]
    if states["firmware"] == "super" and board["release"] == HELD_ON and resting:
        warn(
            "memory_unproven",
            f"On {HELD_ON} some boards' memory stays at 2133 MHz, which shows while jetson_clocks is in force.",
        )
    if firmware["slots_normal"] is False:
        warn("slot_not_normal", "nvbootctrl calls a bootloader slot not normal.")
    if firmware["specs_agree"] is False:
        warn(
            "specs_differ", "UEFI's copy of the board spec differs from /etc/nv_boot_control.conf, and the copy counts."
        )
    if firmware["variables_super"] is False and states["device_tree"] == states["nvpmodel"] == "super":
        warn(
            "spec_not_super",
            "The firmware holds this for a board without Super: the next update would take the plain one.",
        )
    if firmware["left_over_status"]:
        warn("left_over_status", "A BootChainFwStatus is left over in UEFI: it blocks every update of the bootloader.")
    if (firmware["esrt"] or {}).get("last_attempt_status"):
        warn("last_attempt_failed", "The last update of the bootloader failed (last_attempt_status is not 0).")
    if firmware["capsule_status"] in (2, 3):
        what = "was installed but its boot failed" if firmware["capsule_status"] == 2 else "could not be installed"
        warn("capsule_failed", f"The last bootloader update {what}.")
    return found


def needs_root(jetson: dict[str, Any]) -> list[str]:
    """What could not be read here and root could."""
    clocks = jetson.get("clocks")
    found = []
    if error_of(clocks, "emc_max_rate") == "denied" or error_of(clocks, "gpc_max_rate") == "denied":
        found.append("the firmware's own limits of GPU and memory")
    if error_of(jetson, "nvbootctrl") == "denied":
        found.append("the bootloader slots and how the last update went")
    if error_of(jetson, "files", "nvpmodel_status") == "denied":
        found.append("the power mode")
    variables = jetson.get("variables")
    names = variables if isinstance(variables, dict) else {}
    if any(error_of(names, name) == "denied" for name in names):
        found.append("UEFI's variables")
    return found
