"""Which verdict the three layers and the mode give together, and the one sentence that says why."""

from __future__ import annotations

from typing import Any

from .board import FAMILY_NAMES
from .expected_clocks import megahertz
from .public_power import public_mode, public_setting

UNREADABLE = {"denied": "root alone may read it", "missing": "it is not there", None: "its text is torn"}


def cause_of(
    board: dict[str, Any], states: dict[str, str], mode: dict[str, Any], clocks: dict[str, Any], table_error: str | None
) -> tuple[str, str, str]:
    """(verdict, code, cause). ``states``: each layer's; ``table_error``: why the GPU's table has no text."""
    if board["family"] in FAMILY_NAMES:
        name = FAMILY_NAMES[board["family"]]
        return "no_super_mode", board["family"].split("_")[0], f"This is an {name}, of which rerig knows no Super mode."
    if board["family"] != "p3767" or board["name"] is None:
        return "unknown", "unknown_board", "This is no board that rerig knows, so nothing is said about its clocks."
    if clocks["gpu_last_hz"] is None:
        why = UNREADABLE.get(table_error, "it can't be read")
        return (
            "unknown",
            "table_unreadable",
            f"The GPU's table of clocks says nothing ({why}), and nothing else proves Super.",
        )
    if states["firmware"] != "super":
        return _firmware_behind(board, states, mode, clocks)
    return _firmware_super(states, mode, clocks)


def _firmware_behind(
    board: dict[str, Any], states: dict[str, str], mode: dict[str, Any], clocks: dict[str, Any]
) -> tuple[str, str, str]:
    last, wanted = clocks["gpu_last_hz"], clocks["gpu_expected_hz"]
    ends = f"the GPU's table ends at {megahertz(last)}"
    if last >= wanted:
        return "partly", "clocks_behind", _other_clock(clocks)
    if last > clocks["gpu_plain_hz"]:
        return "not_super", "table_between", _between(clocks)
    why = "the bootloader in the flash is not Super"
    if states["nvpmodel"] == "super" and mode["name"] == "MAXN_SUPER":
        code = "half_success" if board["sku"] in ("0000", "0001") else "firmware_behind"
        return "not_super", code, f"The mode says MAXN_SUPER but {ends}: {why}."
    if "super" in (states["device_tree"], states["nvpmodel"]):
        behind = "The kernel's side is Super" if states["device_tree"] == "super" else "nvpmodel's file is Super"
        return "not_super", "firmware_behind", f"{behind} but {ends}: {why}."
    if "unknown" in (states["device_tree"], states["nvpmodel"]):
        return "not_super", "firmware_behind", f"The bootloader in the flash is not Super: {ends}."
    return "not_super", "nothing_super", f"Nothing here is Super, and {ends}."


def _between(clocks: dict[str, Any]) -> str:
    last, wanted, plain = (megahertz(clocks[key]) for key in ("gpu_last_hz", "gpu_expected_hz", "gpu_plain_hz"))
    return f"The GPU's table ends at {last}, neither at Super's {wanted} nor at {plain}: no bootloader known to rerig."


def _other_clock(clocks: dict[str, Any]) -> str:
    cpu, emc = clocks["cpu_max_khz"], clocks["emc_max_hz"]
    slow = []
    if cpu is not None and clocks["cpu_expected_khz"] is not None and cpu < clocks["cpu_expected_khz"]:
        slow.append(f"the cores end at {megahertz(cpu * 1000)}")
    if emc is not None and clocks["emc_expected_hz"] is not None and emc < clocks["emc_expected_hz"]:
        slow.append(f"the memory ends at {megahertz(emc)}")
    return f"The GPU's table is Super's, but {' and '.join(slow)}."


def _firmware_super(states: dict[str, str], mode: dict[str, Any], clocks: dict[str, Any]) -> tuple[str, str, str]:
    tree, conf = states["device_tree"], states["nvpmodel"]
    if tree == "not_super":
        also = "" if conf == "super" else " and nvpmodel's file"
        return (
            "partly",
            "device_tree_behind",
            (f"The bootloader is Super but the kernel's device tree{also} is not, and boots go by that tree."),
        )
    if conf == "not_super":
        return "partly", "conf_behind", "Bootloader and device tree are Super but nvpmodel's file has no MAXN_SUPER."
    if "unknown" in (tree, conf):
        what = "the device tree" if tree == "unknown" else "nvpmodel's file"
        return "unknown", "layer_unreadable", f"The bootloader is Super, but {what} can't be read."
    if mode["name"] is None:
        return "unknown", "mode_unreadable", "All three layers are Super, but which mode is set can't be read."
    if mode["name"] != "MAXN_SUPER":
        limit = clocks["gpu_max_hz"]
        caps = f", which holds the GPU at {megahertz(limit)}" if limit else ""
        name = public_mode(mode["name"])
        return "partly", "mode_not_maxn", f"All three layers are Super, but the mode is {name}{caps}."
    held = _held_memory(clocks)
    low = clocks["gpu_max_hz"] is not None and clocks["gpu_max_hz"] < clocks["gpu_last_hz"]
    if mode["applied"] is False or held or low:
        return ("partly", *_not_in_force(mode, held, clocks if low else None))
    if clocks["gpu_max_hz"] is None and mode["applied"] is None:
        return (
            "unknown",
            "values_unreadable",
            "All three layers are Super and the mode is MAXN_SUPER, but whether its values are in force can't be read.",
        )
    ends = megahertz(clocks["gpu_last_hz"])
    return (
        "super",
        "all_super",
        f"All three layers are Super and MAXN_SUPER is in force: the GPU's table ends at {ends}.",
    )


def _held_memory(clocks: dict[str, Any]) -> str | None:
    """Where the memory's clock is held, though the firmware could do more (seen on 36.4.3).

    Its rate says so only while jetson_clocks is in force: else it follows the load.
    """
    wanted = clocks["emc_expected_hz"]
    seen = [clocks["emc_cap_hz"], *([clocks["emc_rate_hz"]] if clocks["pinned"] or clocks["emc_locked"] else [])]
    low = [rate for rate in seen if rate and wanted and rate < wanted]
    return megahertz(min(low)) if low else None


def _not_in_force(mode: dict[str, Any], held: str | None, low: dict[str, Any] | None) -> tuple[str, str]:
    """``low``: the clocks, where the GPU is held below its table's end."""
    others = [one for one in mode["differences"] if not one["what"].startswith("EMC ")]
    if low:
        others.append({"what": "GPU MAX_FREQ", "real": low["gpu_max_hz"]})
    if held and not others:
        return "emc_held", f"All three layers are Super and the mode is MAXN_SUPER, but the memory is held at {held}."
    gpu = next((one["real"] for one in others if one["what"] == "GPU MAX_FREQ"), None)
    one = (others or mode["differences"])[0]
    said = f"the GPU is held at {megahertz(gpu)}" if gpu else f"{public_setting(one['what'])} is {one['real']}"
    return "caps_not_applied", f"The mode says MAXN_SUPER but its values are not in force: {said}."
