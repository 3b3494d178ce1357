"""Scenarios on machines made of files: what is collected, and what it is judged to be."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from fake_machine import NVME_PLACE, SATA_PLACE, FakeMachine
from rerig_agent.evidence import collect_target
from rerig_agent.judge.classify import classify

NFS = (
    "rw,vers={vers},rsize=131072,wsize=131072,namlen=255,{hard},proto=tcp{nconnect},timeo=600,retrans=2,sec=sys,"
    "mountaddr=192.0.2.7,mountvers=3,mountport=892,clientaddr=192.0.2.9,local_lock=none,addr=192.0.2.7"
)
VM_PLACE = "pci0000:00/0000:00:02.0/virtio1/block/vda"


def names(evidence: dict[str, Any]) -> list[str]:
    return [device["name"] for device in evidence["block_chain"]]


def test_a_file_on_an_nvme_partition(machine: FakeMachine) -> None:
    machine.nvme()
    machine.partition(NVME_PLACE, "nvme0n1p2", "259:2")
    machine.mount("259:2", "/data", "ext4", "/dev/nvme0n1p2", "rw,errors=remount-ro")
    evidence = machine.collect(machine.file("/data/model.bin"))

    judged = classify(evidence)

    assert (evidence["kind"], evidence["real_path"], evidence["size_bytes"]) == ("file", "/data/model.bin", 8192)
    assert names(evidence) == ["nvme0n1p2", "nvme0n1"]
    assert evidence["read_ahead_kb"] == 128
    assert (judged["storage_class"], judged["medium"], judged["refusal"]) == ("local_disk", "block", None)
    assert judged["proof"] == {"source": "block", "device": "nvme0n1p2", "reason": None}
    assert judged["unseen_caches"] == ["drive_dram"]
    assert judged["file_system"]["options"] == ["rw", "relatime", "errors=remount-ro"]


def test_lvm_on_luks_on_md_on_nvme_partitions(machine: FakeMachine) -> None:
    second = NVME_PLACE.replace("nvme0", "nvme1").replace("03:00.0", "04:00.0")
    for place, disk, dev in ((NVME_PLACE, "nvme0n1", 0), (second, "nvme1n1", 10)):
        machine.nvme(f"259:{dev}", place)
        machine.partition(place, f"{disk}p1", f"259:{dev + 1}")
    machine.disk("virtual/block/md0", "9:0", ("nvme0n1p1", "nvme1n1p1"), md__level="raid0")
    machine.disk("virtual/block/dm-0", "253:0", ("md0",), dm__uuid="CRYPT-LUKS2-5ecre7", dm__name="luks-secret")
    machine.disk("virtual/block/dm-1", "253:1", ("dm-0",), dm__uuid="LVM-5ecre7", dm__name="vg-secret")
    machine.mount("253:1", "/", "xfs", "/dev/mapper/vg-secret", "rw,attr2,inode64,noquota")
    evidence = machine.collect(machine.file("/models/a.gguf"))

    judged = classify(evidence)

    assert names(evidence) == ["dm-1", "dm-0", "md0", "nvme0n1p1", "nvme0n1", "nvme1n1p1", "nvme1n1"]
    assert [device["dm_kind"] for device in judged["devices"]][:3] == ["lvm", "crypt", None]
    assert judged["storage_class"] == "local_disk"
    assert judged["proof"] == {"source": "block", "device": "md0", "reason": None}
    assert "secret" not in json.dumps(judged)


@pytest.mark.parametrize(("level", "reason"), [("raid1", "raid_redundancy"), ("raid5", "raid_redundancy")])
def test_an_array_with_copies_or_parity_proves_nothing(machine: FakeMachine, level: str, reason: str) -> None:
    machine.disk(SATA_PLACE, "8:0", queue__rotational="1")
    machine.disk(SATA_PLACE.replace("ata1", "ata2").replace("sda", "sdb"), "8:16", queue__rotational="1")
    machine.disk("virtual/block/md_home", "9:127", ("sda", "sdb"), md__level=level)
    machine.mount("9:127", "/data", "ext4", "/dev/md/home")

    judged = machine.classify(machine.file("/data/a"))

    assert judged["storage_class"] == "local_disk"
    assert judged["proof"] == {"source": "none", "device": None, "reason": reason}
    assert judged["count_devices"] == ["device0", "sda", "sdb"]
    assert judged["devices"][0]["name"] == "device0"
    assert judged["devices"][0]["md_level"] == level


def btrfs(machine: FakeMachine, options: str, devices: tuple[str, ...] = ("dm-0",)) -> dict[str, Any]:
    machine.disk(SATA_PLACE, "8:0")
    machine.disk("virtual/block/dm-0", "253:0", ("sda",), dm__uuid="CRYPT-LUKS2-x", dm__name="luks-home")
    for device in devices:
        machine.write(f"/sys/fs/btrfs/0b5c-uuid/devices/{device}/dev", "")
    machine.write("/sys/fs/btrfs/0b5c-uuid/bdi/read_ahead_kb", "4096\n")
    machine.mount("0:35", "/home", "btrfs", "/dev/mapper/luks-home", options, root="/@home")
    return machine.collect(machine.file("/home/someone/a.bin"))


def test_a_btrfs_subvolume_finds_its_device_by_the_mount_source(machine: FakeMachine) -> None:
    evidence = btrfs(machine, "rw,ssd,space_cache=v2,subvolid=257,subvol=/@home")

    judged = classify(evidence)

    assert names(evidence) == ["dm-0", "sda"]
    assert evidence["read_ahead_kb"] == 4096
    assert judged["proof"] == {"source": "block", "device": "sda", "reason": None}
    assert judged["file_system"]["options"] == ["rw", "relatime", "ssd", "space_cache=v2"]


@pytest.mark.parametrize("option", ["compress=zstd:3", "compress-force=lzo"])
def test_a_compressing_btrfs_proves_nothing(machine: FakeMachine, option: str) -> None:
    judged = classify(btrfs(machine, f"rw,{option},subvol=/@home"))

    assert judged["proof"] == {"source": "none", "device": None, "reason": "compressed_file_system"}
    assert option in judged["file_system"]["options"]


def test_a_btrfs_of_two_devices_lists_both_and_proves_nothing(machine: FakeMachine) -> None:
    machine.nvme()

    evidence = btrfs(machine, "rw", ("dm-0", "nvme0n1"))

    assert names(evidence) == ["dm-0", "sda", "nvme0n1"]
    assert classify(evidence)["proof"]["reason"] == "several_devices"


def test_a_btrfs_whose_source_is_no_device_here_says_so(machine: FakeMachine) -> None:
    machine.mount("0:35", "/", "btrfs", "/dev/root")
    evidence = machine.collect(machine.file("/a.bin"))

    judged = classify(evidence)

    assert evidence["unresolved"] == ["device"]
    assert judged["proof"]["reason"] == "device_unresolved"
    assert judged["storage_class"] == "other"


def test_zfs_hides_its_disks(machine: FakeMachine) -> None:
    machine.mount("0:40", "/tank", "zfs", "tank/secret", "rw,xattr,posixacl")

    evidence = machine.collect(machine.file("/tank/a.bin"))

    judged = classify(evidence)

    assert evidence["unresolved"] == []
    assert (judged["storage_class"], judged["proof"]["reason"]) == ("local_disk", "zfs")
    assert judged["unseen_caches"] == ["zfs_arc", "drive_dram"]
    assert judged["file_system"] == {"type": "zfs", "options": ["rw", "relatime", "posixacl"], "nfs": None, "smb": None}


@pytest.mark.parametrize("fs_type", ["tmpfs", "ramfs", "hugetlbfs"])
def test_memory_is_refused_by_its_name(machine: FakeMachine, fs_type: str) -> None:
    machine.mount("0:24", "/ram", fs_type, fs_type)

    judged = machine.classify(machine.file("/ram/model.bin"))

    assert judged["refusal"] == f'"model.bin" lies on {fs_type}, which is memory and no disk.'
    assert (judged["storage_class"], judged["refusal_code"]) == ("ram", "ram_file_system")
    assert judged["proof"]["source"] == "none"


@pytest.mark.parametrize(("place", "code"), [("virtual/block/zram0", "zram"), ("virtual/block/ram0", "ram_disk")])
def test_a_file_system_on_a_memory_device_is_refused(machine: FakeMachine, place: str, code: str) -> None:
    machine.disk(place, "252:0")
    machine.mount("252:0", "/fast", "ext4", "/dev/zram0")

    judged = machine.classify(machine.file("/fast/a"))

    assert (judged["storage_class"], judged["refusal_code"]) == ("ram", code)


def overlay(machine: FakeMachine, upper_type: str = "ext4", lower_type: str = "ext4", options: str = "") -> None:
    """/m over upper and lower, each on a file system of its own."""
    machine.disk(SATA_PLACE, "8:0")
    machine.disk(VM_PLACE, "254:0")
    machine.mount("8:0" if upper_type == "ext4" else "0:51", "/upper fs", upper_type, "/dev/sda")
    machine.mount("254:0" if lower_type == "ext4" else "0:52", "/lower", lower_type, "/dev/vda")
    for folder in ("/upper fs/up", "/upper fs/work", "/lower/one:two", "/lower/b"):
        (machine.root / folder[1:]).mkdir(parents=True)
    layers = r"rw,lowerdir=/lower/one\:two:/lower/b,upperdir=/upper fs/up,workdir=/upper fs/work"
    machine.mount("0:53", "/m", "overlay", "overlay", layers + options)


def in_layer(machine: FakeMachine, layer: str, name: str = "a.bin") -> str:
    """The file in its layer and, since nothing merges here, a copy that looks the same in the overlay."""
    source = machine.root / machine.file(f"{layer}/{name}")[1:]
    merged = machine.root / "m" / name
    merged.parent.mkdir(parents=True, exist_ok=True)
    merged.write_bytes(source.read_bytes())
    os.utime(str(merged), ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    return f"/m/{name}"


@pytest.mark.parametrize(
    ("layer", "device", "storage"),
    [("/upper fs/up", "sda", "local_disk"), ("/lower/one:two", "vda", "vm_disk"), ("/lower/b", "vda", "vm_disk")],
)
def test_an_overlay_leads_to_the_layer_that_holds_the_file(
    machine: FakeMachine, layer: str, device: str, storage: str
) -> None:
    overlay(machine)
    evidence = machine.collect(in_layer(machine, layer, "folder/a.bin"))

    judged = classify(evidence)

    assert names(evidence) == [device]
    assert evidence["unresolved"] == []
    assert len(evidence["lower_mounts"]) == 2
    assert judged["storage_class"] == storage
    assert judged["proof"] == {"source": "block", "device": device, "reason": None}
    assert judged["file_system"]["type"] == "overlay"
    assert not any("dir=" in option for option in judged["file_system"]["options"])


def test_an_overlay_file_in_memory_is_refused_and_its_neighbour_on_disk_is_not(machine: FakeMachine) -> None:
    overlay(machine, upper_type="tmpfs")
    changed, unchanged = in_layer(machine, "/upper fs/up", "changed"), in_layer(machine, "/lower/b", "unchanged")

    refused = machine.classify(changed)

    assert (refused["storage_class"], refused["refusal_code"]) == ("ram", "overlay_on_ram")
    assert refused["refusal"] == '"changed" lies on an overlay over tmpfs, which is memory and no disk.'
    assert machine.classify(unchanged)["refusal"] is None


def test_a_new_file_in_an_overlay_folder_would_go_to_the_upper_layer(machine: FakeMachine) -> None:
    overlay(machine, upper_type="tmpfs")
    (machine.root / "upper fs/up/new").mkdir()
    (machine.root / "lower/b/new").mkdir()
    (machine.root / "m/new").mkdir()

    as_file = dict(machine.collect("/m/new"), kind="file", size_bytes=2**30, allocated_bytes=2**30)

    assert classify(as_file)["refusal_code"] == "overlay_on_ram"


def test_an_overlay_whose_layers_are_elsewhere_is_unresolved(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.mount(
        "0:53", "/", "overlay", "overlay", "rw,lowerdir=/var/lib/x/l/AB:/var/lib/x/l/CD,upperdir=/var/lib/x/d"
    )

    judged = machine.classify(machine.file("/model.bin"))

    assert (judged["storage_class"], judged["medium"]) == ("other", "other")
    assert judged["proof"]["reason"] == "overlay_unresolved"
    assert judged["refusal"] is None


def test_another_file_at_the_layers_place_is_not_taken_for_the_file(machine: FakeMachine) -> None:
    overlay(machine)
    path = in_layer(machine, "/lower/b")
    os.utime(str(machine.root / path[1:]), (1, 1))

    assert machine.collect(path)["unresolved"] == ["overlay_layer"]


def test_an_overlay_over_an_overlay_is_followed(machine: FakeMachine) -> None:
    overlay(machine)
    machine.mount("0:54", "/top", "overlay", "overlay", "rw,lowerdir=/m,upperdir=/upper fs/work,workdir=/w")
    path = in_layer(machine, "/lower/b")
    top = machine.root / "top/a.bin"
    os.link(str(machine.root / path[1:]), str(top))

    evidence = machine.collect("/top/a.bin")

    assert names(evidence) == ["vda"]
    assert [mount["mount_point"] for mount in evidence["data_mounts"]] == ["/m", "/lower"]


def loop(machine: FakeMachine, backing: str) -> str:
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file=backing, loop__dio="0")
    machine.mount("7:0", "/looped", "ext4", "/dev/loop0")
    return machine.file("/looped/a.bin")


def test_a_loop_device_leads_to_its_files_disk(machine: FakeMachine) -> None:
    machine.nvme()
    machine.partition(NVME_PLACE, "nvme0n1p1", "259:1")
    machine.mount("259:1", "/images dir", "ext4", "/dev/nvme0n1p1")
    evidence = machine.collect(loop(machine, machine.file("/images dir/disk image\n1.img")))

    judged = classify(evidence)

    assert names(evidence) == ["loop0", "nvme0n1p1", "nvme0n1"]
    assert evidence["block_chain"][0]["slaves"] == ["nvme0n1p1"]
    assert judged["storage_class"] == "loop"
    assert judged["proof"] == {"source": "block", "device": "nvme0n1p1", "reason": None}
    assert "image" not in json.dumps(judged)


def test_a_partition_of_a_loop_device_leads_there_too(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.mount("8:0", "/images", "xfs", "/dev/sda")
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file=machine.file("/images/d.img"), loop__dio="1")
    machine.partition("virtual/block/loop0", "loop0p1", "259:5")
    machine.mount("259:5", "/looped", "ext4", "/dev/loop0p1")

    judged = machine.classify(machine.file("/looped/a.bin"))

    assert judged["count_devices"] == ["loop0p1", "loop0", "sda"]
    assert (judged["storage_class"], judged["proof"]["device"]) == ("loop", "sda")


def test_a_loop_device_over_memory_is_refused(machine: FakeMachine) -> None:
    machine.mount("0:24", "/ram disk", "tmpfs", "tmpfs")

    judged = machine.classify(loop(machine, machine.file("/ram disk/disk.img")))

    assert (judged["storage_class"], judged["refusal_code"]) == ("ram", "loop_on_ram")
    assert judged["refusal"] == (
        '"a.bin" lies on a loop device whose own file is on tmpfs, which is memory and no disk.'
    )


@pytest.mark.parametrize("backing", ["/gone.img (deleted)", "/of another name space.img"])
def test_a_loop_device_whose_file_is_not_here_proves_nothing(machine: FakeMachine, backing: str) -> None:
    judged = machine.classify(loop(machine, backing))

    assert (judged["storage_class"], judged["proof"]["reason"]) == ("loop", "loop_backing_unresolved")


def test_a_loop_device_over_nfs_proves_nothing(machine: FakeMachine) -> None:
    machine.mount("0:50", "/nas", "nfs4", "nas:/export", NFS.format(vers="4.2", hard="hard", nconnect=""))

    judged = machine.classify(loop(machine, machine.file("/nas/disk.img")))

    assert (judged["storage_class"], judged["proof"]["reason"]) == ("loop", "loop_backing_not_block")
    assert judged["unseen_caches"] == ["nas_ram"]


@pytest.mark.parametrize(("vers", "fs_type"), [("3", "nfs"), ("4.1", "nfs4"), ("4.2", "nfs4")])
@pytest.mark.parametrize("hard", ["hard", "soft"])
@pytest.mark.parametrize(("nconnect", "links"), [("", 1), (",nconnect=8", 8)])
def test_nfs(machine: FakeMachine, vers: str, fs_type: str, hard: str, nconnect: str, links: int) -> None:
    options = NFS.format(vers=vers, hard=hard, nconnect=nconnect)
    machine.mount("0:50", "/mnt/nas", fs_type, "secretnas.example.net:/volume1/secret", options)
    machine.write("/sys/class/bdi/0:50/read_ahead_kb", "15360\n")
    machine.write("/proc/net/route", ROUTES)
    machine.write("/sys/class/net/eth1/type", "1\n")
    machine.write("/sys/class/net/eth1/speed", "10000\n")
    machine.write("/sys/class/net/eth1/mtu", "9000\n")
    machine.write("/sys/class/net/eth1/device/vendor", "0x8086\n")
    evidence = machine.collect(machine.file("/mnt/nas/a.safetensors"))

    judged = classify(evidence)

    assert (judged["storage_class"], judged["medium"], judged["refusal"]) == ("nfs", "network", None)
    assert judged["proof"] == {"source": "nfs", "device": None, "reason": None}
    assert judged["unseen_caches"] == ["nas_ram"]
    assert evidence["read_ahead_kb"] == 15360
    assert judged["file_system"]["nfs"] == {
        "version": vers,
        "rsize": 131072,
        "wsize": 131072,
        "proto": "tcp",
        "hard": hard == "hard",
        "nconnect": links,
        "timeo": 600,
        "retrans": 2,
    }
    assert judged["link"] == {"speed_mbit": 10000, "mtu": 9000, "kind": "ethernet"}
    for secret in ("192.0.2", "secret", "volume1", "eth1"):
        assert secret not in json.dumps(judged)


ROUTES = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
"""


