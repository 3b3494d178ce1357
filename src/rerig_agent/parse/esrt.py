"""Versions in the EFI System Resource Table: on a Jetson one number, major<<16 | minor<<8 | patch."""

from __future__ import annotations


def version_text(number: int) -> str | None:
    """2360327 -> "36.4.7"; None for what doesn't fit into the table's 32 bits."""
    if not 0 <= number < 2**32:
        return None
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
