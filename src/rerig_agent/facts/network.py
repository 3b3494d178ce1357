"""The network link between this machine and a file server, as far as /proc and /sys tell."""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict

from .block import Device
from .sysfs import absolute, names_in, read_number, read_text, read_word, real_directory

__all__ = ["describe_interface", "describe_network", "route_interface", "server_address"]

Mount = Dict[str, Any]

_ETHERNET, _LOOPBACK, _INFINIBAND = 1, 772, 32  # include/uapi/linux/if_arp.h
_VIRTUAL_DRIVERS = ("virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "vif", "gve", "ena")
_RTF_UP = 1  # include/uapi/linux/route.h


def describe_network(mount: Mount, chain: list[Device], root: Path) -> dict[str, Any] | None:
    """{"server_address", "interface", "speed_mbit", "mtu", "kind", "tcp_congestion_control"} of the way to the server
    of a network mount or network disk; None if no server address is known. Raw: not for a result."""
    address = server_address(mount) or _disk_address(chain, root)
    if address is None:
        return None
    interface = route_interface(address, root)
    link = {"speed_mbit": None, "mtu": None, "kind": None}
    if interface is not None:
        link = describe_interface(interface, root)
    control = read_word(absolute(root, "/proc/sys/net/ipv4/tcp_congestion_control"))
    return {"server_address": address, "interface": interface, **link, "tcp_congestion_control": control}


def server_address(mount: Mount) -> str | None:
    """The server's IP address from the mount's options (NFS, SMB) or source (9p over TCP, Ceph); never looked up."""
    for option in mount.get("super_options") or []:
        name, _, value = option.partition("=")
        if name in ("addr", "ip") and _parsed(value) is not None:
            return str(value)
    if mount.get("fs_type") in ("9p", "ceph", "nfs", "nfs4"):
        # [2001:db8::1]:/export, 192.0.2.1:/export, 192.0.2.1:6789,192.0.2.2:6789:/
        source = str(mount.get("source") or "")
        bracketed = re.match(r"\[([0-9a-fA-F:.%\w]+)\]", source)
        plain = bracketed.group(1) if bracketed else re.split(r"[:,/]", source, maxsplit=1)[0]
        return plain if _parsed(plain) is not None else None
    return None


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return None


def _disk_address(chain: list[Device], root: Path) -> str | None:
    """Where a disk's iSCSI connection or NVMe controller leads to."""
    for device in chain:
        place = real_directory(absolute(root, "/sys/class/block") / device["name"])
        if place is None or device["partition_of"] is not None:
            continue
        addresses: list[str | None] = []
        if device["transport"] == "iscsi":
            addresses = _iscsi_addresses(place, root)
        elif device["transport"] == "nvme_fabrics":
            words = read_word(place / "device/address") or ""
            addresses = [word[len("traddr=") :] for word in words.split(",") if word.startswith("traddr=")]
        found = next((address for address in addresses if address is not None and _parsed(address) is not None), None)
        if found is not None:
            return found
    return None


def _iscsi_addresses(disk: Path, root: Path) -> list[str | None]:
    session = re.match(r"(.*/session\d+)/", str(disk))
    names = names_in(Path(session.group(1))) if session is not None else []
    connections = [absolute(root, "/sys/class/iscsi_connection") / name for name in names if name.startswith("conn")]
    return [read_word(place / file) for place in connections for file in ("address", "persistent_address")]


def route_interface(address: str, root: Path) -> str | None:
    """The interface that the main routing table sends `address` through (longest prefix, then lowest metric).

    Policy routing is not followed, nothing is sent.
    """
    parsed = _parsed(address)
    if parsed is None:
        return None
    if "%" in address:
        return address.split("%", 1)[1]  # a link-local address names its interface
    if parsed.is_loopback:
        return "lo"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    routes = _routes4(root) if isinstance(parsed, ipaddress.IPv4Address) else _routes6(root)
    bits = parsed.max_prefixlen
    matching = [
        (prefix, -metric, name)
        for network, prefix, metric, name in routes
        if (int(parsed) ^ network) >> (bits - prefix) == 0
    ]
    return max(matching)[2] if matching else None


def _routes4(root: Path) -> list[tuple[int, int, int, str]]:
    """/proc/net/route: addresses are 32-bit words in the machine's byte order."""
    routes = []
    for line in (read_text(absolute(root, "/proc/net/route")) or "").splitlines()[1:]:
        fields = line.split()
        try:
            name, flags, metric = fields[0], int(fields[3], 16), int(fields[6])
            value, mask = (
                int.from_bytes(int(field, 16).to_bytes(4, sys.byteorder), "big") for field in (fields[1], fields[7])
            )
        except (IndexError, ValueError, OverflowError):
            continue
        if flags & _RTF_UP and name != "lo":
            routes.append((value, bin(mask).count("1"), metric, name))
    return routes


def _routes6(root: Path) -> list[tuple[int, int, int, str]]:
    routes = []
    for line in (read_text(absolute(root, "/proc/net/ipv6_route")) or "").splitlines():
        fields = line.split()
        try:
            value, prefix, metric, flags = (int(fields[index], 16) for index in (0, 1, 5, 8))
            name = fields[9]
        except (IndexError, ValueError):
            continue
        if flags & _RTF_UP and name != "lo":
            routes.append((value, prefix, metric, name))
    return routes


def describe_interface(name: str, root: Path) -> dict[str, Any]:
    """{"speed_mbit": int or None, "mtu": int or None, "kind": word or None}. Speeds of virtual links are made up by
    their drivers (veth and virtio always say 10000 or nothing), so they are None."""
    place = absolute(root, "/sys/class/net") / name
    kind = _interface_kind(place)
    speed = read_number(place / "speed") if kind in ("ethernet", "wireless", "bond", "vlan", "infiniband") else None
    return {"speed_mbit": speed if speed and speed > 0 else None, "mtu": read_number(place / "mtu"), "kind": kind}


def _interface_kind(place: Path) -> str | None:
    number = read_number(place / "type")
    if number is None:
        return None
    type_line = re.search(r"^DEVTYPE=(\w+)$", read_text(place / "uevent") or "", re.MULTILINE)
    devtype = type_line.group(1) if type_line else ""
    if number == _LOOPBACK:
        return "loopback"
    if devtype == "wlan" or (place / "wireless").exists() or (place / "phy80211").exists():
        return "wireless"
    if devtype in ("bridge", "bond", "vlan"):
        return devtype
    if number == _INFINIBAND:
        return "infiniband"
    if number != _ETHERNET or devtype in ("wireguard", "vxlan", "geneve"):
        return "tunnel"
    driver = Path(os.path.realpath(str(place / "device/driver"))).name
    if not (place / "device").exists() or driver in _VIRTUAL_DRIVERS:
        return "virtual"
    return "ethernet"
