"""What a result shows of a board: the verdict on its Super mode in words and numbers that name nobody."""

from __future__ import annotations

import re
from typing import Any

from .board import FAMILY_NAMES, NAMES
from .public_options import matching, non_negative
from .public_power import public_mode
from .super_mode import judge_super

__all__ = ["CODES", "OTHER", "VERDICTS", "public_board_state", "public_cause"]

VERDICTS = ("super", "not_super", "partly", "unknown", "no_super_mode")
LAYERS = ("device_tree", "nvpmodel", "firmware")
OTHER = "other"
# Each code of the judge, and the sentence where the judge's own holds a word that is none of its words.
CODES = {
    "all_super": "All three layers are Super and MAXN_SUPER is in force.",
    "firmware_behind": "The bootloader in the flash is not Super.",
    "half_success": "The mode says MAXN_SUPER but the bootloader in the flash is not Super.",
    "nothing_super": "Nothing here is Super.",
    "table_between": "The GPU's table ends at a clock of no bootloader known to rerig.",
    "clocks_behind": "The GPU's table is Super's, but another clock is not.",
    "device_tree_behind": "The bootloader is Super but the kernel's device tree is not.",
    "conf_behind": "Bootloader and device tree are Super but nvpmodel's file has no MAXN_SUPER.",
    "mode_not_maxn": "All three layers are Super, but the mode is another one.",
    "emc_held": "All three layers are Super and the mode is MAXN_SUPER, but the memory is held.",
    "caps_not_applied": "The mode says MAXN_SUPER but its values are not in force.",
    "table_unreadable": "The GPU's table of clocks says nothing, and nothing else proves Super.",
    "layer_unreadable": "The bootloader is Super, but another layer can't be read.",
    "mode_unreadable": "All three layers are Super, but which mode is set can't be read.",
    "values_unreadable": "All three layers are Super, but whether the mode's values are in force can't be read.",
    "unknown_board": "This is no board that rerig knows, so nothing is said about its clocks.",
    "agx": "This is an AGX Orin, of which rerig knows no Super mode.",
    "thor": "This is an AGX Thor, of which rerig knows no Super mode.",
    OTHER: "The reason is not told here.",
}
_WORDS = frozenset(
    """
    a about agx all alone an and are at be board bootloader boots but by can't clocks cores device else end ends file
    flash force go gpu gpu's has held here holds in is it its kernel's known knows layers may memory mhz mode names
    neither no nor not nothing nvpmodel's of one orin owner's proves read rerig root said says set setting side so super
    super's table text that the there this thor three to torn tree value values whether which
    """.split()
)
_NUMBER = re.compile(r"-?[0-9]{1,19}(?:\.[0-9]{1,2})?\Z")
# Parameters and their parts, as NVIDIA's files of nvpmodel name them.
_SETTING = re.compile(
    r"(?:CPU|GPU|EMC|VIC|CVNAS|CPU_ONLINE|CORE_[0-9]{1,2}|CPU_(?:A78|A57|DENVER)_[0-9]|(?:NV)?DLA[0-9]?(?:_CORE|_FALCON)?"
    r"|PVA[0-9]?(?:_VPS|_AXI|_CORE)?|(?:TPC|FBP|GPC)_(?:POWER_GATING|PG_MASK)|GPU_POWER_CONTROL_ENABLE|GPU_PWR_CNTL_EN"
    r"|(?:MAX|MIN)_FREQ)\Z"
)


def public_board_state(evidence: Any) -> dict[str, Any] | None:
    """What ``machine.before.board_state`` of a result holds; None where no Jetson was seen. Pure, never raises.

    ``evidence``: what :func:`rerig_agent.conditions.collect` gathered. verdict and code of the judge; cause: one
    sentence; name of the module, release of L4T, mode ("other": one that its owner made), layers {device_tree,
    nvpmodel, firmware: their states}; gpu_last_hz (the end of the GPU's table), gpu_max_hz (its cap),
    cpu_max_khz, emc_max_hz: numbers or None.
    """
    judged = judge_super(evidence)
    if judged["verdict"] not in VERDICTS:
        return None
    board, mode, clocks = judged["board"], judged["mode"]["name"], judged["clocks"]
    code = judged["code"] if judged["code"] in CODES else OTHER
    return {
        "verdict": judged["verdict"],
        "code": code,
        "cause": public_cause(code, judged["cause"]),
        "name": board["name"] if board["name"] in {*NAMES.values(), *FAMILY_NAMES.values()} else None,
        "release": matching(board["release"], r"[0-9]{1,2}(\.[0-9]{1,3}){1,2}"),
        "mode": None if mode is None else mode if public_mode(mode) == mode else OTHER,
        "layers": {layer: judged["layers"][layer]["state"] for layer in LAYERS},
        **{key: non_negative(clocks[key]) for key in ("gpu_last_hz", "gpu_max_hz", "cpu_max_khz", "emc_max_hz")},
    }


def public_cause(code: str, cause: str) -> str:
    """The judge's sentence if it is made of the judge's words, numbers, modes and settings alone, else the code's."""
    words = [word.strip("().,:;") for word in cause.split()]
    return cause if len(cause) <= 300 and all(map(_is_known, words)) else CODES.get(code, CODES[OTHER])


def _is_known(word: str) -> bool:
    plain = word.lower() in _WORDS and word.isascii()
    return plain or any(pattern.match(word) for pattern in (_NUMBER, _SETTING)) or public_mode(word) == word
