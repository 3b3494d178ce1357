"""One block device as /sys shows it. Serial numbers, UUIDs and device-mapper names stay unread or behind."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict

from .sysfs import absolute, names_in, read_number, read_text, read_word, real_directory

__all__ = ["Device", "describe_device", "device_name", "named_device"]

Device = Dict[str, Any]

# The part of the device's real path in /sys that tells how it is attached; the first that is found decides.
_TRANSPORTS = (
    ("iscsi", r"/session\d+/"),
    ("fc", r"/rport-[\d:-]+/"),
    ("virtio", r"/virtio\d+/"),
    ("usb", r"/usb\d+/"),
    ("ata", r"/ata\d+/"),
    ("mmc", r"/mmc_host/"),
    ("xen", r"/vbd-\d+/"),
    ("nvme", r"/nvme(-subsystem|-fabrics)?/"),
    ("scsi", r"/host\d+/"),
)
_VIRTUAL_NAMES = (
    ("loop", r"loop\d+"),
    ("zram", r"zram\d+"),
    ("ram", r"ram\d+"),
    ("pmem", r"pmem[\d.]+s?"),
    ("bcache", r"bcache\d+"),
    ("zvol", r"zd\d+"),
    ("network_block", r"(nbd|rbd|drbd)\d+"),
)
_DM_KINDS = {
    "LVM": "lvm",
    "CRYPT": "crypt",
    "mpath": "multipath",
    "DMRAID": "raid",
    "VDO": "vdo",
    "stratis": "stratis",
}

_LVM_ROLES = ((r"[rm]image_\d+", "lvm_raid"), ("(cdata|cvol|corig|cpool)", "lvm_cache"), ("v(data|pool)", "vdo"))


def device_name(dev: str, root: Path) -> str | None:
    """Kernel name of "major:minor", or None."""
    if not re.fullmatch(r"\d+:\d+", dev):
        return None
    link = real_directory(absolute(root, "/sys/dev/block") / dev)
    if link is not None:
        return link.name
    blocks = absolute(root, "/sys/class/block")
    return next((name for name in names_in(blocks) if read_word(blocks / name / "dev") == dev), None)


def named_device(source: str, root: Path) -> str | None:
    """Kernel name of a mount source such as /dev/mapper/vg-home, /dev/disk/by-uuid/… or /dev/sda1, or None.

    A device node is looked at, which can't block; the names in /sys help where /dev has no such node (in a container).
    """
    if not source.startswith("/dev/"):
        return None
    real = os.path.realpath(str(absolute(root, source)))
    try:
        number = Path(real).stat().st_rdev
    except OSError:
        number = 0
    if number:
        name = device_name(f"{os.major(number)}:{os.minor(number)}", root)
        if name is not None:
            return name
    blocks = absolute(root, "/sys/class/block")
    base = Path(real).name
    if real_directory(blocks / base) is not None:
        return base
    return next((name for name in names_in(blocks) if read_word(blocks / name / "dm/name") == base), None)


def describe_device(name: str, root: Path) -> Device | None:
    """The device dict of the target evidence for a kernel name, or None if /sys has no such device.

    `slaves` are the devices that this one reads from, save for a partition's disk (`partition_of`): those of
    device-mapper, md and bcache, and the paths of an NVMe multipath head. The chain adds those of loop devices.
    """
    place = real_directory(absolute(root, "/sys/class/block") / name)
    if place is None:
        return None
    is_partition = (place / "partition").exists()
    disk = place.parent if is_partition else place
    queue = disk / "queue"
    sectors = read_number(place / "size")
    rotational = read_number(queue / "rotational")
    transport = _transport(disk)
    return {
        "name": name,
        "dev": read_word(place / "dev"),
        "partition_of": disk.name if is_partition else None,
        "size_bytes": None if sectors is None else sectors * 512,
        "rotational": None if rotational is None else bool(rotational),
        "logical_block_bytes": read_number(queue / "logical_block_size"),
        "model": _model(disk),
        "transport": transport,
        "pci_vendor": _pci_vendor(disk) if transport == "nvme" else None,
        "dm_kind": _dm_kind(place, root),
        "md_level": read_word(disk / "md/level"),
        "read_ahead_kb": read_number(queue / "read_ahead_kb"),
        "scheduler": _scheduler(queue),
        "max_sectors_kb": read_number(queue / "max_sectors_kb"),
        "counts_io": read_number(queue / "iostats") != 0,
        "pcie": _pcie_link(disk) if transport == "nvme" else None,
        "slaves": names_in(place / "slaves") or _multipath_paths(name, disk, root),
        "is_multipath_head": not is_partition and "/nvme-subsystem/" in str(disk),
        "loop_backing_path": _loop_backing_path(disk),
        "loop_direct": None if transport != "loop" else read_word(disk / "loop/dio") == "1",
    }


def _transport(disk: Path) -> str | None:
    if (disk / "dm").is_dir():
        return "dm"
    if (disk / "md").is_dir():
        return "md"
    for transport, pattern in _VIRTUAL_NAMES:
        if re.fullmatch(pattern, disk.name):
            return transport
    for transport, pattern in _TRANSPORTS:
        if re.search(pattern, f"{disk}/"):
            return "nvme_fabrics" if transport == "nvme" and _is_remote_nvme(disk) else transport
    return None


def _is_remote_nvme(disk: Path) -> bool:
    transport = read_word(disk / "device/transport") or "pcie"
    return "/nvme-fabrics/" in str(disk) or transport not in ("pcie", "apple-nvme")


def _model(disk: Path) -> str | None:
    model = read_word(disk / "device/model") or read_word(disk / "device/name")
    return " ".join(model.split()) if model is not None else None


def _pci_vendor(disk: Path) -> str | None:
    """PCI vendor of an NVMe controller: <controller>/device is the PCI device."""
    return read_word(disk / "device/device/vendor")


def _pcie_link(disk: Path) -> dict[str, Any] | None:
    pci = disk / "device/device"
    speed = read_word(pci / "current_link_speed")
    if speed is None:
        return None
    return {
        "speed": speed,
        "width": read_number(pci / "current_link_width"),
        "max_speed": read_word(pci / "max_link_speed"),
        "max_width": read_number(pci / "max_link_width"),
    }


def _dm_kind(place: Path, root: Path) -> str | None:
    """What device-mapper does here. Its table needs root; the prefix of the UUID and the names below tell as much."""
    if not (place / "dm").is_dir():
        return None
    prefix = (read_word(place / "dm/uuid") or "").split("-", 1)[0]
    if re.fullmatch(r"part\d+", prefix):
        return "partition"
    kind = _DM_KINDS.get(prefix, "other")
    if kind != "lvm":
        return kind
    # lvm2 names its hidden volumes after their role: vg-home_rimage_0, vg-home_cdata.
    blocks = absolute(root, "/sys/class/block")
    names = [read_word(blocks / slave / "dm/name") or "" for slave in names_in(place / "slaves")]
    for role, kind in _LVM_ROLES:
        if any(re.search(f"_{role}(-[a-z]+)?$", name) for name in names):
            return kind
    return "lvm"


def _scheduler(queue: Path) -> str | None:
    text = read_word(queue / "scheduler")
    if text is None:
        return None
    active = re.search(r"\[([\w-]+)\]", text)
    return active.group(1) if active else text.split()[0]


def _multipath_paths(name: str, disk: Path, root: Path) -> list[str]:
    """nvme0n1 under nvme-subsystem is the head of paths nvme0c0n1, nvme0c1n1…: older kernels count I/O only there."""
    head = re.fullmatch(r"nvme(\d+)n(\d+)", name)
    if head is None or "/nvme-subsystem/" not in str(disk):
        return []
    path = re.compile(r"nvme{}c\d+n{}".format(*head.groups()))
    return [other for other in names_in(absolute(root, "/sys/class/block")) if path.fullmatch(other)]


def _loop_backing_path(disk: Path) -> str | None:
    text = read_text(disk / "loop/backing_file")
    # One newline ends the file; the path itself may hold some.
    return text[:-1] if text is not None and text.endswith("\n") else text
