"""A PCIe link's speed and width, as the kernel prints them in current_link_speed, max_link_width and so on."""

from __future__ import annotations

import re

from . import ParseError

# drivers/pci/probe.c, pci_speed_string: rate in GT/s to the generation that it came with.
GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
WIDTHS = (1, 2, 4, 8, 12, 16, 32)
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9])?) GT/s(?: PCIe)?\Z")
_WIDTH = re.compile(r"x?([0-9]{1,3})\Z")


def parse_speed(text: str) -> float:
    """Text "8.0 GT/s PCIe" -> 8.0, a key of GENERATIONS. ParseError: another text, "Unknown speed" among them."""
    match = _SPEED.match(text.strip(" \t\r\n"))
    if match is None or float(match.group(1)) not in GENERATIONS:
        raise ParseError("this is no speed of a PCIe link")
    return float(match.group(1))


def parse_width(text: str) -> int:
    """Text "4" -> 4 lanes. ParseError: another text, also 0 (no link) and what a dead device answers (63, 255)."""
    match = _WIDTH.match(text.strip(" \t\r\n"))
    if match is None or int(match.group(1)) not in WIDTHS:
        raise ParseError("this is no width of a PCIe link")
    return int(match.group(1))
