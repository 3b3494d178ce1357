"""What tools know an NTFS volume by: the boot sector and its copy at the end, and the first records of its file table.

Layout: the boot sector as Microsoft documents it ("NTFS Boot Sector", Windows Server 2003 technical reference), records
and attributes as in the Linux-NTFS project's documentation. Windows would call it damaged; it is no empty disk.
"""

from __future__ import annotations

import struct

from twin.contents.seed import Seed
from twin.contents.sparse import Piece

SECTOR_BYTES = 512
CLUSTER_BYTES = 4096
RECORD_BYTES = 1024
TABLE_CLUSTER, MIRROR_CLUSTER = 4, 2
LABEL = "Windows"

_RECORDS = 4  # $MFT, $MFTMirr, $LogFile, $Volume
_VOLUME = 3


def pieces(size_bytes: int, seed: Seed) -> list[Piece]:
    sectors = size_bytes // SECTOR_BYTES
    boot = _boot_sector(sectors - 1, seed)
    table = b"".join(_record(number) for number in range(_RECORDS))
    return [
        (0, boot),
        (MIRROR_CLUSTER * CLUSTER_BYTES, table),
        (TABLE_CLUSTER * CLUSTER_BYTES, table),
        ((sectors - 1) * SECTOR_BYTES, boot),
    ]


def _boot_sector(sectors: int, seed: Seed) -> bytes:
    packed = struct.pack("<3s8sHB", b"\xeb\x52\x90", b"NTFS    ", SECTOR_BYTES, CLUSTER_BYTES // SECTOR_BYTES)
    packed += struct.pack("<HBHHBHHHIII", 0, 0, 0, 0, 0xF8, 0, 63, 255, 0, 0, 0x00800080)
    packed += struct.pack("<QQQ", sectors, TABLE_CLUSTER, MIRROR_CLUSTER)
    packed += struct.pack("<b3xb3xQI", -10, 1, seed.number("ntfs", 64), 0)  # a record is 2 ** 10 bytes
    return packed.ljust(SECTOR_BYTES - 2, b"\0") + b"\x55\xaa"


def _record(number: int) -> bytes:
    """A record of the file table; the volume's holds its label. Its sectors end with the number of the update."""
    attributes = _attribute(0x60, LABEL.encode("utf-16-le")) if number == _VOLUME else b""
    attributes += struct.pack("<II", 0xFFFFFFFF, 0)
    start = struct.pack("<4sHHQHHHHII", b"FILE", 48, 3, 0, number + 1, 1, 56, 1, 56 + len(attributes), RECORD_BYTES)
    start = start.ljust(48, b"\0") + struct.pack("<HHH", 1, 0, 0)
    record = bytearray((start.ljust(56, b"\0") + attributes).ljust(RECORD_BYTES, b"\0"))
    for end in (SECTOR_BYTES, RECORD_BYTES):
        record[end - 2 : end] = struct.pack("<H", 1)
    return bytes(record)


def _attribute(kind: int, value: bytes) -> bytes:
    length = 24 + -(-len(value) // 8) * 8
    return (struct.pack("<IIBBHHHIHBB", kind, length, 0, 0, 24, 0, 0, len(value), 24, 0, 0) + value).ljust(
        length, b"\0"
    )
