"""Strings of the device tree (/proc/device-tree): NUL-terminated, several in one property."""

from __future__ import annotations

import re

from . import ParseError

# /proc/device-tree/chosen/ids of L4T: the module's and the carrier's board id, SKU and FAB.
_ID = re.compile(r"([0-9]{4})-([0-9]{4})-([0-9A-Z]{3})(?:-[0-9A-Za-z.]{1,16})*\Z")


def parse_strings(text: str) -> list[str]:
    """A property of strings -> each of them; ParseError: none, or an empty one in between."""
    strings = text.rstrip("\n").split("\0")
    if strings and not strings[-1]:
        strings.pop()
    if not strings or not all(strings):
        raise ParseError("this is no property of strings")
    return strings


def parse_ids(text: str) -> dict[str, tuple[str, str, str]]:
    """chosen/ids ("3767-0005-300 3768-0000-400") -> {"module": (id, SKU, FAB), "carrier": the same}.

    The carrier is missing where there is one word only.
    """
    words = text.replace("\0", " ").split()
    found = [_ID.match(word) for word in words[:2]]
    if not found or found[0] is None:
        raise ParseError("these are no board ids")
    return {
        name: (match.group(1), match.group(2), match.group(3))
        for name, match in zip(("module", "carrier"), found)
        if match is not None
    }
