"""What a whole disk or one partition may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from twin.contents import bcache, btrfs, file_systems, leftovers, luks, lvm, md, ntfs, sparse, xfs, zfs
from twin.contents.seed import Seed
from twin.contents.sparse import Piece

_Fill = Callable[[Path, Seed], None]


def _pieces(pieces: Callable[[int, Seed], list[Piece]]) -> _Fill:
    return lambda path, seed: sparse.lay(path, pieces(path.stat().st_size, seed))


def _md(version: str) -> _Fill:
    return _pieces(lambda size_bytes, seed: md.pieces(version, size_bytes, seed))


# Each fills an empty file that has its size already.
FILLS: Mapping[str, _Fill] = {
    "ext4": file_systems.ext4,
    "lvm-pv": _pieces(lvm.pieces),
    "luks": _pieces(luks.pieces_2),
    "luks1": _pieces(luks.pieces_1),
    "md-member": _md("1.2"),
    "md-member-1.1": _md("1.1"),
    "md-member-1.0": _md("1.0"),
    "md-member-0.90": _md("0.90"),
    "swap": file_systems.swap,
    "btrfs": btrfs.write,
    "zfs": _pieces(zfs.pieces),
    "bcache": _pieces(bcache.pieces),
    "xfs": _pieces(xfs.pieces),
    "ntfs": _pieces(ntfs.pieces),
    "fat": file_systems.fat,
    "first-mib": _pieces(leftovers.first_mib),
    "last-mib": _pieces(leftovers.last_mib),
}
