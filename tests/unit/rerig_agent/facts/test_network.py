from __future__ import annotations

from typing import Any

import pytest

from fake_machine import FakeMachine
from rerig_agent.facts.network import describe_interface, describe_network, route_interface, server_address

ROUTES = """Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
eth1\t006433C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth2\t0A6433C6\t00000000\t0001\t0\t0\t0\tFFFFFFFF\t0\t0\t0
eth3\t0B6433C6\t00000000\t0000\t0\t0\t0\tFFFFFFFF\t0\t0\t0
broken line
"""
ROUTES6 = """20010db8000000000000000000000000 20 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000002 00000000 00000003     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000800 00000001 00000000 00000003    wlan0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
"""  # noqa: E501 - as the kernel prints it


@pytest.fixture
def routed(machine: FakeMachine) -> FakeMachine:
    machine.write("/proc/net/route", ROUTES)
    machine.write("/proc/net/ipv6_route", ROUTES6)
    return machine


@pytest.mark.parametrize(
    ("address", "interface"),
    [
        ("203.0.113.9", "eth0"),  # the default route of the lower metric
        ("198.51.100.9", "eth1"),
        ("198.51.100.10", "eth2"),  # a host route is longer
        ("198.51.100.11", "eth1"),  # the longer one is down
        ("::ffff:198.51.100.9", "eth1"),
        ("2001:db8::7", "eth1"),
        ("2001:db9::7", "eth0"),
        ("fe80::1%wlan0", "wlan0"),
        ("127.0.0.1", "lo"),
        ("::1", "lo"),
        ("nas.example.net", None),
    ],
)
def test_the_longest_route_decides_the_interface(routed: FakeMachine, address: str, interface: str | None) -> None:
    assert route_interface(address, routed.root) == interface


def test_without_routes_there_is_no_interface(machine: FakeMachine) -> None:
    assert route_interface("192.0.2.7", machine.root) is None
    assert route_interface("2001:db8::7", machine.root) is None


@pytest.mark.parametrize(
    ("mount", "address"),
    [
        ({"fs_type": "nfs4", "super_options": ["rw", "addr=192.0.2.7"], "source": "nas:/x"}, "192.0.2.7"),
        ({"fs_type": "nfs4", "super_options": ["addr=2001:db8::7"], "source": "nas:/x"}, "2001:db8::7"),
        ({"fs_type": "nfs", "super_options": ["rw"], "source": "192.0.2.8:/x"}, "192.0.2.8"),
        ({"fs_type": "nfs", "super_options": ["rw"], "source": "[2001:db8::8]:/x"}, "2001:db8::8"),
        ({"fs_type": "cifs", "super_options": ["addr=192.0.2.9"], "source": "//nas/x"}, "192.0.2.9"),
        ({"fs_type": "ceph", "super_options": ["name=x"], "source": "192.0.2.5:6789,192.0.2.6:6789:/"}, "192.0.2.5"),
        ({"fs_type": "9p", "super_options": ["trans=tcp"], "source": "192.0.2.4"}, "192.0.2.4"),
        ({"fs_type": "9p", "super_options": ["trans=virtio"], "source": "share"}, None),
        ({"fs_type": "nfs4", "super_options": ["addr=nas"], "source": "nas:/x"}, None),
        ({"fs_type": "ext4", "super_options": ["rw"], "source": "/dev/sda"}, None),
    ],
)
def test_a_servers_address_is_read_and_never_looked_up(mount: dict[str, Any], address: str | None) -> None:
    assert server_address(mount) == address


def test_an_nvme_drive_behind_tcp_leads_to_its_server(routed: FakeMachine) -> None:
    place = "virtual/nvme-fabrics/ctl/nvme3/nvme3n1"
    routed.nvme("259:9", place)
    routed.write("/sys/devices/virtual/nvme-fabrics/ctl/nvme3/address", "traddr=198.51.100.9,trsvcid=4420\n")
    chain = [{"name": "nvme3n1", "transport": "nvme_fabrics", "partition_of": None}]

    found = describe_network({"fs_type": "ext4"}, chain, routed.root)

    assert found is not None
    assert (found["server_address"], found["interface"]) == ("198.51.100.9", "eth1")


def test_a_local_mount_has_no_network(machine: FakeMachine) -> None:
    assert describe_network({"fs_type": "ext4", "source": "/dev/sda"}, [], machine.root) is None


INTERFACES = {
    "ethernet": {"type": "1", "device/vendor": "0x8086", "speed": "2500"},
    "wireless": {"type": "1", "device/vendor": "0x8086", "uevent": "DEVTYPE=wlan\nINTERFACE=x"},
    "bridge": {"type": "1", "uevent": "DEVTYPE=bridge", "speed": "2500"},
    "bond": {"type": "1", "uevent": "DEVTYPE=bond", "speed": "20000"},
    "vlan": {"type": "1", "uevent": "DEVTYPE=vlan", "speed": "10000"},
    "virtual": {"type": "1", "speed": "10000"},
    "loopback": {"type": "772"},
    "tunnel": {"type": "65534", "speed": "10"},
    "infiniband": {"type": "32", "device/vendor": "0x15b3", "speed": "100000"},
}
SPEEDS = {"ethernet": 2500, "bond": 20000, "vlan": 10000, "infiniband": 100000}


@pytest.mark.parametrize("kind", INTERFACES)
def test_interfaces_tell_their_kind_and_real_ones_their_speed(machine: FakeMachine, kind: str) -> None:
    for file, text in {"mtu": "1500", **INTERFACES[kind]}.items():
        machine.write(f"/sys/class/net/eth0/{file}", text + "\n")

    found = describe_interface("eth0", machine.root)

    assert found == {"speed_mbit": SPEEDS.get(kind), "mtu": 1500, "kind": kind}


def test_a_virtual_driver_makes_up_its_speed(machine: FakeMachine) -> None:
    for file, text in {"type": "1", "speed": "10000", "mtu": "1500"}.items():
        machine.write(f"/sys/class/net/eth0/{file}", text + "\n")
    driver = machine.write("/sys/bus/virtio/drivers/virtio_net/x", "").parent
    (machine.root / "sys/class/net/eth0/device").mkdir()
    (machine.root / "sys/class/net/eth0/device/driver").symlink_to(driver)

    assert describe_interface("eth0", machine.root)["kind"] == "virtual"
    assert describe_interface("eth0", machine.root)["speed_mbit"] is None


def test_a_link_that_is_down_has_no_speed(machine: FakeMachine) -> None:
    for file, text in {"type": "1", "device/vendor": "0x8086", "speed": "-1"}.items():
        machine.write(f"/sys/class/net/eth0/{file}", text + "\n")

    assert describe_interface("eth0", machine.root) == {"speed_mbit": None, "mtu": None, "kind": "ethernet"}
    assert describe_interface("eth9", machine.root) == {"speed_mbit": None, "mtu": None, "kind": None}
