"""Sparse raw files: pieces laid into them, one grafted into another, and what in them isn't zero."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

MIB = 1024 * 1024
BLOCK_BYTES = 4096
_CHUNK_BYTES = 4 * MIB

Piece = tuple[int, bytes]  # the offset in bytes from the start, and what lies there


def make(path: Path, size_bytes: int) -> None:
    """An empty file of that size that takes no room, also where a longer one was."""
    with path.open("wb") as file:
        file.truncate(size_bytes)


def lay(path: Path, pieces: Iterable[Piece]) -> None:
    """Write the pieces where they belong; none may reach over the end of the file."""
    size_bytes = path.stat().st_size
    with path.open("r+b") as file:
        for offset, data in pieces:
            if offset < 0 or offset + len(data) > size_bytes:
                raise ValueError(f"{len(data)} bytes at {offset} are not within {size_bytes}")
            file.seek(offset)
            file.write(data)


def graft(source: Path, target: Path, offset: int) -> None:
    """Lay what isn't zero in ``source`` into ``target`` from ``offset`` on."""
    lay(target, ((offset + at, data) for at, data in blocks(source)))


def blocks(path: Path) -> Iterator[Piece]:
    """Every block of 4096 bytes that isn't all zero, in order; holes aren't read."""
    with path.open("rb") as file:
        for start, end in _extents(file.fileno()):
            at = start - start % BLOCK_BYTES
            while at < end:
                file.seek(at)
                chunk = file.read(_CHUNK_BYTES)
                for index in range(0, len(chunk), BLOCK_BYTES):
                    block = chunk[index : index + BLOCK_BYTES]
                    if at + index < end and block.count(0) != len(block):
                        yield at + index, block
                at += _CHUNK_BYTES


def used(path: Path) -> list[tuple[int, int]]:
    """Start and end in bytes of every run of blocks that aren't all zero."""
    runs: list[tuple[int, int]] = []
    for offset, block in blocks(path):
        if runs and runs[-1][1] == offset:
            runs[-1] = (runs[-1][0], offset + len(block))
        else:
            runs.append((offset, offset + len(block)))
    return runs


def fingerprint(path: Path) -> str:
    """A hash of the whole file, holes and zeros alike: it changes with any byte, and costs only what isn't a hole."""
    digest = hashlib.sha256(str(path.stat().st_size).encode())
    for offset, block in blocks(path):
        digest.update(offset.to_bytes(8, "little") + block)
    return digest.hexdigest()


def _extents(file: int) -> Iterator[tuple[int, int]]:
    end = 0
    while True:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end
