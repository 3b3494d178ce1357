"""A btrfs file system by ``mkfs.btrfs``, whose random names and times are then replaced by those of the seed.

Layout: include/uapi/linux/btrfs_tree.h of Linux. Superblocks and tree nodes both start with a checksum (32 bytes,
CRC-32C in the first four, over all that follows) and the UUID of the file system, which no other block has there.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from twin.contents import sparse
from twin.contents.checksums import crc32c
from twin.contents.seed import TIME_S, Seed
from twin.contents.tools import run

NODE_BYTES = 16384
LABEL = "oldbtrfs"

_CHECKSUM_BYTES = 32
_MAGIC_AT, _MAGIC = 64, b"_BHRfS_M"
_DEVICE_UUID_AT = 0xC9 + 66  # in a superblock: the item of the device, and the UUID in that
_CHUNK_UUID_AT, _OWNER_AT, _FIRST_KEY_AT = 64, 88, 101  # in a node
_UUID_TREE, _UUID_KEY = 9, 251


def write(path: Path, seed: Seed) -> None:
    """``path`` has its size already, and nothing in it."""
    uuid = seed.uuid("btrfs")
    started = int(time.time())
    run("mkfs.btrfs", "--quiet", "--nodiscard", "--nodesize", NODE_BYTES, "--uuid", uuid, "--label", LABEL, path)
    times = range(started, int(time.time()) + 1)
    found = list(_checksummed(path, uuid))
    fixed = dict.fromkeys((struct.pack("<QI", second, 0) for second in times), struct.pack("<QI", TIME_S, 0))
    for name, values in _random_uuids(data for _, data in found).items():
        new = seed.uuid(f"btrfs {name}").bytes
        for old in values:
            fixed |= {old: new, _as_key(old): _as_key(new)}
    sparse.lay(path, [(at, _replaced(data, fixed)) for at, data in found])


def _checksummed(path: Path, uuid: UUID) -> Iterator[sparse.Piece]:
    """Superblocks and nodes, those of earlier transactions too."""
    with path.open("rb") as file:
        for at, block in sparse.blocks(path):
            if block[_CHECKSUM_BYTES : _CHECKSUM_BYTES + 16] == uuid.bytes:
                file.seek(at)
                yield at, block if _is_superblock(block) else file.read(NODE_BYTES)


def _is_superblock(data: bytes) -> bool:
    return data[_MAGIC_AT : _MAGIC_AT + 8] == _MAGIC


def _random_uuids(blocks: Iterator[bytes]) -> dict[str, set[bytes]]:
    found: dict[str, set[bytes]] = {"device": set(), "chunk tree": set(), "root": set()}
    for data in blocks:
        if _is_superblock(data):
            found["device"].add(data[_DEVICE_UUID_AT : _DEVICE_UUID_AT + 16])
            continue
        found["chunk tree"].add(data[_CHUNK_UUID_AT : _CHUNK_UUID_AT + 16])
        if struct.unpack_from("<QI", data, _OWNER_AT) == (_UUID_TREE, 1):
            first, _, last = struct.unpack_from("<8sB8s", data, _FIRST_KEY_AT)
            found["root"].add(first + last)
    return found


def _as_key(uuid: bytes) -> bytes:
    """In the tree that leads from a UUID to its subvolume it is a key: two halves with the key's type between."""
    return uuid[:8] + bytes([_UUID_KEY]) + uuid[8:]


def _replaced(data: bytes, fixed: dict[bytes, bytes]) -> bytes:
    for old, new in fixed.items():
        data = data.replace(old, new)
    summed = data[_CHECKSUM_BYTES:]
    return struct.pack("<I", crc32c(summed)).ljust(_CHECKSUM_BYTES, b"\0") + summed
