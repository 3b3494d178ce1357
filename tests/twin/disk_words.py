"""A disk in one word of the command line: ``1G``, ``4G:ext4``, ``1G@100MiB/s``, ``512M:mbr@50MB/s@500iops``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from twin.contents import KINDS, MINIMUM_BYTES
from twin.errors import TwinError

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30} | {
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
}
QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)", re.ASCII)
SECTOR_BYTES = 512


@dataclass(frozen=True)
class DiskWords:
    """``limits``: what ``twin.disks.attach`` takes of bps_read and iops_read. Writing is not limited."""

    bytes: int
    contents: str = "blank"
    limits: dict[str, int] = field(default_factory=dict)


def parse_disk(word: str) -> DiskWords:
    """``SIZE[:CONTENTS][@RATE]…``. Raises TwinError for a word that makes no sense."""
    first, *rates = word.split("@")
    size, colon, contents = first.partition(":")
    bytes = _number(size, word)
    if bytes < SECTOR_BYTES or bytes % SECTOR_BYTES:
        raise TwinError(f"A disk is a multiple of {SECTOR_BYTES} bytes, and {size!r} isn't.")
    if colon and contents not in KINDS:
        raise TwinError(f"There are no contents {contents!r} for a disk; there are {', '.join(KINDS)}.")
    if contents not in ("", "blank") and bytes < MINIMUM_BYTES:
        raise TwinError(f"A disk with contents has at least {MINIMUM_BYTES >> 20}MiB, and {size!r} is less.")
    limits: dict[str, int] = {}
    for rate in rates:
        name, text = ("iops_read", rate.removesuffix("iops")) if rate.endswith("iops") else ("bps_read", rate)
        if name == "bps_read" and not rate.endswith("/s"):
            raise TwinError(f"A disk's rate is such as 100MiB/s or 1000iops, and {rate!r} isn't.")
        limits[name] = _number(text.removesuffix("/s"), word)
    return DiskWords(bytes, contents or "blank", limits)


def _number(text: str, word: str) -> int:
    found = QUANTITY.fullmatch(text)
    if not found or found[2] not in UNITS:
        raise TwinError(
            f"The disk {word!r} can't be read: {text!r} should be a number with one of {' '.join(filter(None, UNITS))}."
        )
    return round(float(found[1]) * UNITS[found[2]])
