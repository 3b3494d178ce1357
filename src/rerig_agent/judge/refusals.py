"""Why a target can't be measured, in one sentence each. The sentences name the file by its base name only."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from .known_evidence import KnownEvidence
from .storage_class import RAM_FILE_SYSTEMS

__all__ = ["EXACT_ALLOCATION", "SMALLEST_BYTES", "Refusal", "refusal"]

SMALLEST_BYTES = 4096
"""One block of every file system and the largest logical block of a drive."""

_HOLES_ALLOWED = 0.01
"""As much as the byte proof lets pass."""

EXACT_ALLOCATION = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs"})
"""File systems whose st_blocks counts uncompressed bytes, delayed allocation included. Others compress, or a server
does behind them, so that fewer allocated bytes prove no hole."""

_PSEUDO_WORDS = """proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs devpts mqueue bpf pstore efivarfs
    fusectl autofs binfmt_misc nsfs pipefs sockfs selinuxfs resctrl"""
_PSEUDO_FILE_SYSTEMS = frozenset(_PSEUDO_WORDS.split())
_KINDS = {
    "directory": "is a directory, and one file is measured at a time",
    "fifo": "is a named pipe and has no stored bytes to measure",
    "socket": "is a socket and has no stored bytes to measure",
    "block_device": "is a block device; give a file on its file system instead",
    "char_device": "is a character device and has no stored bytes to measure",
    "dangling_link": "is a symbolic link whose target does not exist",
    "missing": "does not exist",
}


class Refusal(NamedTuple):
    """A stable code, and the sentence for the user."""

    code: str
    sentence: str


def refusal(known: KnownEvidence) -> Refusal | None:
    """The first reason not to measure the target, or None.

    Codes: the kinds other than "file" (unknown ones count as "unreadable"), "pseudo_file_system", "ram_file_system",
    "zram", "ram_disk", "overlay_on_ram", "loop_on_ram", "empty", "too_small", "sparse".
    """
    return _bad_kind(known) or _in_memory(known) or _bad_size(known)


def _say(known: KnownEvidence, code: str, words: str) -> Refusal:
    return Refusal(code, f"{known.name} {words}.")


def _bad_kind(known: KnownEvidence) -> Refusal | None:
    if known.kind == "file":
        return None
    if known.kind == "hung":
        words = "did not answer in time: its file system hangs"
        if known.process_left:
            words += ", and a process that waits for it can't be killed before it answers"
        return _say(known, "hung", words)
    if known.kind in _KINDS:
        return _say(known, known.kind, _KINDS[known.kind])
    known_error = known.errno is not None and 0 < known.errno < 1000
    return _say(known, "unreadable", "can't be read" + (f": {os.strerror(known.errno or 0)}" if known_error else ""))


def _in_memory(known: KnownEvidence) -> Refusal | None:
    """RAM takes O_DIRECT without complaint (tmpfs since Linux 6.5), so it is told by its name, never by an error."""
    if known.mount is None:
        return None
    fs_type = known.mount["fs_type"]
    if fs_type in _PSEUDO_FILE_SYSTEMS:
        return _say(known, "pseudo_file_system", f"lies on {fs_type}, whose files the kernel makes up as they are read")
    if fs_type in RAM_FILE_SYSTEMS:
        return _say(known, "ram_file_system", f"lies on {fs_type}, which is memory and no disk")
    below = known.data_mounts + (known.lower_mounts if "overlay_layer" in known.unresolved else [])
    in_ram = next((mount["fs_type"] for mount in below if mount["fs_type"] in RAM_FILE_SYSTEMS), None)
    transports = [device["transport"] for device in known.chain]
    if in_ram is not None and "loop" in transports:
        words = f"lies on a loop device whose own file is on {in_ram}, which is memory and no disk"
        return _say(known, "loop_on_ram", words)
    if in_ram is not None:
        return _say(known, "overlay_on_ram", f"lies on an overlay over {in_ram}, which is memory and no disk")
    if "zram" in transports:
        return _say(known, "zram", "lies on a zram device, which is compressed memory and no disk")
    if "ram" in transports:
        return _say(known, "ram_disk", "lies on a RAM disk, which is memory and no disk")
    return None


def _bad_size(known: KnownEvidence) -> Refusal | None:
    size = known.size_bytes
    if size is None:
        return None
    if size <= 0:
        return _say(known, "empty", "is empty")
    if size < SMALLEST_BYTES:
        return _say(known, "too_small", f"is {size} bytes long, less than one block of {SMALLEST_BYTES} bytes")
    stored = _stored_bytes(known, size)
    if stored is not None:
        words = f"is sparse: about {stored:,} of its {size:,} bytes are stored, and the rest is read without any disk"
        return _say(known, "sparse", words)
    return None


def _stored_bytes(known: KnownEvidence, size: int) -> int | None:
    """Bytes on the disk of a file that has too many holes, or None for an honest one."""
    if known.hole_bytes is not None and known.hole_bytes > size * _HOLES_ALLOWED:
        return max(0, size - known.hole_bytes)
    allocated = known.allocated_bytes
    if allocated is None or allocated >= size * (1 - _HOLES_ALLOWED):
        return None
    if _allocation_is_exact(known.mounts_read) and not known.encoded:
        return allocated
    # A server or a compressing file system: model files don't shrink to half, but a file of zeros vanishes. Servers
    # that count no blocks at all report 0.
    return allocated if 0 < allocated < size / 2 else None


def _allocation_is_exact(mounts: list[dict[str, Any]]) -> bool:
    return bool(mounts) and all(mount["fs_type"] in (*EXACT_ALLOCATION, "overlay") for mount in mounts)