def test_cifs(machine: FakeMachine) -> None:
    options = (
        "rw,vers=3.1.1,cache=strict,username=someone,domain=SECRETDOMAIN,uid=1000,noforceuid,gid=1000,noforcegid,"
        "addr=192.0.2.7,file_mode=0755,soft,nounix,serverino,mapposix,rsize=4194304,wsize=4194304,bsize=1048576,"
        "multichannel,max_channels=4,echo_interval=60,actimeo=1"
    )
    machine.mount("0:60", "/smb", "cifs", "//secretnas/share", options)

    judged = machine.classify(machine.file("/smb/a"))

    assert (judged["storage_class"], judged["medium"], judged["proof"]["reason"]) == ("smb", "network", "smb")
    assert judged["file_system"]["smb"] == {
        "version": "3.1.1",
        "cache": "strict",
        "rsize": 4194304,
        "wsize": 4194304,
        "hard": False,
        "channels": 4,
    }
    for secret in ("someone", "SECRETDOMAIN", "secretnas", "192.0.2", "1000"):
        assert secret not in json.dumps(judged)


def test_an_iscsi_disk_is_a_network_with_a_block_counter(machine: FakeMachine) -> None:
    place = "platform/host3/session1/target3:0:0/3:0:0:0/block/sdc"
    machine.disk(place, "8:32", device__model="SECRET-LUN")
    machine.write("/sys/devices/platform/host3/session1/connection1:0/x", "")
    machine.write("/sys/class/iscsi_connection/connection1:0/address", "192.0.2.7\n")
    machine.write("/proc/net/route", ROUTES)
    machine.write("/sys/class/net/eth1/type", "1\n")
    machine.mount("8:32", "/lun", "ext4", "/dev/sdc")
    evidence = machine.collect(machine.file("/lun/a"))

    judged = classify(evidence)

    assert evidence["network"]["server_address"] == "192.0.2.7"
    assert evidence["network"]["interface"] == "eth1"
    assert (judged["storage_class"], judged["medium"]) == ("iscsi", "network")
    assert judged["proof"] == {"source": "block", "device": "sdc", "reason": None}
    assert judged["unseen_caches"] == ["nas_ram"]
    assert judged["devices"][0]["model"] is None


