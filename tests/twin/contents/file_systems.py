"""File systems and swap that the host's own tools write; their names, times and hash seeds are those of the seed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from twin.contents.seed import Seed
from twin.contents.tools import run

EXT4_LABEL, SWAP_LABEL, FAT_LABEL = "oldext4", "oldswap", "OLDFAT"
EXT4_FILES = {"/photos/2019/beach.txt": "Not to be lost.\n", "/thesis.txt": "Chapter one.\n" * 4096}


def ext4(path: Path, seed: Seed) -> None:
    """With files in it, as one that somebody uses."""
    hash_seed = f"hash_seed={seed.uuid('ext4 hash')},lazy_itable_init=1,lazy_journal_init=1"
    words = ["-q", "-F", "-t", "ext4", "-b", 4096, "-U", seed.uuid("ext4"), "-L", EXT4_LABEL, "-E", hash_seed]
    run("mke2fs", *words, path)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "file")
        for name, text in EXT4_FILES.items():
            source.write_text(text, "utf-8")
            above = [str(parent) for parent in Path(name).parents][-2::-1]
            requests = [*(f"mkdir {parent}" for parent in above), f"write {source} {name}"]
            run("debugfs", "-w", "-f", "-", path, input="\n".join(requests) + "\n")


def swap(path: Path, seed: Seed) -> None:
    run("mkswap", "--uuid", seed.uuid("swap"), "--label", SWAP_LABEL, path)


def fat(path: Path, seed: Seed) -> None:
    """FAT16, as on a small EFI system partition."""
    volume = f"{seed.number('fat', 32):08x}"
    run("mkfs.vfat", "--invariant", "-F", 16, "-i", volume, "-n", FAT_LABEL, path)
