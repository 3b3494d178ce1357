"""What the road to Super on the board itself depends on, besides what :mod:`.jetson` collects. Only reads.

Sources: the UEFI specification (capsules on disk: EFI\\UpdateCapsule on the EFI system partition, the header of a
capsule), edk2-nvidia's CapsuleUpdateJetson.md, the names of partitions in L4T's flash layouts (APP, esp).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from pathlib import Path
from typing import Any

from ..parse import ParseError
from ..parse.mountinfo import parse_mountinfo
from .readings import within
from .sysfs import names_in, read_text

STATE = "/var/lib/rerig/super_mode"
PENDING = f"{STATE}/pending"
CAPSULES = "EFI/UpdateCapsule"
CONFIG_TOOL = "/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh"
HEADER = struct.Struct("<16sIII")  # GUID, the header's size, flags, the whole size
# 6dcbd5ed-e82d-4c44-bda1-7194199ad92a: an update for the firmware's own management protocol
GUID = bytes.fromhex("edd5cb6d2de8444cbda17194199ad92a")
CHUNK = 1 << 20


def collect_road(root: Path, esp: str, capsule: str) -> dict[str, Any]:
    """{"esp": {"path", "mounted", "writable", "free_bytes" or None, "waiting": {name there: SHA-256 or None},
    "missing_folders": those that staging makes, outermost first}, "capsule": {"path", "bytes", "sha256", "whole"}
    or {"path", "error"}, "config_tool": whether it is there, "partitions": [{"device", "name"}], "pending": what the
    role noted before it changed something, or None, "staged": what it noted when all was in place, or None}.
    """
    return {
        "esp": _esp(root, esp),
        "capsule": _capsule(root, capsule),
        "config_tool": within(root, CONFIG_TOOL).is_file(),
        "partitions": _partitions(root),
        "pending": _note(root, "state.json"),
        "staged": _note(root, "staged.json"),
    }


def file_sha256(path: Path) -> str:
    """Of a whole file; raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _esp(root: Path, esp: str) -> dict[str, Any]:
    place, folder = within(root, esp), within(root, f"{esp}/{CAPSULES}")
    try:
        mounts = [
            one
            for one in parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
            if one["mount_point"] == esp and not one["deleted"]
        ]
    except ParseError:
        mounts = []
    try:
        seen = os.statvfs(str(place))
        free = seen.f_bavail * seen.f_frsize
    except OSError:
        free = None
    above = [f"{esp}/EFI", f"{esp}/{CAPSULES}"]
    return {
        "path": esp,
        "mounted": bool(mounts),
        "writable": bool(mounts) and "ro" not in (*mounts[-1]["options"], *mounts[-1]["super_options"]),
        "free_bytes": free,
        "waiting": {name: _sum(folder / name) for name in names_in(folder)},
        "missing_folders": [one for one in above if not within(root, one).is_dir()],
    }


def _sum(path: Path) -> str | None:
    try:
        return file_sha256(path)
    except OSError:
        return None


def _capsule(root: Path, path: str) -> dict[str, Any]:
    file = within(root, path)
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            head = stream.read(HEADER.size)
        digest = file_sha256(file)
    except OSError:
        return {"path": path, "error": "missing"}
    whole = False
    if len(head) == HEADER.size:
        guid, start, _, declared = HEADER.unpack(head)
        whole = guid == GUID and HEADER.size <= start < declared <= size
    return {"path": path, "bytes": size, "sha256": digest, "whole": whole}


def _partitions(root: Path) -> list[dict[str, str]]:
    """Every partition that its table names."""
    folder = within(root, "/sys/class/block")
    found = []
    for device in names_in(folder):
        match = re.search(r"^PARTNAME=(.+)$", read_text(folder / device / "uevent") or "", re.MULTILINE)
        if match:
            found.append({"device": device, "name": match.group(1)})
    return found


def _note(root: Path, name: str) -> dict[str, Any] | None:
    try:
        note = json.loads(read_text(within(root, f"{PENDING}/{name}")) or "")
    except ValueError:
        return None
    return note if isinstance(note, dict) else None
