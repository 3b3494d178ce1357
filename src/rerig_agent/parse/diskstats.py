"""Block device counters: /sys/class/block/NAME/stat and /proc/diskstats.

Fields as in the kernel's Documentation/block/stat.rst and Documentation/admin-guide/iostats.rst: 11 of them, 15 since
Linux 4.18 (discards), 17 since 5.5 (flushes). Sectors are 512 bytes on every device, whatever its own sector size.
"""

from __future__ import annotations

from typing import Any

from . import ParseError
from .numbers import is_whole, signed, whole

SECTOR_BYTES = 512

FIELDS = (
    "reads",
    "reads_merged",
    "read_sectors",
    "read_ticks_ms",
    "writes",
    "writes_merged",
    "write_sectors",
    "write_ticks_ms",
    "in_flight",
    "io_ticks_ms",
    "weighted_ms",
    "discards",
    "discards_merged",
    "discard_sectors",
    "discard_ticks_ms",
    "flushes",
    "flush_ticks_ms",
)
COUNTS = (17, 15, 11)  # how many of them a kernel prints, newest first
# What goes up and down instead of only up.
GAUGES = ("in_flight",)


def parse_stat(text: str) -> dict[str, Any]:
    """One device's line of counters -> every name of FIELDS; None for those that the kernel doesn't have.

    Times are in milliseconds. Fields that a newer kernel appends are ignored. ParseError: another number of fields,
    or one that is no number.
    """
    return _counters(text.split())


def parse_diskstats(text: str) -> dict[str, dict[str, Any]]:
    """/proc/diskstats -> {kernel name: as parse_stat}. Names are the kernel's ("cciss/c0d0"); one may hold a blank."""
    devices: dict[str, dict[str, Any]] = {}
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        if len(words) < 3 or not (is_whole(words[0]) and is_whole(words[1])):
            raise ParseError("a line of diskstats does not begin with a major and a minor number")
        name, counters = _name_and_counters(words[2:])
        devices[name] = _counters(counters)
    if not devices:
        raise ParseError("diskstats holds no device")
    return devices


def stat_delta(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What happened between two readings of parse_stat, by the same names.

    None where either reading lacks the field; ``in_flight`` is no counter, so it is the later reading. The kernel keeps
    milliseconds in 32 bits (49 days) and the rest in its word size; a counter that wrapped in between is counted on.
    ParseError: a counter is lower than before and didn't wrap, so it isn't the same device any more.
    """
    delta: dict[str, Any] = {}
    for name in FIELDS:
        first, last = before[name], after[name]
        if name in GAUGES or first is None or last is None:
            delta[name] = last if name in GAUGES else None
        else:
            delta[name] = _increase(name, first, last)
    return delta


def _counters(words: list[str]) -> dict[str, Any]:
    if len(words) < COUNTS[-1] or (len(words) not in COUNTS and len(words) < COUNTS[0]):
        raise ParseError(f"a device's counters have {len(words)} fields instead of 11, 15 or 17")
    values: dict[str, Any] = dict.fromkeys(FIELDS)
    for name, word in zip(FIELDS, words):
        # Some kernels print a requests-in-flight that has gone below zero.
        values[name] = signed(word, name) if name in GAUGES else whole(word, name)
    return values


def _name_and_counters(words: list[str]) -> tuple[str, list[str]]:
    """Split after the name. It may hold blanks, so it ends where a known number of counters is left."""
    if len(words) - 1 in COUNTS or len(words) - 1 > COUNTS[0]:
        rest = words[1:]
        if all(is_whole(word.lstrip("-")) for word in rest[: COUNTS[0]]):
            return words[0], rest
    for count in COUNTS:
        name, rest = words[:-count], words[-count:]
        if name and not is_whole(name[-1]) and all(is_whole(word.lstrip("-")) for word in rest):
            return " ".join(name), rest
    raise ParseError("a line of diskstats has no known number of counters")


def _increase(name: str, first: int, last: int) -> int:
    if last >= first:
        return last - first
    for bits in (32,) if name.endswith("_ms") else (32, 64):
        size = 1 << bits
        # Only a counter near its end wraps; anything else that shrank has been reset.
        if size - size // 4 <= first < size and last < size // 4:
            return size - first + last
    raise ParseError(f"{name} went backwards, so the device was replaced or its counters were reset")
