from __future__ import annotations

from typing import NoReturn

import pytest

from fake_machine import SATA_PLACE, FakeMachine
from rerig_agent.facts.device_chain import device_chain, mount_devices


def no_file(path: str) -> NoReturn:
    raise AssertionError(path)


def names(machine: FakeMachine, *first: str) -> list[str]:
    return [device["name"] for device in device_chain(list(first), machine.root, no_file)]


def test_each_device_is_met_once(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    for number in (1, 2):
        machine.partition(SATA_PLACE, f"sda{number}", f"8:{number}")
    machine.disk("virtual/block/md0", "9:0", ("sda1", "sda2"), md__level="raid0")

    assert names(machine, "md0") == ["md0", "sda1", "sda", "sda2"]


def test_circles_and_missing_devices_end(machine: FakeMachine) -> None:
    machine.disk("virtual/block/dm-0", "253:0", ("dm-1", "gone"))
    machine.disk("virtual/block/dm-1", "253:1", ("dm-0",))

    assert names(machine, "dm-0") == ["dm-0", "dm-1"]
    assert names(machine, "gone") == []


def test_a_loop_device_asks_once_for_what_is_below_its_file(machine: FakeMachine) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file="/d.img")
    machine.partition("virtual/block/loop0", "loop0p1", "259:0")
    asked: list[str] = []

    def below(path: str) -> list[str]:
        asked.append(path)
        return ["sda"]

    chain = device_chain(["loop0p1"], machine.root, below)

    assert [(device["name"], device["slaves"]) for device in chain] == [
        ("loop0p1", []),
        ("loop0", ["sda"]),
        ("sda", []),
    ]
    assert asked == ["/d.img"]


@pytest.mark.parametrize(
    ("dev", "fs_type", "source", "found"),
    [
        ("8:0", "ext4", "/dev/anything", ["sda"]),
        ("8:9", "ext4", "/dev/sda", []),
        ("0:40", "btrfs", "/dev/sda", ["sda", "sda1"]),
        ("0:40", "bcachefs", "/dev/sda:/dev/sda1:/dev/gone", ["sda", "sda1"]),
        ("0:40", "zfs", "tank/x", []),
        ("0:40", "nfs4", "nas:/x", []),
        ("0:40", "tmpfs", "/dev/sda", []),
    ],
)
def test_the_devices_of_a_mount(machine: FakeMachine, dev: str, fs_type: str, source: str, found: list[str]) -> None:
    machine.disk(SATA_PLACE, "8:0")
    machine.partition(SATA_PLACE, "sda1", "8:1")
    for name in ("sda1", "sda"):
        machine.write(f"/sys/fs/btrfs/uuid/devices/{name}/dev", "")
    machine.write("/sys/fs/btrfs/features/x", "")

    assert mount_devices({"dev": dev, "fs_type": fs_type, "source": source}, machine.root) == found
