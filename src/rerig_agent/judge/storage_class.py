"""What kind of storage a file lies on, and which caches on the way can't be seen from this machine."""

from __future__ import annotations

import re
from typing import Any

from .known_evidence import KnownEvidence

__all__ = [
    "HOST_SHARES",
    "NETWORK_FILE_SYSTEMS",
    "RAM_FILE_SYSTEMS",
    "drives",
    "file_system_class",
    "medium_of",
    "storage_class",
    "unseen_caches",
]

RAM_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs", "rootfs", "devtmpfs", "hugetlbfs"})
NETWORK_FILE_SYSTEMS = frozenset({"afs", "ceph", "coda", "lustre", "beegfs", "gpfs", "orangefs", "pvfs2"})
HOST_SHARES = frozenset({"vboxsf", "prl_fs", "vmhgfs"})
_CLASSES = {
    "nfs": "nfs",
    "nfs4": "nfs",
    "cifs": "smb",
    "smb3": "smb",
    "smbfs": "smb",
    "9p": "9p",
    "virtiofs": "virtiofs",
}
_MEDIA = {
    "local_disk": "block",
    "vm_disk": "block",
    "loop": "block",
    "nfs": "network",
    "smb": "network",
    "iscsi": "network",
    "9p": "host_share",
    "virtiofs": "host_share",
}
_NETWORK_DISKS = ("nvme_fabrics", "network_block", "fc")
_NOT_A_DRIVE = ("dm", "md", "loop", "bcache", "zvol")

# PCI vendors of emulated or cloud NVMe controllers: Red Hat (QEMU), virtio, VMware, VirtualBox, Amazon, Google,
# Microsoft. The drive behind them may be anything.
_VIRTUAL_PCI_VENDORS = ("0x1b36", "0x1af4", "0x15ad", "0x80ee", "0x1d0f", "0x1ae0", "0x1414")
_VIRTUAL_MODELS = re.compile(
    r"QEMU|VMware|VBOX|Virtual|Amazon|Google|nvme_card|Microsoft|Msft|Parallels|Xen", re.IGNORECASE
)


def storage_class(known: KnownEvidence) -> str:
    """ "ram", "loop", "nfs", "smb", "9p", "virtiofs", "fuse", "iscsi", "vm_disk", "local_disk" or "other".

    RAM anywhere below decides, then a loop device anywhere, then the file system that keeps the bytes, then the drives.
    """
    mounts = known.mounts_read + (known.lower_mounts if "overlay_layer" in known.unresolved else [])
    transports = {device["transport"] for device in known.chain}
    if any(mount["fs_type"] in RAM_FILE_SYSTEMS for mount in mounts) or transports & {"zram", "ram"}:
        return "ram"
    if "loop" in transports:
        return "loop"
    named = file_system_class(known.mounts_read[-1]["fs_type"]) if known.mounts_read else None
    return named if named is not None else _disk_class(known)


def file_system_class(fs_type: str) -> str | None:
    """The class of a file system that has no disk of its own here, or None for those that have one."""
    if fs_type in _CLASSES:
        return _CLASSES[fs_type]
    if fs_type in NETWORK_FILE_SYSTEMS or fs_type in HOST_SHARES:
        return "other"
    return "fuse" if fs_type.split(".")[0] in ("fuse", "fuseblk") else None


def _disk_class(known: KnownEvidence) -> str:
    found = drives(known)
    if any(drive["transport"] == "iscsi" for drive in found):
        return "iscsi"
    if any(drive["transport"] in (*_NETWORK_DISKS, "pmem") for drive in found):
        return "other"
    if any(_is_virtual(drive, known.hypervisor) for drive in found):
        return "vm_disk"
    if found:
        return "local_disk"
    if known.mounts_read and known.mounts_read[-1]["fs_type"] == "zfs":
        # ZFS hides its disks. In a virtual machine they are most likely virtual too.
        return "vm_disk" if known.hypervisor else "local_disk"
    return "other"


