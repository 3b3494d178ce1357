"""The part of a block device's description that may be shared in a result.

Device-mapper and md names, loop files' paths and the models of network disks are chosen by people, so they stay behind.
"""

from __future__ import annotations

import re
from typing import Any

from .public_options import matching, non_negative

__all__ = ["device_aliases", "public_device"]

_KERNEL_NAMES = (
    r"nvme\d+(c\d+)?n\d+(p\d+)?|(sd|hd|vd|xvd)[a-z]{1,4}\d*|mmcblk\d+(p\d+|boot\d|rpmb)?|dm-\d+|md\d+(p\d+)?"
    r"|(loop|zram|ram|bcache|nbd|rbd|drbd|zd|sr|ublkb|mtdblock)\d+(p\d+)?|pmem[\d.]+s?(p\d+)?|dasd[a-z]{1,4}\d*"
)
_TRANSPORTS = (
    "nvme|nvme_fabrics|usb|ata|virtio|iscsi|fc|scsi|mmc|xen|loop|dm|md|zram|ram|pmem|bcache|zvol|network_block"
)
_NETWORK_TRANSPORTS = ("iscsi", "fc", "nvme_fabrics", "network_block")
_DM_KINDS = "lvm|lvm_raid|lvm_cache|crypt|multipath|partition|raid|vdo|stratis|other"
_MODEL = r"[A-Za-z0-9 ._+()/&-]{1,64}"
_PCIE_SPEED = r"\d{1,3}(\.\d)? GT/s( PCIe)?|Unknown"


def device_aliases(chain: list[dict[str, Any]]) -> dict[str, str]:
    """Kernel name to shareable name. An md array can be called after anything (md_home): it gets a number instead."""
    return {
        device["name"]: device["name"] if re.fullmatch(_KERNEL_NAMES, device["name"]) else f"device{index}"
        for index, device in enumerate(chain)
    }


def public_device(device: dict[str, Any], aliases: dict[str, str]) -> dict[str, Any]:
    """The shareable part of a device dict. The model of a network disk is left out: its owner may have named it."""
    transport = matching(device["transport"], _TRANSPORTS)
    model = None if transport in _NETWORK_TRANSPORTS else matching(device["model"], _MODEL)
    return {
        "name": aliases[device["name"]],
        "partition_of": aliases.get(device["partition_of"] or ""),
        "slaves": [aliases[name] for name in device["slaves"] if name in aliases],
        "size_bytes": non_negative(device["size_bytes"]),
        "rotational": device["rotational"] if isinstance(device["rotational"], bool) else None,
        "logical_block_bytes": non_negative(device["logical_block_bytes"]),
        "model": model,
        "transport": transport,
        "dm_kind": matching(device["dm_kind"], _DM_KINDS),
        "md_level": matching(device["md_level"], r"raid\d{1,2}|linear|multipath|container|faulty"),
        "read_ahead_kb": non_negative(device["read_ahead_kb"]),
        "scheduler": matching(device["scheduler"], "none|noop|deadline|mq-deadline|cfq|bfq|kyber"),
        "max_sectors_kb": non_negative(device["max_sectors_kb"]),
        "pcie": _public_pcie(device["pcie"]),
    }


def _public_pcie(pcie: Any) -> dict[str, Any] | None:
    if not isinstance(pcie, dict):
        return None
    return {
        "speed": matching(pcie.get("speed"), _PCIE_SPEED),
        "width": non_negative(pcie.get("width")),
        "max_speed": matching(pcie.get("max_speed"), _PCIE_SPEED),
        "max_width": non_negative(pcie.get("max_width")),
    }
