"""Versions in the EFI System Resource Table: on a Jetson one number, major<<16 | minor<<8 | patch."""

from __future__ import annotations


def version_text(number: int) -> str:
    """2360327 -> "36.4.7"."""
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
