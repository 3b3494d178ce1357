"""From a mount down to the drives: partitions, LVM, LUKS, md, NVMe paths, loop files and what these lie on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict

from .block import Device, describe_device, device_name, named_device
from .sysfs import absolute, names_in

__all__ = ["device_chain", "mount_devices", "pool_read_ahead_path"]

Mount = Dict[str, Any]


def mount_devices(mount: Mount, root: Path) -> list[str]:
    """Kernel names of the devices that a mount's file system sits on; empty where it has none or they can't be told.

    btrfs and bcachefs show an anonymous device number, so their devices come from the mount source; a btrfs that
    spans several devices lists all of them in /sys/fs/btrfs. ZFS says nothing: its source is a pool's name.
    """
    dev = str(mount.get("dev") or "")
    if dev and not dev.startswith("0:"):
        name = device_name(dev, root)
        return [name] if name is not None else []
    source = str(mount.get("source") or "")
    if mount.get("fs_type") == "bcachefs":
        named = [named_device(part, root) for part in source.split(":")]
        return [name for name in named if name is not None]
    if mount.get("fs_type") != "btrfs":
        return []
    name = named_device(source, root)
    if name is None:
        return []
    pool = _btrfs_directory(name, root)
    members = names_in(pool / "devices") if pool is not None else []
    return [name, *(member for member in members if member != name)]


def pool_read_ahead_path(first_device: str, root: Path) -> Path | None:
    """Where a btrfs keeps its own read-ahead (Linux 5.10), or None for other file systems."""
    pool = _btrfs_directory(first_device, root)
    return pool / "bdi/read_ahead_kb" if pool is not None else None


def _btrfs_directory(device: str, root: Path) -> Path | None:
    pools = absolute(root, "/sys/fs/btrfs")
    return next((pools / name for name in names_in(pools) if device in names_in(pools / name / "devices")), None)


def device_chain(first: list[str], root: Path, devices_below_file: Callable[[str], list[str]]) -> list[Device]:
    """All devices below (and with) `first`, each once, a device before those it reads from.

    `devices_below_file` gives the devices under a loop device's backing file; they become its `slaves`.
    """
    chain: dict[str, Device] = {}
    waiting = list(reversed(first))
    while waiting:
        name = waiting.pop()
        if name in chain:
            continue
        device = describe_device(name, root)
        if device is None:
            continue
        if device["loop_backing_path"] is not None and device["partition_of"] is None:
            device["slaves"] = devices_below_file(device["loop_backing_path"])
        chain[name] = device
        below = [device["partition_of"]] if device["partition_of"] is not None else []
        waiting.extend(reversed(below + device["slaves"]))
    return list(chain.values())
