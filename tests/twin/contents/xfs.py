"""The superblocks of an XFS file system of version 5, one in each allocation group, and nothing else of it.

Layout: struct xfs_dsb of Linux' fs/xfs/libxfs/xfs_format.h. The kernel would refuse to mount it; the tools that look
what a disk holds go by the superblock.
"""

from __future__ import annotations

import struct

from twin.contents.checksums import crc32c
from twin.contents.seed import Seed
from twin.contents.sparse import Piece

BLOCK_BYTES = 4096
SECTOR_BYTES = 512
GROUPS = 4
LABEL = b"oldxfs"

_CHECKSUM_AT = 224
_LOG_BLOCKS = 1024
_NONE = 2**64 - 1


def pieces(size_bytes: int, seed: Seed) -> list[Piece]:
    blocks = size_bytes // BLOCK_BYTES
    group = -(-blocks // GROUPS)
    superblock = _superblock(blocks, group, seed)
    return [(number * group * BLOCK_BYTES, superblock) for number in range(GROUPS)]


def _superblock(blocks: int, group: int, seed: Seed) -> bytes:
    group_log = (group - 1).bit_length()
    log_start = (GROUPS // 2 << group_log) + 6
    packed = struct.pack(">4sIQQQ16s", b"XFSB", BLOCK_BYTES, blocks, 0, 0, seed.uuid("xfs").bytes)
    packed += struct.pack(">QQQQIIIII", log_start, 128, 129, 130, 1, group, GROUPS, 0, _LOG_BLOCKS)
    packed += struct.pack(">HHHH12s", 0xB4A5, SECTOR_BYTES, 512, 8, LABEL)  # version and flags, inode of 512 bytes
    packed += struct.pack(">8B", 12, 9, 9, 3, group_log, 0, 0, 25)  # logarithms; a quarter may be inodes
    packed += struct.pack(">QQQQ", 64, 61, blocks - _LOG_BLOCKS - 16 * GROUPS, 0)
    packed += struct.pack(">QQHBBIIIBBHII", _NONE, _NONE, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0x18A)  # no quota, no stripes
    packed += struct.pack(">II", 0x18A, 0)  # the second features, twice by mistake of long ago; compatible ones
    packed += struct.pack(
        ">II", 0x5, 0x1
    )  # read-only ones: free inode tree, reflink; incompatible: type in directories
    packed = packed.ljust(SECTOR_BYTES, b"\0")
    checksum = struct.pack("<I", crc32c(packed))
    return packed[:_CHECKSUM_AT] + checksum + packed[_CHECKSUM_AT + 4 :]
