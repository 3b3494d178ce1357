from __future__ import annotations

from typing import Any

import pytest

from rerig_agent.judge.known_evidence import KnownEvidence, known_device, read_evidence
from rerig_agent.judge.storage_class import is_passed_through, medium_of, storage_class, unseen_caches

REAL_LINK = {"speed": "8.0 GT/s PCIe", "width": 4, "max_speed": "8.0 GT/s PCIe", "max_width": 4}
REAL_NVME = {"name": "nvme0n1", "transport": "nvme", "model": "Some SSD", "pci_vendor": "0x144d", "pcie": REAL_LINK}


def known(fs_type: str = "ext4", *chain: dict[str, Any], **more: Any) -> KnownEvidence:
    return read_evidence({"kind": "file", "mount": {"fs_type": fs_type}, "block_chain": list(chain), **more})


def drive(transport: str | None, **more: Any) -> dict[str, Any]:
    return {"name": "sda", "transport": transport, **more}


@pytest.mark.parametrize(
    ("evidence", "storage", "medium", "caches"),
    [
        (known("ext4", drive("ata")), "local_disk", "block", ["drive_dram"]),
        (known("ext4", drive("usb")), "local_disk", "block", ["drive_dram"]),
        (known("ext4", drive("mmc")), "local_disk", "block", ["drive_dram"]),
        (known("ext4", drive(None)), "local_disk", "block", ["drive_dram"]),
        (known("ext4", drive("xen")), "vm_disk", "block", ["hypervisor_host"]),
        (known("ext4", drive("usb"), hypervisor=True), "vm_disk", "block", ["hypervisor_host"]),
        (known("ext4", drive("iscsi"), hypervisor=True), "iscsi", "network", ["nas_ram"]),
        (known("ext4", drive("nvme_fabrics")), "other", "network", ["nas_ram"]),
        (known("ext4", drive("network_block")), "other", "network", ["nas_ram"]),
        (known("ext4", drive("fc")), "other", "network", ["nas_ram"]),
        (known("ceph"), "other", "network", ["nas_ram"]),
        (known("vboxsf"), "other", "host_share", ["host_share"]),
        (known("nfs4", hypervisor=True), "nfs", "network", ["nas_ram"]),
        (known("fuse"), "fuse", "other", ["fuse_daemon"]),
        (known("zfs", hypervisor=True), "vm_disk", "block", ["zfs_arc", "hypervisor_host"]),
        (known("ext4", drive("zvol")), "other", "other", ["zfs_arc"]),
        (known("ext4", drive("ata"), {"name": "zram0", "transport": "zram"}), "ram", "other", ["drive_dram"]),
        (known("squashfs"), "other", "other", []),
        (read_evidence({}), "other", "other", []),
    ],
)
def test_class_medium_and_unseen_caches(evidence: KnownEvidence, storage: str, medium: str, caches: list[str]) -> None:
    found = storage_class(evidence)

    assert found == storage
    if storage != "ram":
        assert (medium_of(found, evidence), unseen_caches(evidence)) == (medium, caches)


def test_a_faster_tier_is_an_unseen_cache() -> None:
    chain = ({"name": "bcache0", "transport": "bcache", "slaves": ["sda", "sdb"]}, drive("ata"))

    assert unseen_caches(known("ext4", *chain)) == ["cache_tier", "drive_dram"]


def test_an_array_whose_members_are_hidden_is_no_drive() -> None:
    assert storage_class(known("ext4", {"name": "md0", "transport": "md", "slaves": []})) == "other"


@pytest.mark.parametrize(
    ("change", "real"),
    [
        ({}, True),
        ({"pcie": {**REAL_LINK, "speed": "2.5 GT/s PCIe", "width": 4}}, True),
        ({"pcie": {**REAL_LINK, "speed": "8.0 GT/s PCIe", "width": 1}}, True),
        ({"pcie": {**REAL_LINK, "speed": "2.5 GT/s PCIe", "width": 1}}, False),
        ({"pcie": {**REAL_LINK, "speed": "Unknown", "width": 0}}, False),
        ({"pcie": {**REAL_LINK, "width": 0}}, False),
        ({"pcie": None}, False),
        ({"pci_vendor": "0x1d0f"}, False),
        ({"pci_vendor": None}, False),
        ({"model": "QEMU NVMe Ctrl"}, False),
        ({"model": "Amazon Elastic Block Store"}, False),
        ({"model": None}, False),
        ({"transport": "ata"}, False),
    ],
)
def test_only_an_nvme_drive_with_a_real_link_vendor_and_model_is_passed_through(
    change: dict[str, Any], real: bool
) -> None:
    device = known_device({**REAL_NVME, **change})

    assert device is not None
    assert is_passed_through(device) is real
