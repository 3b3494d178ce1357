"""One UEFI variable as efivarfs shows it: four bytes of attributes (little-endian), then the value."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError

LONGEST_BYTES = 64 * 1024
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){4,}\Z")


def parse_variable(hex_text: str) -> dict[str, Any]:
    """The file's bytes in hex -> {"attributes": int, "value_hex", "text": str or None, "number": int or None}.

    ``text``: the value where it is printable ASCII (NULs at its end dropped); ``number``: where it has 4 or 8 bytes.
    """
    digits = hex_text.strip(" \t\r\n")
    if len(digits) > 2 * LONGEST_BYTES or not _HEX.match(digits):
        raise ParseError("this is no UEFI variable")
    whole = bytes.fromhex(digits)
    value = whole[4:]
    printable = value.rstrip(b"\0\n")
    return {
        "attributes": int.from_bytes(whole[:4], "little"),
        "value_hex": value.hex(),
        "text": printable.decode("ascii") if printable and all(32 <= byte < 127 for byte in printable) else None,
        "number": int.from_bytes(value, "little") if len(value) in (4, 8) else None,
    }
