"""An LVM2 physical volume that is in no group, as ``pvcreate`` leaves it.

Layout: lib/format_text/layout.h and lib/label/label.h of LVM2. The label is in the second sector; it names one data
area (from 1 MiB to the end) and one metadata area (from 4 KiB to 1 MiB), whose header fills a sector.
"""

from __future__ import annotations

import string
import struct

from twin.contents.checksums import crc32_lvm
from twin.contents.seed import Seed
from twin.contents.sparse import MIB, Piece

SECTOR_BYTES = 512
METADATA_START = 4096

_LETTERS = string.digits + string.ascii_letters


def pieces(size_bytes: int, seed: Seed) -> list[Piece]:
    return [(SECTOR_BYTES, _label(size_bytes, seed)), (METADATA_START, _metadata_header())]


def _label(size_bytes: int, seed: Seed) -> bytes:
    areas = struct.pack("<4Q", MIB, 0, 0, 0)  # data areas; 0 bytes: up to the end
    areas += struct.pack("<4Q", METADATA_START, MIB - METADATA_START, 0, 0)
    extension = struct.pack("<IIQQ", 2, 0, 0, 0)  # version, flags, no area for a boot loader
    volume = _uuid(seed) + struct.pack("<Q", size_bytes) + areas + extension
    summed = (struct.pack("<I8s", 32, b"LVM2 001") + volume).ljust(SECTOR_BYTES - 20, b"\0")
    return struct.pack("<8sQI", b"LABELONE", 1, crc32_lvm(summed)) + summed


def _metadata_header() -> bytes:
    magic = b" LVM2 x[5A%r0N*>"
    summed = struct.pack("<16sIQQ", magic, 1, METADATA_START, MIB - METADATA_START).ljust(SECTOR_BYTES - 4, b"\0")
    return struct.pack("<I", crc32_lvm(summed)) + summed


def _uuid(seed: Seed) -> bytes:
    """32 letters and digits; LVM has an alphabet of its own."""
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in seed.noise("lvm", 32)).encode()
