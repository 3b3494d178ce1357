"""Strict reading of the decimal numbers that kernels and tools print.

int() and float() accept too much for text that nobody vouches for: underscores, "nan", any number of digits (which
newer Pythons refuse with a bare ValueError and older ones take minutes for).
"""

from __future__ import annotations

import re

from . import ParseError

# 64-bit counters have up to 20 digits; a little room for sums of them.
MAX_DIGITS = 32
_WHOLE = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}\Z")
_SIGNED = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}\Z")
_DECIMAL = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}(?:\.[0-9]{{1,{MAX_DIGITS}}})?\Z")


def is_whole(text: str) -> bool:
    return _WHOLE.match(text) is not None


def whole(text: str, what: str) -> int:
    """An integer of ASCII digits without a sign; ParseError names ``what`` was expected."""
    if not _WHOLE.match(text):
        raise ParseError(f"{what} is not a whole number")
    return int(text)


def signed(text: str, what: str) -> int:
    """As ``whole``, with an optional minus."""
    if not _SIGNED.match(text):
        raise ParseError(f"{what} is not a whole number")
    return int(text)


def decimal(text: str, what: str) -> float:
    """A plain decimal number without sign or exponent."""
    if not _DECIMAL.match(text):
        raise ParseError(f"{what} is not a decimal number")
    return float(text)
