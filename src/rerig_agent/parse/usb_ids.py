"""Jetsons on a host's USB, by the ids that ``lsusb`` prints: which module it is, and in what state.

A module in recovery mode shows the id of its boot ROM, which tells the SKU. Linux on it, or the small one that flashes
it, shows one and the same id for all modules.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError

VENDOR = "0955"  # NVIDIA
# Sources: pages of makers of carriers, and of owners, that show lsusb with the module's name.
RECOVERY_BOARDS = {
    "7023": "AGX Orin",
    "7323": "Orin NX 16GB",
    "7423": "Orin NX 8GB",
    "7523": "Orin Nano 8GB",
    "7623": "Orin Nano 4GB",
}
_RECOVERY = re.compile(r"7[0-9a-f]23\Z")
_STATES = {"7035": "flashing", "7020": "booted"}
# The id alone is how pages of makers show it.
_LINE = re.compile(r"(?:Bus ([0-9]{3}) Device ([0-9]{3}) ?[:,] ID )?([0-9a-f]{4}):([0-9a-f]{4})(?=[ \t]|\Z)")
MOST_LINES = 4096


def parse_lsusb(text: str) -> list[dict[str, Any]]:
    """-> NVIDIA's devices: [{"id": "0955:7523", "board": name or None, "state", "bus", "device": int or None}].

    state: recovery; flashing (the gadget of the flashing Linux); booted (L4T's gadget); other. A board of an unknown
    id in recovery mode has no name. ParseError: no device at all, not even a hub, as no lsusb prints.
    """
    lines = text.split("\n")
    found = [_LINE.match(line.strip(" \t\r")) for line in lines] if len(lines) <= MOST_LINES else []
    devices = [match.groups() for match in found if match is not None]
    if not devices:
        raise ParseError("this lists no USB device")
    return [
        {
            "id": f"{vendor}:{product}",
            "board": RECOVERY_BOARDS.get(product),
            "state": "recovery" if _RECOVERY.match(product) else _STATES.get(product, "other"),
            "bus": int(bus) if bus else None,
            "device": int(device) if device else None,
        }
        for bus, device, vendor, product in devices
        if vendor == VENDOR
    ]