def drives(known: KnownEvidence) -> list[dict[str, Any]]:
    """The devices at the bottom of the chain: nothing else is under them, and they aren't parts of a disk.

    An md array or LVM volume whose members are hidden (in a container) is no drive.
    """
    return [
        device
        for device in known.chain
        if not device["slaves"] and device["partition_of"] is None and device["transport"] not in _NOT_A_DRIVE
    ]


def _is_virtual(drive: dict[str, Any], hypervisor: bool) -> bool:
    """Whether a drive is the hypervisor's: a virtio or Xen disk always is, and in a virtual machine every other one,
    except for an NVMe drive that was passed through.

    A drive is taken for passed through when its PCI vendor and model are no known emulation's and its PCIe link is a
    real one: emulated links show no speed, or the slowest that exists (2.5 GT/s, one lane).
    """
    if drive["transport"] in ("virtio", "xen"):
        return True
    return hypervisor and not is_passed_through(drive)


def is_passed_through(drive: dict[str, Any]) -> bool:
    """See :func:`_is_virtual`. A hypervisor that forges vendor, model and link can't be told from the real thing."""
    pcie = drive["pcie"] or {}
    speed = re.match(r"(\d+(\.\d+)?) GT/s", str(pcie.get("speed") or ""))
    width = pcie.get("width")
    if drive["transport"] != "nvme" or speed is None or not isinstance(width, int) or width < 1:
        return False
    if drive["pci_vendor"] is None or drive["pci_vendor"] in _VIRTUAL_PCI_VENDORS:
        return False
    if drive["model"] is None or _VIRTUAL_MODELS.search(drive["model"]):
        return False
    return float(speed.group(1)) > 2.5 or width > 1


def medium_of(storage: str, known: KnownEvidence) -> str:
    """ "block", "network", "host_share" or "other". Storage of class "other" can be of any medium but "block"."""
    if storage == "other":
        fs_type = known.mounts_read[-1]["fs_type"] if known.mounts_read else ""
        if fs_type in HOST_SHARES:
            return "host_share"
        if fs_type in NETWORK_FILE_SYSTEMS or any(drive["transport"] in _NETWORK_DISKS for drive in drives(known)):
            return "network"
    return _MEDIA.get(storage, "other")


def unseen_caches(known: KnownEvidence) -> list[str]:
    """Codes of the caches that may have served a read unseen: "nas_ram" (any server's memory), "hypervisor_host",
    "host_share", "fuse_daemon", "zfs_arc", "cache_tier" (bcache, LVM cache), "drive_dram" (drive or its controller).

    A drive that seems passed through to a virtual machine keeps "hypervisor_host": from inside there is no proof.
    """
    types = [mount["fs_type"] for mount in known.mounts_read]
    classes = {file_system_class(fs_type) for fs_type in types}
    disks = [drive for drive in drives(known) if drive["transport"] not in ("iscsi", *_NETWORK_DISKS)]
    remote = len(disks) < len(drives(known)) or NETWORK_FILE_SYSTEMS.intersection(types)
    transports = {device["transport"] for device in known.chain}
    virtual = [_is_virtual(drive, known.hypervisor) for drive in disks]
    if not disks and "zfs" in types:
        virtual = [known.hypervisor]
    present = {
        "nas_ram": bool(remote or classes & {"nfs", "smb"}),
        "host_share": bool(classes & {"9p", "virtiofs"} or HOST_SHARES.intersection(types)),
        "fuse_daemon": "fuse" in classes,
        "zfs_arc": "zfs" in types or "zvol" in transports,
        "cache_tier": "bcache" in transports or any(device["dm_kind"] == "lvm_cache" for device in known.chain),
        "hypervisor_host": any(virtual) or bool(virtual and known.hypervisor),
        "drive_dram": not all(virtual),
    }
    return [code for code, is_present in present.items() if is_present]
