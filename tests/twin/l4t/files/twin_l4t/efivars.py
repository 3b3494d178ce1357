"""UEFI's variables as efivarfs shows them: four bytes of attributes, then the value; NAME-GUID."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct

from . import place

FOLDER = "/sys/firmware/efi/efivars"
NVRAM = f"{place.STATE}/nvram"  # what FOLDER shows, kept over a reboot
NVIDIA = "781e084c-a330-417c-b678-38e696380cb9"
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
NON_VOLATILE, BOOT, RUNTIME = 1, 2, 4
KEPT = NON_VOLATILE | BOOT | RUNTIME

PLATFORM_SPEC = f"TegraPlatformSpec-{NVIDIA}"
COMPATIBLE_SPEC = f"TegraPlatformCompatSpec-{NVIDIA}"
CHAIN_STATUS = f"BootChainFwStatus-{NVIDIA}"
CHAIN_NEXT = f"BootChainFwNext-{NVIDIA}"
CHAIN_CURRENT = f"BootChainFwCurrent-{NVIDIA}"
OS_INDICATIONS = f"OsIndications-{GLOBAL}"
CAPSULE_ON_DISK = 4  # the bit of OsIndications

GET_FLAGS, SET_FLAGS, IMMUTABLE = 0x80086601, 0x40086602, 0x10  # of ioctl_iflags(2)


def value(name: str, folder: str = NVRAM) -> bytes | None:
    """Without the attributes; None where the variable is missing or shorter than its attributes."""
    try:
        data = place.path(f"{folder}/{name}").read_bytes()
    except OSError:
        return None
    return data[4:] if len(data) >= 4 else None


def number(name: str, folder: str = NVRAM) -> int | None:
    data = value(name, folder)
    return int.from_bytes(data, "little") if data is not None else None


def put(name: str, data: bytes, attributes: int = KEPT, folder: str = NVRAM) -> None:
    """Write a variable in one go; an immutable one is made mutable first and immutable again, as chattr would."""
    file = place.path(f"{folder}/{name}")
    file.parent.mkdir(parents=True, exist_ok=True)
    guarded = is_immutable(str(file))
    set_immutable(str(file), False)
    file.write_bytes(struct.pack("<I", attributes) + data)
    if guarded:
        set_immutable(str(file), True)


def put_number(name: str, number: int, attributes: int = KEPT) -> None:
    put(name, struct.pack("<I", number), attributes)


def drop(name: str) -> None:
    file = place.path(f"{NVRAM}/{name}")
    set_immutable(str(file), False)
    with contextlib.suppress(FileNotFoundError):
        file.unlink()


def is_immutable(file: str) -> bool:
    try:
        return bool(_flags(file) & IMMUTABLE)
    except OSError:
        return False


def set_immutable(file: str, on: bool) -> None:
    """As efivarfs does with most variables; a file system that knows no such attribute is left alone."""
    with contextlib.suppress(OSError):
        flags = _flags(file)
        flags = flags | IMMUTABLE if on else flags & ~IMMUTABLE
        handle = os.open(file, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, SET_FLAGS, struct.pack("l", flags))
        finally:
            os.close(handle)


def _flags(file: str) -> int:
    handle = os.open(file, os.O_RDONLY)
    try:
        return int(struct.unpack("l", fcntl.ioctl(handle, GET_FLAGS, struct.pack("l", 0)))[0])
    finally:
        os.close(handle)
