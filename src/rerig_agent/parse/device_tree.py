"""Strings of the device tree (/proc/device-tree): NUL-terminated, several in one property."""

from __future__ import annotations

import re

from . import ParseError

LONGEST = 64 * 1024
# "characters in strings are printable" (Devicetree Specification 2.2.4).
_STRING = re.compile(r"[ -~]{1,1000}\Z")
# /proc/device-tree/chosen/ids of L4T: the module's and the carrier's board id, SKU and FAB.
_ID = re.compile(r"([0-9]{4})-([0-9]{4})-([0-9A-Z]{3})(?:-[0-9A-Za-z.]{1,16})*\Z")


def parse_strings(text: str) -> list[str]:
    """A property of strings -> each of them.

    ParseError: none, an empty or unprintable one, or no NUL at the end: "…p3767-0005-super" cut before "-super" would
    be another board.
    """
    *strings, rest = text.rstrip("\n").split("\0") if len(text) <= LONGEST else [""]
    if rest or not strings or not all(_STRING.match(one) for one in strings):
        raise ParseError("this is no property of strings")
    return strings


def parse_ids(text: str) -> dict[str, tuple[str, str, str]]:
    """chosen/ids ("3767-0005-300 3768-0000-400") -> {"module": (id, SKU, FAB), "carrier": the same}.

    The carrier is missing where there is one word only, as on a carrier without an EEPROM.
    """
    words = re.split(r"[ \0\n]+", text.strip(" \0\n")) if len(text) <= LONGEST else []
    found = [_ID.match(word) for word in words[:2]]
    if not found or found[0] is None:
        raise ParseError("these are no board ids")
    return {
        name: (match.group(1), match.group(2), match.group(3))
        for name, match in zip(("module", "carrier"), found)
        if match is not None
    }
