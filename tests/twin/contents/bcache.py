"""The superblock of a bcache backing device. Layout: struct cache_sb of Linux' include/uapi/linux/bcache.h."""

from __future__ import annotations

import struct

from twin.contents.checksums import crc64_we
from twin.contents.seed import Seed
from twin.contents.sparse import Piece

START = 4096
MAGIC = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")
_DATA_SECTOR = 16


def pieces(size_bytes: int, seed: Seed) -> list[Piece]:
    summed = struct.pack("<QQ16s16s16s32s", START // 512, 1, MAGIC, seed.uuid("bcache").bytes, b"", b"")
    summed += struct.pack("<QQ8Q", 0, 0, *[0] * 8)  # flags, sequence, room
    summed += struct.pack("<QHHHHIHH", 0, 1, 1024, 0, 0, 0, _DATA_SECTOR, 0)  # block and bucket in sectors; no journal
    return [(START, struct.pack("<Q", crc64_we(summed)) + summed)]
