"""Sparse files, their hash, and the checksums of superblocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from twin.contents import checksums, sparse
from twin.contents.seed import Seed
from twin.contents.sparse import MIB


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    sparse.make(tmp_path / "disk", 8 * MIB)
    return tmp_path / "disk"


def test_used_runs_are_whole_blocks(disk: Path) -> None:
    sparse.lay(disk, [(5000, b"x"), (8191, b"xy"), (MIB, b"x" * 5000), (8 * MIB - 1, b"x")])
    assert sparse.used(disk) == [(4096, 12288), (MIB, MIB + 8192), (8 * MIB - 4096, 8 * MIB)]


def test_zeros_that_were_written_are_not_used(disk: Path) -> None:
    sparse.lay(disk, [(0, bytes(6 * MIB)), (5 * MIB, b"x")])
    assert sparse.used(disk) == [(5 * MIB, 5 * MIB + 4096)]


def test_nothing_is_laid_over_the_end(disk: Path) -> None:
    with pytest.raises(ValueError, match="are not within"):
        sparse.lay(disk, [(8 * MIB - 1, b"xy")])
    assert disk.stat().st_size == 8 * MIB


def test_a_graft_moves_what_is_not_zero(disk: Path, tmp_path: Path) -> None:
    sparse.make(tmp_path / "part", 2 * MIB)
    sparse.lay(tmp_path / "part", [(0, b"begin"), (2 * MIB - 3, b"end")])
    sparse.graft(tmp_path / "part", disk, 3 * MIB)
    data = disk.read_bytes()
    assert data[3 * MIB : 3 * MIB + 5] == b"begin"
    assert data[5 * MIB - 3 : 5 * MIB] == b"end"
    assert data.count(0) == len(data) - 8


def test_the_fingerprint_is_the_same_whether_zeros_are_holes_or_written(disk: Path, tmp_path: Path) -> None:
    sparse.lay(disk, [(MIB, b"x")])
    (tmp_path / "copy").write_bytes(disk.read_bytes())
    assert (tmp_path / "copy").stat().st_blocks > disk.stat().st_blocks
    assert sparse.fingerprint(tmp_path / "copy") == sparse.fingerprint(disk)


@pytest.mark.parametrize("offset", [0, 4095, 4096, MIB, MIB + 1, 8 * MIB - 1])
def test_the_fingerprint_changes_with_any_byte(disk: Path, offset: int) -> None:
    sparse.lay(disk, [(MIB, b"xx")])
    before = sparse.fingerprint(disk)
    sparse.lay(disk, [(offset, b"y")])
    assert sparse.fingerprint(disk) != before


def test_the_fingerprint_changes_with_the_place_and_the_size(disk: Path) -> None:
    prints = set()
    for place, size in ((0, MIB), (4096, MIB), (4096, 2 * MIB)):
        sparse.make(disk, size)
        sparse.lay(disk, [(place, b"x")])
        prints.add(sparse.fingerprint(disk))
    assert len(prints) == 3


def test_the_checksums_have_the_check_values_of_their_definitions() -> None:
    digits = b"123456789"
    assert checksums.crc32c(digits) == 0xE3069283
    assert checksums.crc64_we(digits) == 0x62EC59E3F1A4F00A


def test_a_sum_of_words_carries_round() -> None:
    assert checksums.sum32(b"\xff\xff\xff\xff\x02\0\0\0\x01\0") == 3


def test_seeds_and_names_tell_apart() -> None:
    found = {Seed(text).noise(name, 16) for text in "ab" for name in "cd"}
    assert len(found) == 4
    assert Seed("a").noise("c", 16) == Seed("a").noise("c", 16)
    assert Seed("a").number("c", 32) < 2**32
