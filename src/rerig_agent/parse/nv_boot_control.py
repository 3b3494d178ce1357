"""/etc/nv_boot_control.conf and the board specs in it, which the firmware's update packages are chosen by.

A TNSPEC is ID-FAB-SKU-REVISION-FUSE-CHIPREV-BOARD-ROOTDEV, a COMPATIBLE_SPEC the same with empty places; BOARD has
dashes of its own, and an empty ROOTDEV leaves a dash at the end.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .lines import split_lines

_LINE = re.compile(r"([A-Z][A-Z0-9_]{1,40})[ \t]+(\S{1,200})\Z")
_TOKEN = re.compile(r"[A-Za-z0-9._]{0,40}\Z")
# A spec whose places are exchanged names another board; the numbers' lengths show it.
_NUMBERS = {"id": r"[0-9]{4}", "fab": r"(?:[0-9A-Z]{3})?", "sku": r"[0-9]{4}"}
LONGEST_SPEC = 256
FIELDS = ("id", "fab", "sku", "revision", "fuse", "chip_revision")


def parse_boot_control(text: str) -> dict[str, str]:
    """-> {"TNSPEC": …, "COMPATIBLE_SPEC": …, "TEGRA_CHIPID": …, …}.

    ParseError: not one such line, or one name with two values (which of them counts is the tools' secret).
    """
    found: dict[str, str] = {}
    for line in split_lines(text, "nv_boot_control.conf"):
        match = _LINE.match(line)
        if match and found.setdefault(match.group(1), match.group(2)) != match.group(2):
            raise ParseError(f"nv_boot_control.conf has two values of {match.group(1)}")
    if not found:
        raise ParseError("this is no nv_boot_control.conf")
    return found


def parse_spec(text: str) -> dict[str, Any]:
    """-> {"tokens", "fields": {"id", "fab", "sku", "revision", "fuse", "chip_revision"}, "board", "root_device",
    "super"}.

    ``super``: whether the board's name has the word (jetson-orin-nano-devkit-super, …-super-maxn), as the firmware's
    own tools look for it.
    """
    tokens = text.strip(" \t\r\n").split("-") if len(text) <= LONGEST_SPEC else []
    if len(tokens) < len(FIELDS) + 2 or not all(_TOKEN.match(token) for token in tokens):
        raise ParseError("this is no board spec")
    fields = dict(zip(FIELDS, tokens))
    board = tokens[len(FIELDS) : -1]
    if not board[0] or not all(re.match(rf"{form}\Z", fields[name]) for name, form in _NUMBERS.items()):
        raise ParseError("this is no board spec")
    return {
        "tokens": tokens,
        "fields": fields,
        "board": "-".join(board),
        "root_device": tokens[-1],
        "super": "super" in board,
    }
