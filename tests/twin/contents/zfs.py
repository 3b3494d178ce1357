"""The four labels of a ZFS pool's only disk, two at each end, with the uberblocks of its first transactions.

Layout: "ZFS On-Disk Specification", Sun Microsystems 2006, chapter 1: 256 KiB a label; from 16 KiB on the pool's
description (name-value pairs in XDR, RFC 1832); from 128 KiB on uberblocks, of 4 KiB where the disk has such sectors.
Each of these areas ends with a magic and the SHA-256 of the area, taken with the area's own place in the checksum's
first word.
"""

from __future__ import annotations

import hashlib
import struct

from twin.contents.seed import TIME_S, Seed
from twin.contents.sparse import Piece

LABEL_BYTES = 256 * 1024
POOL = "tank"

_PAIRS_AT, _PAIRS_BYTES = 16 * 1024, 112 * 1024
_UBERBLOCKS_AT, _UBERBLOCK_BYTES = 128 * 1024, 4096
_CHECKSUM_MAGIC = 0x0210DA7AB10C7A11
_VERSION = 5000
_LAST_TRANSACTION = 9

_Value = int | str | dict[str, "_Value"]


def starts(size_bytes: int) -> list[int]:
    end = size_bytes // LABEL_BYTES * LABEL_BYTES
    return [0, LABEL_BYTES, end - 2 * LABEL_BYTES, end - LABEL_BYTES]


def pieces(size_bytes: int, seed: Seed) -> list[Piece]:
    pairs = b"\1\1\0\0" + _pairs(_description(size_bytes, seed))  # XDR, written by a little-endian machine
    found: list[Piece] = []
    for label in starts(size_bytes):
        at = label + _PAIRS_AT
        found.append((at, _sealed(pairs, _PAIRS_BYTES, at)))
        for transaction in range(4, _LAST_TRANSACTION + 1):
            at = label + _UBERBLOCKS_AT + transaction * _UBERBLOCK_BYTES
            found.append((at, _sealed(_uberblock(transaction, seed), _UBERBLOCK_BYTES, at)))
    return found


def _sealed(content: bytes, length: int, at: int) -> bytes:
    """``content`` filled up to ``length`` with its checksum at the end; ``at`` is where it lies on the disk."""
    body = content.ljust(length - 40, b"\0") + struct.pack("<Q", _CHECKSUM_MAGIC)
    words = struct.unpack(">4Q", hashlib.sha256(body + struct.pack("<4Q", at, 0, 0, 0)).digest())
    return body + struct.pack("<4Q", *words)


def _uberblock(transaction: int, seed: Seed) -> bytes:
    guids = _guid("pool", seed) + _guid("disk", seed) & 2**64 - 1
    return struct.pack("<5Q", 0x00BAB10C, _VERSION, transaction, guids, TIME_S + transaction)


def _guid(name: str, seed: Seed) -> int:
    return seed.number(f"zfs {name}", 63)


def _description(size_bytes: int, seed: Seed) -> dict[str, _Value]:
    guid = _guid("disk", seed)
    disk: dict[str, _Value] = {
        "type": "disk",
        "id": 0,
        "guid": guid,
        "path": "/dev/disk/by-id/ata-OLD_DISK-part1",
        "whole_disk": 0,
        "metaslab_array": 256,
        "metaslab_shift": 29,
        "ashift": 12,
        "asize": size_bytes // LABEL_BYTES * LABEL_BYTES - 18 * LABEL_BYTES,
        "is_log": 0,
        "create_txg": 4,
    }
    return {
        "version": _VERSION,
        "name": POOL,
        "state": 0,
        "txg": _LAST_TRANSACTION,
        "pool_guid": _guid("pool", seed),
        "hostname": "nas",
        "top_guid": guid,
        "guid": guid,
        "vdev_children": 1,
        "vdev_tree": disk,
        "features_for_read": {},
    }


def _pairs(pairs: dict[str, _Value]) -> bytes:
    found = struct.pack(">II", 0, 1)  # version, unique names
    for name, value in pairs.items():
        kind, data = _encoded(value)
        body = _text(name) + struct.pack(">II", kind, 1) + data
        found += struct.pack(">II", len(body) + 8, _size_in_memory(name, value)) + body
    return found + struct.pack(">II", 0, 0)


def _encoded(value: _Value) -> tuple[int, bytes]:
    """The type's number and the value: 8 an integer of 64 bits, 9 a text, 19 a list of pairs."""
    if isinstance(value, int):
        return 8, struct.pack(">Q", value)
    if isinstance(value, str):
        return 9, _text(value)
    assert isinstance(value, dict)
    return 19, _pairs(value)


def _size_in_memory(name: str, value: _Value) -> int:
    """What the pair takes unpacked, which readers allocate: header and name, then the value, each in steps of 8."""
    value_bytes = {int: 8, str: len(value) + 1 if isinstance(value, str) else 0, dict: 24}[type(value)]
    return _aligned(16 + len(name) + 1, 8) + _aligned(value_bytes, 8)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">I", len(data)) + data.ljust(_aligned(len(data), 4), b"\0")


def _aligned(length: int, step: int) -> int:
    return -(-length // step) * step
