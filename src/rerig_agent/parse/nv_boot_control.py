"""/etc/nv_boot_control.conf and the board specs in it, which the firmware's update packages are chosen by.

A TNSPEC is ID-FAB-SKU-REVISION-FUSE-CHIPREV-BOARD-ROOTDEV, a COMPATIBLE_SPEC the same with empty places; BOARD has
dashes of its own, and an empty ROOTDEV leaves a dash at the end.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError

_LINE = re.compile(r"([A-Z][A-Z0-9_]{1,40})[ \t]+([^\s]{1,200})[ \t]*\r?\Z")
_TOKEN = re.compile(r"[A-Za-z0-9._]{0,40}\Z", re.ASCII)
FIELDS = ("id", "fab", "sku", "revision", "fuse", "chip_revision")


def parse_boot_control(text: str) -> dict[str, str]:
    """-> {"TNSPEC": …, "COMPATIBLE_SPEC": …, "TEGRA_CHIPID": …, …}. ParseError: not one such line."""
    found = {}
    for line in text.split("\n"):
        match = _LINE.match(line.strip(" \t"))
        if match:
            found[match.group(1)] = match.group(2)
    if not found:
        raise ParseError("this is no nv_boot_control.conf")
    return found


def parse_spec(text: str) -> dict[str, Any]:
    """-> {"tokens", "fields": {"id", "fab", "sku", "revision", "fuse", "chip_revision"}, "board", "root_device",
    "super"}.

    ``super``: whether the board's name has the word (jetson-orin-nano-devkit-super, …-super-maxn), as the firmware's
    own tools look for it.
    """
    tokens = text.strip().split("-")
    if len(tokens) < len(FIELDS) + 2 or not all(_TOKEN.match(token) for token in tokens):
        raise ParseError("this is no board spec")
    fields = dict(zip(FIELDS, tokens))
    board = tokens[len(FIELDS) : -1]
    if not re.match(r"[0-9]{4}\Z", fields["id"]) or not board[0]:
        raise ParseError("this is no board spec")
    return {
        "tokens": tokens,
        "fields": fields,
        "board": "-".join(board),
        "root_device": tokens[-1],
        "super": "super" in board,
    }
