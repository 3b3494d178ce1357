"""Which counter can prove where the bytes of a read came from, or why none can."""

from __future__ import annotations

from typing import Any, NamedTuple

from .known_evidence import KnownEvidence
from .storage_class import HOST_SHARES, file_system_class

__all__ = ["PROOF_REASONS", "ProofSource", "proof_source"]

PROOF_REASONS = {
    "refused": "the target is not measured",
    "compressed_file_system": "the file system may store fewer bytes than it delivers",
    "zfs": "ZFS keeps its own cache, compresses, and hides its disks",
    "several_devices": "the file system spreads over several devices",
    "raid_redundancy": "an array with parity or copies may read more than it delivers",
    "cache_tier": "a faster device caches the slower one",
    "nvme_multipath": "the drive has several paths, and older kernels count the reads of each path alone",
    "counters_off": "the device's I/O counters are switched off",
    "host_share": "the host reads for this machine, and its counters can't be seen",
    "fuse": "a FUSE daemon reads for this file system in its own way",
    "smb": "SMB has no per-mount byte counters that could be trusted",
    "network_file_system": "this network file system has no counters that are read here",
    "persistent_memory": "persistent memory can be read past the block counters",
    "overlay_unresolved": "the overlay's layers can't be seen from here",
    "loop_backing_unresolved": "the loop device's file can't be seen from here",
    "loop_backing_not_block": "the loop device's file lies on no block device",
    "device_unresolved": "the device under the file system can't be found",
}
"""Every reason code with its words."""

_COMPRESSING = ("bcachefs", "squashfs", "erofs", "cramfs", "ubifs", "jffs2", "reiser4", "apfs")
_COMPRESS_OPTIONS = ("compress", "compress-force", "compression", "compress_algorithm")
_LINEAR_MD = ("raid0", "linear")
_DEPTH = 32


class ProofSource(NamedTuple):
    """source "block" (device: kernel name), "nfs" (the mount's own server byte counters) or "none" (reason: a code)."""

    source: str
    device: str | None
    reason: str | None


def proof_source(known: KnownEvidence) -> ProofSource:
    """Judge the whole way down: every file system that the bytes come through, then every device.

    The device that counts is the lowest one that all bytes of the file pass: below it, nothing caches. A partition is
    taken rather than its disk, since fewer others read it.
    """
    if not known.mounts_read or "mount" in known.unresolved:
        return _none("device_unresolved")
    if "overlay_layer" in known.unresolved:
        return _none("overlay_unresolved")
    reason = _file_system_reason(known)
    if reason is not None:
        return _none(reason)
    if file_system_class(known.mounts_read[-1]["fs_type"]) == "nfs":
        if any(device["transport"] == "loop" for device in known.chain):
            return _none("loop_backing_not_block")
        return ProofSource("nfs", None, None)
    return _device_source(known)


def _none(reason: str) -> ProofSource:
    return ProofSource("none", None, reason)


def _file_system_reason(known: KnownEvidence) -> str | None:
    for mount in known.mounts_read:
        fs_type = mount["fs_type"]
        storage = file_system_class(fs_type)
        if fs_type == "zfs":
            return "zfs"
        if storage in ("9p", "virtiofs") or fs_type in HOST_SHARES:
            return "host_share"
        if storage in ("fuse", "smb"):
            return storage
        if storage == "other":
            return "network_file_system"
        names = {option.partition("=")[0] for option in mount["super_options"]}
        if fs_type in _COMPRESSING or names.intersection(_COMPRESS_OPTIONS) or known.encoded:
            return "compressed_file_system"
        if "rtdev" in names:  # XFS may keep the file on its real-time device
            return "several_devices"
    return None


def _device_source(known: KnownEvidence) -> ProofSource:
    if not known.chain:
        return _none("device_unresolved")
    if len(known.file_system_devices) > 1:
        return _none("several_devices")
    reason = next((reason for device in known.chain for reason in [_device_reason(device)] if reason is not None), None)
    if reason is not None:
        return _none(reason)
    device = known.chain[0]
    for _ in range(_DEPTH):
        below = _below(known, device)
        if device["transport"] == "loop" and not below and device["partition_of"] is None:
            return _none("loop_backing_unresolved" if "loop_backing" in known.unresolved else "loop_backing_not_block")
        if len(below) > 1 and device["is_multipath_head"]:
            return _none("nvme_multipath")
        if len(below) > 1 and device["transport"] == "loop":
            return _none("several_devices")
        if len(below) != 1:
            break
        device = below[0]
    if not device["counts_io"]:
        return _none("counters_off")
    return ProofSource("block", device["name"], None)


def _below(known: KnownEvidence, device: dict[str, Any]) -> list[dict[str, Any]]:
    """What the device reads from. A partition counts by itself, unless its disk only forwards to others."""
    found = [known.device(name) for name in device["slaves"]]
    disk = known.device(device["partition_of"]) if device["partition_of"] is not None else None
    if disk is not None and (disk["slaves"] or disk["transport"] == "loop"):
        found.append(disk)
    return [item for item in found if item is not None]


def _device_reason(device: dict[str, Any]) -> str | None:
    if device["transport"] == "md" and device["md_level"] not in _LINEAR_MD:
        return "raid_redundancy"
    if device["dm_kind"] in ("lvm_raid", "raid"):
        return "raid_redundancy"
    if device["transport"] == "bcache" or device["dm_kind"] == "lvm_cache":
        return "cache_tier"
    if device["dm_kind"] in ("vdo", "stratis"):
        return "compressed_file_system"
    if device["transport"] == "zvol":
        return "zfs"
    return "persistent_memory" if device["transport"] == "pmem" else None
