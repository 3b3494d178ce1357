"""What a container says where it can't be had, and how its addresses are found."""

from __future__ import annotations

import os
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from twin import container, link_addresses, loop_disk
from twin.container import Container
from twin.errors import TwinError
from twin.link_addresses import POOL, reserve_addresses, used_networks
from twin.loop_disk import LoopDisk

ROUTES = """\
default via 192.0.2.1 dev eth0
10.0.0.0/8 dev wlan0 proto kernel scope link src 10.1.2.3
blackhole 198.18.4.0/24
local 192.0.2.2 dev eth0 table local proto kernel scope host src 192.0.2.2
broadcast 192.0.2.255 dev eth0 table local
unreachable default dev lo table unspec
"""


def test_routes_to_everywhere_are_no_use_of_an_address() -> None:
    wanted = ["10.0.0.0/8", "198.18.4.0/24", "192.0.2.2/32", "192.0.2.255/32"]
    assert used_networks(ROUTES) == [IPv4Network(network) for network in wanted]


def test_addresses_are_a_networks_two_and_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_addresses, "run", lambda *_, **__: "")
    monkeypatch.setattr(link_addresses, "POOL", IPv4Network("198.18.0.0/29"))
    one, other = reserve_addresses(), reserve_addresses()
    try:
        assert one.network != other.network
        assert one.network.prefixlen == 30
        assert [one.mine, one.theirs] == [str(host) for host in one.network.hosts()]
        with pytest.raises(TwinError, match=r"No addresses of 198.18.0.0/29 are free"):
            reserve_addresses()
    finally:
        one.release()
        other.release()
    reserve_addresses().release()


def test_addresses_that_a_route_leads_to_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_addresses, "run", lambda *_, **__: f"{POOL} dev tun0\n")
    with pytest.raises(TwinError, match="are free for a container"):
        reserve_addresses()


def test_who_is_not_root_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(TwinError, match="A container takes root"):
        Container(tmp_path)


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(container, "amd64_tree", lambda: pytest.fail("it comes too late"))
    with pytest.raises(TwinError, match=r"systemd-nspawn and .* are missing; .* systemd-container"):
        Container(tmp_path)


def test_a_machine_without_loop_devices_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loop_disk, "CONTROL", tmp_path / "no loop-control")
    monkeypatch.setattr(loop_disk, "need", lambda *_: None)
    with pytest.raises(TwinError, match=r"disk.img can't become a loop device, which takes root: No such file"):
        LoopDisk(tmp_path / "disk.img", 4096)
    assert (tmp_path / "disk.img").stat().st_size == 4096
