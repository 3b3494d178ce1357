"""A board's spec with the name that makes the firmware take the Super images.

The firmware compares word by word and wants as many words (edk2-nvidia, FwPackageLib), so the one word more is what
separates the two flavours.
"""

from __future__ import annotations

from ..parse import ParseError
from ..parse.nv_boot_control import parse_spec

PLAIN_BOARD = "jetson-orin-nano-devkit"
SUPER_BOARD = f"{PLAIN_BOARD}-super"


def is_super_name(board: str) -> bool:
    """jetson-orin-nano-devkit-super, and its variant for fast memory."""
    return board in (SUPER_BOARD, f"{SUPER_BOARD}-maxn")


def super_spec(spec: str) -> str:
    """…-jetson-orin-nano-devkit- becomes …-jetson-orin-nano-devkit-super-; any other spec stays as it is."""
    try:
        parsed = parse_spec(spec)
    except ParseError:
        return spec
    if parsed["board"] != PLAIN_BOARD:
        return spec
    head = parsed["tokens"][: -1 - len(PLAIN_BOARD.split("-"))]
    return "-".join([*head, SUPER_BOARD, parsed["root_device"]])
