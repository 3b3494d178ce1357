from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fake_machine import NVME_PLACE, SATA_PLACE, FakeMachine
from rerig_agent.facts.block import describe_device, device_name, named_device

PLACES = {
    "virtio": "pci0000:00/0000:00:02.0/virtio1/block/vda",
    "usb": "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb",
    "ata": SATA_PLACE,
    "iscsi": "platform/host3/session1/target3:0:0/3:0:0:0/block/sdc",
    "fc": "pci0000:00/0000:04:00.0/host9/rport-9:0-1/target9:0:0/9:0:0:0/block/sdd",
    "scsi": "pci0000:00/0000:05:00.0/host7/target7:0:0/7:0:0:0/block/sde",
    "mmc": "platform/soc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0",
    "xen": "vbd-51712/block/xvda",
    "nvme": NVME_PLACE,
    "zram": "virtual/block/zram0",
    "ram": "virtual/block/ram0",
    "loop": "virtual/block/loop0",
    "pmem": "LNXSYSTM:00/ndbus0/region0/namespace0.0/block/pmem0",
    "bcache": "virtual/block/bcache0",
    "zvol": "virtual/block/zd0",
    "network_block": "virtual/block/nbd0",
}


def described(machine: FakeMachine, name: str) -> dict[str, Any]:
    device = describe_device(name, machine.root)
    assert device is not None
    return device


@pytest.mark.parametrize("transport", PLACES)
def test_the_transport_is_told_from_the_place_in_sys(machine: FakeMachine, transport: str) -> None:
    name = machine.disk(PLACES[transport], "8:0")

    assert described(machine, name)["transport"] == transport


def test_virtio_scsi_is_virtio(machine: FakeMachine) -> None:
    name = machine.disk("pci0000:00/0000:00:05.0/virtio2/host2/target2:0:0/2:0:0:0/block/sda", "8:0")

    assert described(machine, name)["transport"] == "virtio"


def test_a_drive_is_described_without_its_serial_number(machine: FakeMachine) -> None:
    name = machine.nvme(serial="S3CR3TSERIAL", wwid="eui.0025385b71b0c5d2")

    device = described(machine, name)

    assert device["model"] == "Some SSD 2TB"
    assert (device["dev"], device["size_bytes"], device["logical_block_bytes"]) == ("259:0", 1_024_000_000, 512)
    assert (device["rotational"], device["read_ahead_kb"], device["max_sectors_kb"]) == (False, 128, 1280)
    assert device["scheduler"] == "none"
    assert device["pcie"] == {
        "speed": "16.0 GT/s PCIe",
        "width": 4,
        "max_speed": "16.0 GT/s PCIe",
        "max_width": 4,
    }
    assert "S3CR3T" not in json.dumps(device)
    assert "0025385b71b0c5d2" not in json.dumps(device)


def test_a_partition_has_its_own_size_and_its_disks_queue(machine: FakeMachine) -> None:
    machine.nvme(queue__read_ahead_kb="4096")
    name = machine.partition(NVME_PLACE, "nvme0n1p2", "259:2")

    device = described(machine, name)

    assert (device["partition_of"], device["size_bytes"], device["read_ahead_kb"]) == ("nvme0n1", 512_000_000, 4096)
    assert (device["transport"], device["model"]) == ("nvme", "Some SSD 2TB")


def test_an_nvme_drive_behind_tcp_is_a_network_drive(machine: FakeMachine) -> None:
    place = "virtual/nvme-fabrics/ctl/nvme3/nvme3n1"
    name = machine.nvme("259:9", place)
    machine.write("/sys/devices/virtual/nvme-fabrics/ctl/nvme3/transport", "tcp\n")

    assert described(machine, name)["transport"] == "nvme_fabrics"


def test_a_multipath_head_reads_from_its_paths(machine: FakeMachine) -> None:
    head = machine.disk("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:0")
    machine.nvme("259:1", "pci0000:00/0000:03:00.0/nvme/nvme0/nvme0c0n1")
    machine.nvme("259:2", "pci0000:00/0000:04:00.0/nvme/nvme1/nvme0c1n1")
    machine.nvme("259:3", "pci0000:00/0000:05:00.0/nvme/nvme2/nvme1c2n1")

    device = described(machine, head)

    assert (device["slaves"], device["is_multipath_head"]) == (["nvme0c0n1", "nvme0c1n1"], True)
    assert described(machine, "nvme0c0n1")["is_multipath_head"] is False


