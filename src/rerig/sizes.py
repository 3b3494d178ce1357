"""Sizes as users type and read them."""

from __future__ import annotations

import re

from rerig.errors import UserError

_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SMALLEST_BYTES = 2**20


def parse_size(text: str) -> int:
    """Bytes of ``4G`` or ``4GiB`` (4 * 1024**3), ``4GB`` (4 * 10**9) or ``4294967296``. Raises UserError."""
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?)(i?b)?\s*", text, re.IGNORECASE | re.ASCII)
    if match is None:
        raise UserError(f"--size {text!r} is not a size: write 4G, 512M or a number of bytes.", 2)
    number, prefix, unit = match.group(1), match.group(2).lower(), (match.group(3) or "").lower()
    factor = _DECIMAL[prefix] if unit == "b" and prefix else _BINARY[prefix]
    size_bytes = int(float(number) * factor)
    if size_bytes < SMALLEST_BYTES:
        raise UserError(f"--size {text} is too small to measure anything: the least is 1M.", 2)
    return size_bytes


def format_bytes(size_bytes: float) -> str:
    """Binary units, as dd's and fio's block sizes are meant, e.g. ``4 GiB`` or ``242.06 MiB``."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= factor:
            value = size_bytes / factor
            return f"{value:.0f} {unit}" if value == int(value) else f"{value:.2f} {unit}"
    return f"{size_bytes:.0f} B"


def format_rate(bytes_per_s: float) -> str:
    """Megabytes (10**6) a second, as dd and the posts print them."""
    megabytes = bytes_per_s / 1e6
    if megabytes >= 100:
        return f"{megabytes:,.0f} MB/s"
    return f"{megabytes:.1f} MB/s" if megabytes >= 10 else f"{megabytes:.2f} MB/s"


def format_seconds(seconds: float) -> str:
    """``0.5 s``, ``45 s`` or ``2 min 30 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02d} s"


def format_duration(seconds: float) -> str:
    """A length of time that need not be exact: ``0 s``, ``45 s``, ``3 min``, ``2 h``, ``5 days``."""
    for unit, length_s in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length_s:
            return f"{seconds / length_s:.0f} {unit}"
    return f"{seconds:.0f} s"
