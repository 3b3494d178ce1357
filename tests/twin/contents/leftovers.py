"""What a hasty clean-up leaves behind at an end of the disk."""

from __future__ import annotations

from twin.contents.seed import Seed
from twin.contents.sparse import MIB, Piece

_LENGTH = 3 * 4096


def first_mib(size_bytes: int, seed: Seed) -> list[Piece]:
    """Bytes that no tool knows, in the first MiB but not at its start."""
    return [(MIB // 2, seed.noise("first MiB", _LENGTH))]


def last_mib(size_bytes: int, seed: Seed) -> list[Piece]:
    """Bytes that no tool knows, in the last MiB but not at its end."""
    return [(size_bytes - MIB // 2, seed.noise("last MiB", _LENGTH))]
