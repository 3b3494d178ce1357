"""Whole disks that are partitioned: which table, which partitions, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from twin.contents import sparse, tables
from twin.contents.seed import Seed
from twin.contents.sparse import MIB
from twin.contents.tables import Partition

Table = Literal["gpt", "mbr"]


@dataclass(frozen=True)
class Layout:
    table: Table
    partitions: tuple[tuple[Partition, str], ...]  # each with the kind of its contents, "" for nothing


def single(size_bytes: int, kind: str, table: Table = "gpt") -> Layout:
    """One partition from the first to the last MiB."""
    return Layout(table, ((Partition(MIB, (size_bytes // MIB - 2) * MIB), kind),))


def _windows(size_bytes: int) -> Layout:
    """As Windows sets a disk up, but smaller; the second half is free."""
    start = 33 * MIB
    return Layout(
        "gpt",
        (
            (Partition(MIB, 16 * MIB, tables.EFI_SYSTEM, "EFI system partition"), "fat"),
            (Partition(17 * MIB, 16 * MIB, tables.MICROSOFT_RESERVED, "Microsoft reserved partition"), ""),
            (Partition(start, _half(size_bytes) - start, tables.MICROSOFT_BASIC_DATA, "Basic data partition"), "ntfs"),
        ),
    )


def _linux(size_bytes: int) -> Layout:
    return Layout("gpt", ((Partition(MIB, _half(size_bytes) - MIB), "ext4"),))


def _half(size_bytes: int) -> int:
    return size_bytes // 2 // MIB * MIB


LAYOUTS: Mapping[str, Callable[[int], Layout]] = {
    "gpt-no-partition": lambda size_bytes: Layout("gpt", ()),
    "gpt-empty-partition": lambda size_bytes: single(size_bytes, ""),
    "gpt-windows-free": _windows,
    "gpt-linux-free": _linux,
    "mbr": lambda size_bytes: single(size_bytes, "", "mbr"),
}


def write_table(layout: Layout, path: Path, seed: Seed) -> None:
    (tables.gpt if layout.table == "gpt" else tables.mbr)(path, [part for part, _ in layout.partitions], seed)


def keep_backup_only(path: Path) -> None:
    """Zero the first MiB, as somebody does who wants to be rid of a GPT and forgets that it has a copy at the end."""
    sparse.lay(path, [(0, bytes(MIB))])
