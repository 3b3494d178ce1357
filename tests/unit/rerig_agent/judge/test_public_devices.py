from __future__ import annotations

import pytest

from rerig_agent.judge.known_evidence import known_device
from rerig_agent.judge.public_devices import device_aliases, public_device


@pytest.mark.parametrize(
    "name",
    "sda sda1 sdaa vda1 xvda hda nvme0n1 nvme0n1p12 nvme0c1n1 mmcblk0 mmcblk0p1 mmcblk1boot0 dm-0 md0 md127p1 loop0"
    " loop0p1 zram0 bcache0 nbd0p2 sr0 pmem0.1s zd16p1 dasda1 ublkb0".split(" "),
)
def test_the_kernels_own_names_stay(name: str) -> None:
    assert device_aliases([{"name": name}]) == {name: name}


@pytest.mark.parametrize("name", ["md_home", "md_home1", "someone", "sda/../x", "sda\n", "nvme0n1someone"])
def test_other_names_become_numbers_that_stay_apart(name: str) -> None:
    aliases = device_aliases([{"name": "sda"}, {"name": name}, {"name": "md_other"}])

    assert aliases == {"sda": "sda", name: "device1", "md_other": "device2"}


def test_relations_use_the_same_names() -> None:
    chain = [{"name": "md_home1", "partition_of": "md_home"}, {"name": "md_home", "slaves": ["sda", "gone"]}]
    devices = [known_device(device) for device in [*chain, {"name": "sda"}]]
    known = [device for device in devices if device is not None]

    shown = [public_device(device, device_aliases(known)) for device in known]

    assert [(device["name"], device["partition_of"], device["slaves"]) for device in shown] == [
        ("device0", "device1", []),
        ("device1", None, ["sda"]),
        ("sda", None, []),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "someone's\ndisk"),
        ("model", "x" * 65),
        ("transport", "someone"),
        ("dm_kind", "someone"),
        ("md_level", "someone"),
        ("scheduler", "someone"),
        ("size_bytes", -1),
    ],
)
def test_strange_values_are_left_out(key: str, value: object) -> None:
    device = known_device({"name": "sda", key: value})

    assert device is not None
    assert public_device(device, {"sda": "sda"})[key] is None


def test_a_pcie_link_passes_in_its_own_words_only() -> None:
    device = known_device({"name": "nvme0n1", "pcie": {"speed": "8.0 GT/s PCIe", "width": 4, "max_speed": "someone"}})

    assert device is not None
    assert public_device(device, {"nvme0n1": "nvme0n1"})["pcie"] == {
        "speed": "8.0 GT/s PCIe",
        "width": 4,
        "max_speed": None,
        "max_width": None,
    }
