#!/usr/bin/python
"""Writes or removes a UEFI variable through efivarfs, and reads it back."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: efi_variable
short_description: Write or remove a UEFI variable
description:
  - efivarfs guards most variables with the immutable attribute; it is taken off for the write and put back, by ioctl.
  - The variable is written in one go, as efivarfs wants it, and read back.
author: the rerig authors
options:
  name:
    description: The variable's name and GUID with a dash in between, as efivarfs names its file.
    type: str
    required: true
  hex:
    description: The file's whole bytes in hex, four bytes of attributes first. Empty removes the variable.
    type: str
  set_bits:
    description: Bits to set in a number of eight bytes, whose other bits stay; it is made where it is missing.
    type: int
  folder:
    description: Where efivarfs is mounted.
    type: path
    default: /sys/firmware/efi/efivars
attributes:
  check_mode:
    support: full
    description: Says whether it would change something.
"""

EXAMPLES = r"""
- name: Ask the firmware to look for a capsule
  efi_variable:
    name: OsIndications-8be4df61-93ca-11d2-aa0d-00e098032b8c
    set_bits: 4
"""

RETURN = r"""
before:
  description: The bytes in hex; none where it was missing.
  returned: always
  type: str
after:
  description: The bytes in hex as they are now, or would be.
  returned: always
  type: str
"""

# linux/fs.h, for 64-bit kernels; the kernel reads and writes four bytes
GET_FLAGS, SET_FLAGS, IMMUTABLE = 0x80086601, 0x40086602, 0x10
KEPT = 7  # non-volatile, for boot services and at run time


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "hex": {"type": "str"},
            "set_bits": {"type": "int"},
            "folder": {"type": "path", "default": "/sys/firmware/efi/efivars"},
        },
        mutually_exclusive=[("hex", "set_bits")],
        required_one_of=[("hex", "set_bits")],
        supports_check_mode=True,
    )
    asked = module.params
    file = Path(asked["folder"]) / asked["name"]
    try:
        before = read(file)
        after = wanted(before, asked["hex"], asked["set_bits"])
        if after != before and not module.check_mode:
            write(file, after)
            if read(file) != after:
                module.fail_json(msg=f"UEFI's variable {asked['name']} was written and reads back as something else.")
    except (OSError, ValueError) as error:
        module.fail_json(msg=f"UEFI's variable {asked['name']} can't be set: {error}.")
    module.exit_json(changed=after != before, before=shown(before), after=shown(after))


def shown(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def wanted(before: bytes | None, text: str | None, bits: int | None) -> bytes | None:
    """What the file shall hold; None: it shall be gone."""
    if bits is None:
        return bytes.fromhex(text) if text else None
    if before is None:
        return struct.pack("<IQ", KEPT, bits)
    if len(before) != 12:
        raise ValueError("it holds no number of eight bytes")
    attributes, number = struct.unpack("<IQ", before)
    return struct.pack("<IQ", attributes, number | bits)


def read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def write(file: Path, data: bytes | None) -> None:
    guarded = unguard(file)
    if data is None:
        file.unlink()
        return
    try:
        handle = os.open(str(file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            if os.write(handle, data) != len(data):
                raise OSError("it was written in part only")
        finally:
            os.close(handle)
    finally:
        if guarded:
            set_flags(file, guarded)


def unguard(file: Path) -> int:
    """Take the immutable attribute off; the attributes that it was among, 0 where it wasn't there."""
    flags = 0
    with contextlib.suppress(FileNotFoundError):
        handle = os.open(str(file), os.O_RDONLY)
        try:
            # A file system that has no such attributes guards nothing.
            with contextlib.suppress(OSError):
                flags = struct.unpack("I", fcntl.ioctl(handle, GET_FLAGS, struct.pack("I", 0)))[0]
            if flags & IMMUTABLE:
                fcntl.ioctl(handle, SET_FLAGS, struct.pack("I", flags & ~IMMUTABLE))
        finally:
            os.close(handle)
    return flags if flags & IMMUTABLE else 0


def set_flags(file: Path, flags: int) -> None:
    handle = os.open(str(file), os.O_RDONLY)
    try:
        fcntl.ioctl(handle, SET_FLAGS, struct.pack("I", flags))
    finally:
        os.close(handle)


if __name__ == "__main__":
    main()
