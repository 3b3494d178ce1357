"""Partition tables, by ``sfdisk``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from twin.contents.seed import Seed
from twin.contents.tools import run

EFI_SYSTEM = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
MICROSOFT_RESERVED = "E3C9E316-0B5C-4DB8-817D-F92DF00215AE"
MICROSOFT_BASIC_DATA = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"
LINUX = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"

_MBR_TYPES = {LINUX: "83", MICROSOFT_BASIC_DATA: "7", EFI_SYSTEM: "ef"}


@dataclass(frozen=True)
class Partition:
    start_bytes: int
    bytes: int
    type: str = LINUX
    name: str = ""


def gpt(path: Path, partitions: Sequence[Partition], seed: Seed) -> None:
    lines = ["label: gpt", f"label-id: {seed.uuid('gpt')}", "unit: sectors"]
    for number, part in enumerate(partitions, 1):
        extent = f"start={part.start_bytes // 512}, size={part.bytes // 512}"
        named = f', name="{part.name}"' if part.name else ""
        lines.append(f"{extent}, type={part.type}, uuid={seed.uuid(f'gpt {number}')}{named}")
    _write(path, lines)


def mbr(path: Path, partitions: Sequence[Partition], seed: Seed) -> None:
    lines = ["label: dos", f"label-id: 0x{seed.number('mbr', 32):08x}", "unit: sectors"]
    lines += [
        f"start={part.start_bytes // 512}, size={part.bytes // 512}, type={_MBR_TYPES[part.type]}"
        for part in partitions
    ]
    _write(path, lines)


def _write(path: Path, lines: Sequence[str]) -> None:
    words = ["--quiet", "--no-reread", "--no-tell-kernel", "--wipe=never", "--wipe-partitions=never"]
    run("sfdisk", *words, path, input="\n".join(lines) + "\n")