@pytest.mark.parametrize(
    ("fs_type", "source", "options", "storage", "medium", "caches"),
    [
        (
            "9p",
            "secret_share",
            "rw,sync,dirsync,access=client,msize=512000,trans=virtio",
            "9p",
            "host_share",
            ["host_share"],
        ),
        ("virtiofs", "secret_share", "rw", "virtiofs", "host_share", ["host_share"]),
        ("fuse.sshfs", "someone@secret:/x", "rw,user_id=1000,group_id=1000", "fuse", "other", ["fuse_daemon"]),
        ("fuse.secretfs", "secret", "rw,max_read=131072", "fuse", "other", ["fuse_daemon"]),
    ],
)
def test_shares_of_a_host_and_fuse_prove_nothing(
    machine: FakeMachine, fs_type: str, source: str, options: str, storage: str, medium: str, caches: list[str]
) -> None:
    machine.virtual()
    machine.mount("0:70", "/share", fs_type, source, options)

    judged = machine.classify(machine.file("/share/a"))

    assert (judged["storage_class"], judged["medium"], judged["refusal"]) == (storage, medium, None)
    assert (judged["proof"]["source"], judged["unseen_caches"]) == ("none", caches)
    assert "secret" not in json.dumps(judged)


def test_a_fuse_file_system_on_a_disk_is_fuse_with_its_disk_known(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.mount("8:0", "/win", "fuseblk", "/dev/sda", "rw,user_id=0,group_id=0,allow_other,blksize=4096")

    judged = machine.classify(machine.file("/win/a"))

    assert (judged["storage_class"], judged["proof"]["reason"]) == ("fuse", "fuse")
    assert judged["unseen_caches"] == ["fuse_daemon", "drive_dram"]


def test_a_virtio_disk_is_the_hypervisors(machine: FakeMachine) -> None:
    machine.disk(VM_PLACE, "254:0")
    machine.mount("254:0", "/", "ext4", "/dev/vda")

    judged = machine.classify(machine.file("/a"))

    assert (judged["storage_class"], judged["medium"]) == ("vm_disk", "block")
    assert judged["unseen_caches"] == ["hypervisor_host"]
    assert judged["proof"] == {"source": "block", "device": "vda", "reason": None}


def test_a_sata_disk_of_a_virtual_machine_is_the_hypervisors(machine: FakeMachine) -> None:
    machine.virtual()
    machine.disk(SATA_PLACE, "8:0", device__model="QEMU HARDDISK")
    machine.mount("8:0", "/", "ext4", "/dev/sda")

    assert machine.classify(machine.file("/a"))["storage_class"] == "vm_disk"


def test_an_emulated_nvme_drive_is_the_hypervisors_and_a_passed_through_one_is_not(machine: FakeMachine) -> None:
    machine.virtual()
    machine.nvme()
    machine.mount("259:0", "/", "ext4", "/dev/nvme0n1")
    path = machine.file("/a")

    passed_through = machine.classify(path)
    pci = "/sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0"
    machine.write(f"{pci}/vendor", "0x1b36\n")
    emulated = machine.classify(path)

    assert passed_through["storage_class"] == "local_disk"
    assert passed_through["unseen_caches"] == ["hypervisor_host", "drive_dram"]  # there is no proof from inside
    assert (emulated["storage_class"], emulated["unseen_caches"]) == ("vm_disk", ["hypervisor_host"])


def test_a_multipath_nvme_drive_of_one_path_is_counted_there(machine: FakeMachine) -> None:
    head = "virtual/nvme-subsystem/nvme-subsys0/nvme0n1"
    machine.disk(head, "259:0")
    machine.partition(head, "nvme0n1p1", "259:1")
    machine.nvme("259:2", "pci0000:00/0000:03:00.0/nvme/nvme0/nvme0c0n1")
    machine.mount("259:1", "/", "ext4", "/dev/nvme0n1p1")
    path = machine.file("/a")

    one = machine.classify(path)
    machine.nvme("259:3", "pci0000:00/0000:04:00.0/nvme/nvme1/nvme0c1n1")
    two = machine.classify(path)

    assert one["proof"] == {"source": "block", "device": "nvme0c0n1", "reason": None}
    assert one["storage_class"] == "local_disk"
    assert two["proof"]["reason"] == "nvme_multipath"


def test_of_an_autofs_pair_the_later_mount_counts(machine: FakeMachine) -> None:
    machine.mount("0:45", "/nas", "autofs", "/etc/auto.nas", "rw,fd=7,pgrp=1,timeout=300,indirect")
    machine.mount("0:46", "/nas/models", "autofs", "/etc/auto.nas", "rw,fd=7,pgrp=1,timeout=300,offset")
    machine.mount("0:50", "/nas/models", "nfs4", "nas:/m", NFS.format(vers="4.1", hard="hard", nconnect=""))

    assert machine.classify(machine.file("/nas/models/a"))["storage_class"] == "nfs"


def test_a_bind_mount_leads_to_the_device_of_what_it_shows(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.mount("8:0", "/data", "ext4", "/dev/sda")
    machine.mount("8:0", "/srv/models", "ext4", "/dev/sda", root="/some/folder")

    judged = machine.classify(machine.file("/srv/models/a"))

    assert (judged["storage_class"], judged["proof"]["device"]) == ("local_disk", "sda")


def test_a_symlink_is_followed_to_the_mount_of_its_target(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.mount("8:0", "/data", "ext4", "/dev/sda")
    machine.file("/data/real.bin")
    (machine.root / "link.bin").symlink_to("data/real.bin")

    evidence = machine.collect("/link.bin")

    assert (evidence["real_path"], names(evidence)) == ("/data/real.bin", ["sda"])


@pytest.mark.parametrize(
    "name",
    [
        "with spaces in it.bin",
        'it\'s "quoted".bin',
        "a:b.bin",
        "new\nline",
        "tab\tand \\040 backslash",
        "모델 파일.safetensors",
        "-rf",
        "x" * 255,
        "\udcff not utf-8",
    ],
)
def test_names_of_all_kinds_are_collected_and_named_in_one_printable_line(machine: FakeMachine, name: str) -> None:
    machine.mount("0:24", f"/ram {name}"[:200], "tmpfs", "tmpfs")

    evidence = machine.collect(machine.file(f"{f'/ram {name}'[:200]}/{name}"))
    sentence = classify(evidence)["refusal"]

    assert evidence["kind"] == "file"
    assert json.loads(json.dumps(evidence))["path"].endswith(name)
    assert sentence.isprintable()
    sentence.encode("utf-8")
    assert classify(evidence)["refusal_code"] == "ram_file_system"


def bad_files(folder: Path) -> dict[str, str]:
    (folder / "folder").mkdir()
    os.mkfifo(str(folder / "fifo"))
    (folder / "dangling_link").symlink_to("nowhere")
    (folder / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
    (folder / "file").write_text("x")
    return {
        "folder": "directory",
        "fifo": "fifo",
        "dangling_link": "dangling_link",
        "circle": "dangling_link",
        "socket": "socket",
        "missing": "missing",
        "file/below": "missing",
        "y" * 256: "missing",
        "nul\0byte": "missing",
    }


def test_every_kind_of_bad_file_is_named_and_refused_in_a_sentence_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    sentences = {}

    for name, kind in bad_files(Path()).items():
        evidence = collect_target(name)
        judged = classify(evidence)
        assert (name, evidence["kind"], judged["refusal_code"]) == (name, kind, kind)
        assert judged["refusal"].endswith(".")
        assert str(tmp_path) not in judged["refusal"]
        sentences[kind] = judged["refusal"].split('" ')[-1]

    assert len(set(sentences.values())) == len(sentences)


def test_devices_are_refused() -> None:
    assert classify(collect_target("/dev/null"))["refusal_code"] == "char_device"


def test_the_empty_name_is_missing() -> None:
    assert collect_target("")["kind"] == "missing"


def test_a_relative_path_is_collected_with_its_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-rf").write_bytes(b"x" * 8192)

    assert collect_target("-rf")["real_path"] == str(tmp_path.resolve() / "-rf")


def test_a_machine_without_proc_and_sys_gives_evidence_with_gaps(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x" * 8192)

    evidence = collect_target("/a.bin", root=tmp_path)

    assert (evidence["kind"], evidence["mount"], evidence["unresolved"]) == ("file", None, ["mount"])
    assert classify(evidence)["proof"]["reason"] == "device_unresolved"


def test_real_evidence_is_json_and_finds_the_mount_of_this_file() -> None:
    evidence = collect_target(__file__)

    assert evidence["kind"] == "file"
    assert evidence["mount"] is not None
    assert json.loads(json.dumps(evidence)) == evidence
