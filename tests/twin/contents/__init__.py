"""What a used disk holds, written to a sparse raw file: no root, no loop device, no mount, no kernel module.

``write("luks", path, 256 * MIB)`` makes a disk that tools take for one with LUKS on it. The same kind, size and seed
give the same bytes. What a tool can write on a plain file is written by that tool; what would need device-mapper or md
in the kernel, or a package that not every system has, is made by hand, each in a module that says where its layout is
written down, and with right checksums.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from twin.contents import sparse
from twin.contents.inside import FILLS
from twin.contents.layouts import LAYOUTS, Layout, Table, keep_backup_only, single, write_table
from twin.contents.seed import Seed
from twin.contents.sparse import MIB, fingerprint
from twin.errors import TwinError

__all__ = ["INSIDE_KINDS", "KINDS", "MINIMUM_BYTES", "SIGNS", "fingerprint", "write", "write_layout"]

INSIDE_KINDS: tuple[str, ...] = tuple(FILLS)
KINDS: tuple[str, ...] = ("blank", *LAYOUTS, *INSIDE_KINDS, "last-mib-gpt")

# The smallest disk on which every kind fits, also inside a partition (mkfs.btrfs wants 109 MiB).
MINIMUM_BYTES = 128 * MIB

# What ``blkid -p`` calls it: TYPE, or PTTYPE of a partition table; "" where it finds nothing. wipefs finds nothing
# there either, but for what is left of a GPT.
SIGNS: Mapping[str, str] = {
    **{kind: kind for kind in ("ext4", "swap", "btrfs", "bcache", "xfs", "ntfs")},
    **{kind: "gpt" for kind in LAYOUTS if kind.startswith("gpt")},
    **{kind: "linux_raid_member" for kind in FILLS if kind.startswith("md-member")},
    **dict.fromkeys(("blank", "first-mib", "last-mib", "last-mib-gpt"), ""),
    "fat": "vfat",
    "luks": "crypto_LUKS",
    "luks1": "crypto_LUKS",
    "lvm-pv": "LVM2_member",
    "mbr": "dos",
    "zfs": "zfs_member",
}


def write(
    kind: str,
    path: Path,
    bytes: int,
    *,
    inside_partition: bool = False,
    table: Table = "gpt",
    seed: str = "twin",
) -> None:
    """Make ``path`` a raw disk of that size and kind; what was there before is gone.

    ``inside_partition`` puts one of ``INSIDE_KINDS`` into the only partition of a ``table``. Disks of different seeds
    differ in every UUID. TwinError for a size that can't be, and, with what to install, where a tool is missing.
    """
    if kind not in (INSIDE_KINDS if inside_partition else KINDS):
        raise ValueError(f"{kind} is no kind of contents" + (" of a partition" if inside_partition else ""))
    if bytes < 512 or bytes % 512:
        raise TwinError(f"A disk has whole sectors of 512 bytes, and {bytes} bytes aren't.")
    if kind != "blank" and bytes < MINIMUM_BYTES:
        raise TwinError(f"A disk that is not blank has at least {MINIMUM_BYTES // MIB} MiB.")
    if inside_partition:
        write_layout(single(bytes, kind, table), path, bytes, seed)
    elif kind in LAYOUTS:
        write_layout(LAYOUTS[kind](bytes), path, bytes, seed)
    elif kind == "last-mib-gpt":
        write_layout(single(bytes, ""), path, bytes, seed)
        keep_backup_only(path)
    else:
        sparse.make(path, bytes)
        if kind in FILLS:
            FILLS[kind](path, Seed(seed))


def write_layout(layout: Layout, path: Path, bytes: int, seed: str = "twin") -> None:
    """Make ``path`` a raw disk with these partitions, each filled with its kind; their sizes are the caller's care."""
    sparse.make(path, bytes)
    write_table(layout, path, Seed(seed))
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for part, kind in layout.partitions:
            if kind:
                inside = Path(folder, "partition")
                sparse.make(inside, part.bytes)
                FILLS[kind](inside, Seed(seed))
                sparse.graft(inside, path, part.start_bytes)
