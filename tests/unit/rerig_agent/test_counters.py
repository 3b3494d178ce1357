from __future__ import annotations

import os
import time
from typing import Any

from fake_machine import NVME_PLACE, STAT, FakeMachine
from rerig_agent.counters import take
from rerig_agent.judge.classify import classify

MOUNTSTATS = """device proc mounted on /proc with fstype proc
device nas:/a mounted on /mnt/nas with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2
\tage:\t10
\tbytes:\t1 2 3 4 5 6 7 8

device nas:/b mounted on /mnt/nas\\040two with fstype nfs4 statvers=1.1
\tage:\t20
\tbytes:\t10 20 30 40 50 60 70 80

device sysfs mounted on /sys with fstype sysfs
"""
NET_DEV = "Inter-|   Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"


def snapshot(machine: FakeMachine, path: str) -> dict[str, Any]:
    evidence = machine.collect(path)
    return take(classify(evidence), evidence, machine.root)


def test_every_device_of_the_chain_is_read_raw(machine: FakeMachine) -> None:
    machine.nvme()
    machine.partition(NVME_PLACE, "nvme0n1p2", "259:2")
    machine.disk("virtual/block/md_home", "9:1", ("nvme0n1p2",), md__level="raid0")
    machine.mount("9:1", "/data", "ext4", "/dev/md/home")
    machine.write(f"/sys/devices/{NVME_PLACE}/nvme0n1p2/stat", " 7 0 56 1\n")

    taken = snapshot(machine, machine.file("/data/a"))

    # The array's own name is a person's, so it is counted under the one that may be shared.
    assert taken["block"] == {"device0": STAT, "nvme0n1p2": " 7 0 56 1\n", "nvme0n1": STAT}
    assert (taken["mountstats"], taken["net_dev"]) == (None, None)


def test_of_nfs_only_the_one_mount_and_all_interfaces_are_read(machine: FakeMachine) -> None:
    machine.write("/proc/self/mountstats", MOUNTSTATS)
    machine.write("/proc/net/dev", NET_DEV)
    for number, point in enumerate(("/mnt/nas", "/mnt/nas two")):
        machine.mount(f"0:{50 + number}", point, "nfs4", "nas:/x", "rw,vers=4.2")

    taken = snapshot(machine, machine.file("/mnt/nas two/a"))

    assert taken["mountstats"].startswith("device nas:/b ")
    assert "10 20 30 40" in taken["mountstats"]
    assert "nas:/a" not in taken["mountstats"]
    assert "sysfs" not in taken["mountstats"]
    assert taken["net_dev"] == NET_DEV
    assert taken["block"] == {}


def test_of_an_overlay_over_nfs_the_mount_below_is_read(machine: FakeMachine) -> None:
    machine.write("/proc/self/mountstats", MOUNTSTATS)
    machine.mount("0:50", "/mnt/nas", "nfs4", "nas:/x", "rw,vers=4.2")
    machine.mount("0:51", "/merged", "overlay", "o", "rw,lowerdir=/mnt/nas:/elsewhere")
    machine.file("/mnt/nas/a")
    os.link(str(machine.root / "mnt/nas/a"), str(machine.root / "merged/a"))

    taken = snapshot(machine, "/merged/a")

    assert taken["mountstats"].startswith("device nas:/a ")


def test_missing_counters_are_none_and_not_raised(machine: FakeMachine) -> None:
    machine.mount("0:50", "/mnt/nas", "nfs4", "nas:/x", "rw,vers=4.2")

    taken = snapshot(machine, machine.file("/mnt/nas/a"))

    assert (taken["mountstats"], taken["net_dev"]) == (None, None)
    assert take({}, {}, machine.root)["block"] == {}


def test_a_loop_device_over_nfs_counts_only_the_device(machine: FakeMachine) -> None:
    machine.write("/proc/self/mountstats", MOUNTSTATS)
    machine.mount("0:50", "/mnt/nas", "nfs4", "nas:/x", "rw,vers=4.2")
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file=machine.file("/mnt/nas/d.img"))
    machine.mount("7:0", "/looped", "ext4", "/dev/loop0")

    assert snapshot(machine, machine.file("/looped/a"))["block"] == {"loop0": STAT}


def test_snapshots_carry_the_monotonic_clock(machine: FakeMachine) -> None:
    before = time.monotonic()

    first, second = take({}, {}, machine.root), take({}, {}, machine.root)

    assert before <= first["monotonic_s"] <= second["monotonic_s"] <= time.monotonic()
