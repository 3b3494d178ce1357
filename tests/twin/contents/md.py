"""The superblock of one of the two members of a Linux RAID 1 ("md"), in each of its four versions.

Layout: include/uapi/linux/raid/md_p.h of Linux. They differ in where they lie: 0.90 in the last whole 64 KiB but one,
1.0 at least 8 KiB before the end, 1.1 at the start, 1.2 at 4 KiB.
"""

from __future__ import annotations

import struct

from twin.contents.checksums import sum32
from twin.contents.seed import TIME_S, Seed
from twin.contents.sparse import MIB, Piece

MAGIC = 0xA92B4EFC
_NAME = b"nas:0"
_DATA_START = {"1.0": 0, "1.1": MIB, "1.2": MIB}
_SUM_WORD = 38  # of version 0.90


def start(version: str, size_bytes: int) -> int:
    """Where the superblock lies, in bytes."""
    places = {
        "0.90": size_bytes // 65536 * 65536 - 65536,
        "1.0": (size_bytes - 8192) // 4096 * 4096,
        "1.1": 0,
        "1.2": 4096,
    }
    return places[version]


def pieces(version: str, size_bytes: int, seed: Seed) -> list[Piece]:
    at = start(version, size_bytes)
    if version == "0.90":
        return [(at, _superblock_0(at, seed))]
    data_start = _DATA_START[version]
    data_end = at if version == "1.0" else size_bytes
    return [(at, _superblock_1(at, data_start, data_end - data_start, seed))]


def _superblock_1(at: int, data_start: int, data_bytes: int, seed: Seed) -> bytes:
    array = struct.pack("<IIII16s32s", MAGIC, 1, 0, 0, seed.uuid("md").bytes, _NAME)
    array += struct.pack("<QiIQII", TIME_S, 1, 0, data_bytes // 512, 0, 2)
    device = struct.pack("<QQQQ", data_start // 512, data_bytes // 512, at // 512, 0)
    device += struct.pack("<II16s", 0, 0, seed.uuid(f"md device {at}").bytes)
    roles = struct.pack("<HH", 0, 1)

    def state(checksum: int) -> bytes:
        return struct.pack("<QQQII", TIME_S, 17, 2**64 - 1, checksum, 2).ljust(64, b"\0")

    def whole(checksum: int) -> bytes:
        return array.ljust(128, b"\0") + device.ljust(64, b"\0") + state(checksum) + roles

    return whole(sum32(whole(0)))


def _superblock_0(at: int, seed: Seed) -> bytes:
    """1024 words in native order: 32 about the array, 32 of its state, 64 unused, 27 disks of 32 words, this disk."""
    set_uuid = struct.unpack("<4I", seed.uuid("md 0.90").bytes)
    words = [0] * 1024
    words[:16] = [MAGIC, 0, 90, 0, 0, set_uuid[0], TIME_S, 1, at // 1024, 2, 2, 0, 0, *set_uuid[1:]]
    words[32:38] = [TIME_S, 1, 2, 2, 0, 0]  # clean; two disks active and working
    words[39] = 17  # events
    for disk, place in ((0, 128), (1, 160), (0, 992)):  # the last is this disk itself
        words[place : place + 5] = [disk, 259, disk, disk, 6]  # number, major, minor, role, active and in sync
    words[_SUM_WORD] = sum32(struct.pack("<1024I", *words))
    return struct.pack("<1024I", *words)