@pytest.mark.parametrize(
    ("uuid", "kind"),
    [
        ("LVM-Yx2QSECRETuuid", "lvm"),
        ("CRYPT-LUKS2-5ecre7-luks-home", "crypt"),
        ("mpath-36001405secret", "multipath"),
        ("part1-mpath-36001405secret", "partition"),
        ("VDO-secret", "vdo"),
        ("", "other"),
    ],
)
def test_a_mapped_device_keeps_the_kind_and_loses_name_and_uuid(machine: FakeMachine, uuid: str, kind: str) -> None:
    name = machine.disk("virtual/block/dm-0", "253:0", dm__uuid=uuid, dm__name="secret-home")

    device = described(machine, name)

    assert (device["transport"], device["dm_kind"]) == ("dm", kind)
    assert "secret" not in json.dumps(device).lower()


@pytest.mark.parametrize(
    ("hidden", "kind"),
    [
        ("vg-home_rimage_0", "lvm_raid"),
        ("vg-home_mimage_1", "lvm_raid"),
        ("vg-pool_cdata", "lvm_cache"),
        ("vg-fast_cvol-cdata", "lvm_cache"),
        ("vg-home_vpool0-vpool", "lvm"),
        ("vg-vpool0_vdata", "vdo"),
        ("vg-pool-tpool", "lvm"),
    ],
)
def test_the_names_of_hidden_volumes_tell_what_lvm_does(machine: FakeMachine, hidden: str, kind: str) -> None:
    machine.disk("virtual/block/dm-1", "253:1", dm__uuid="LVM-b", dm__name=hidden)
    name = machine.disk("virtual/block/dm-0", "253:0", ("dm-1",), dm__uuid="LVM-a", dm__name="vg-home")

    assert described(machine, name)["dm_kind"] == kind


def test_an_array_tells_its_level_and_members(machine: FakeMachine) -> None:
    name = machine.disk("virtual/block/md127", "9:127", ("sda1", "sdb1"), md__level="raid5")

    device = described(machine, name)

    assert (device["transport"], device["md_level"], device["slaves"]) == ("md", "raid5", ["sda1", "sdb1"])


@pytest.mark.parametrize("path", ["/data/disk image", "/data/a\nb", "/data/\udcff", "/data/새 파일"])
def test_a_loop_device_tells_the_path_of_its_file_as_it_is(machine: FakeMachine, path: str) -> None:
    name = machine.disk("virtual/block/loop0", "7:0", loop__backing_file=path, loop__dio="1")

    device = described(machine, name)

    assert (device["loop_backing_path"], device["loop_direct"]) == (path, True)


def test_switched_off_counters_are_seen(machine: FakeMachine) -> None:
    assert described(machine, machine.disk(SATA_PLACE, "8:0", queue__iostats="0"))["counts_io"] is False
    assert described(machine, machine.disk(PLACES["virtio"], "254:0"))["counts_io"] is True


@pytest.mark.parametrize(("text", "active"), [("[none]", "none"), ("mq-deadline [bfq] none", "bfq"), ("none", "none")])
def test_the_active_scheduler_is_the_one_in_brackets(machine: FakeMachine, text: str, active: str) -> None:
    assert described(machine, machine.disk(SATA_PLACE, "8:0", queue__scheduler=text))["scheduler"] == active


def test_a_device_without_any_attribute_is_described_all_the_same(machine: FakeMachine) -> None:
    (machine.root / "sys/class/block/sdz").mkdir(parents=True)

    device = described(machine, "sdz")

    assert device["size_bytes"] is None
    assert device["rotational"] is None
    assert describe_device("sdy", machine.root) is None


def test_a_device_number_leads_to_its_name_with_and_without_the_index(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.partition(SATA_PLACE, "sda1", "8:1")

    assert device_name("8:1", machine.root) == "sda1"
    (machine.root / "sys/dev/block/8:1").unlink()
    assert device_name("8:1", machine.root) == "sda1"
    assert device_name("8:2", machine.root) is None
    assert device_name("../8:1", machine.root) is None


def test_a_mount_source_leads_to_a_device_by_link_kernel_name_or_mapper_name(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.disk("virtual/block/dm-3", "253:3", dm__name="vg-data")
    link = machine.write("/dev/sda", "").parent / "by-uuid"
    link.symlink_to("sda")

    assert named_device("/dev/sda", machine.root) == "sda"
    assert named_device("/dev/by-uuid", machine.root) == "sda"
    assert named_device("/dev/mapper/vg-data", machine.root) == "dm-3"
    assert named_device("/dev/root", machine.root) is None
    assert named_device("server:/export", machine.root) is None


def test_the_disks_of_this_machine_are_described() -> None:
    names = sorted(path.name for path in Path("/sys/class/block").glob("*"))
    if not names:
        pytest.skip("this machine shows no block devices (a container)")

    for name in names:
        device = describe_device(name, Path("/"))
        assert device is not None
        assert device["name"] == name
        assert device["dev"] is None or device_name(device["dev"], Path("/")) == name
