"""Two addresses for the two ends of a link between this machine and a container, which nobody else here has."""

from __future__ import annotations

import contextlib
import ipaddress
import random
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from twin.errors import TwinError
from twin.tools import run

POOL = ipaddress.IPv4Network("198.18.0.0/15")  # for tests of network devices (RFC 2544), so no one's home or office
TRIES = 200


@dataclass(frozen=True)
class LinkAddresses:
    """``mine`` and ``theirs`` in one network of four addresses; reserved until ``release`` or this process's end."""

    network: ipaddress.IPv4Network
    reservation: socket.socket

    @property
    def mine(self) -> str:
        return str(self.network[1])

    @property
    def theirs(self) -> str:
        return str(self.network[2])

    def release(self) -> None:
        self.reservation.close()


def reserve_addresses() -> LinkAddresses:
    """Raises TwinError where all tries meet a network that is in use."""
    used = used_networks(run(["ip", "-4", "-oneline", "route", "show", "table", "all"], what="Listing the routes"))
    for _ in range(TRIES):
        start = int(POOL.network_address) + 4 * random.randrange(POOL.num_addresses // 4)  # noqa: S311 - no secret
        network = ipaddress.IPv4Network((start, 30))
        if not any(network.overlaps(other) for other in used) and (reservation := _reserve(network)):
            return LinkAddresses(network, reservation)
    raise TwinError(f"No addresses of {POOL} are free for a container on this machine.")


def used_networks(routes: str) -> list[ipaddress.IPv4Network]:
    """The destinations in ``ip route``'s text; the one for everything else is none."""
    return list(_destinations(routes.splitlines()))


def _destinations(lines: Iterable[str]) -> Iterable[ipaddress.IPv4Network]:
    kinds = ("local", "broadcast", "unicast", "blackhole", "unreachable", "prohibit", "throw", "multicast")
    for line in lines:
        words = [word for word in line.split() if word not in kinds]
        with contextlib.suppress(ValueError):  # "default" among them
            network = ipaddress.IPv4Network(words[0] if words else "", strict=False)
            if network.prefixlen:
                yield network


def _reserve(network: ipaddress.IPv4Network) -> socket.socket | None:
    """A name that one process of the machine can have, and that no file stands for."""
    held = socket.socket(socket.AF_UNIX)
    try:
        held.bind(f"\0rerig-twin-{network.network_address}")
    except OSError:
        held.close()
        return None
    return held
