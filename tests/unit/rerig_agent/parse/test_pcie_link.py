"""Speed and width of a PCIe link in the kernel's words."""

from __future__ import annotations

import pytest

from rerig_agent.parse import ParseError
from rerig_agent.parse.pcie_link import GENERATIONS, parse_speed, parse_width


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        ("2.5 GT/s PCIe\n", 1),
        ("5.0 GT/s PCIe\n", 2),
        ("8.0 GT/s PCIe\n", 3),
        ("8 GT/s", 3),
        ("16.0 GT/s PCIe", 4),
        ("32.0 GT/s PCIe", 5),
        ("64.0 GT/s PCIe", 6),
    ],
)
def test_a_speed_is_a_generation(text: str, generation: int) -> None:
    assert GENERATIONS[parse_speed(text)] == generation


@pytest.mark.parametrize(("text", "lanes"), [("4\n", 4), ("2", 2), ("x1", 1), ("16\r\n", 16)])
def test_a_width_is_a_number_of_lanes(text: str, lanes: int) -> None:
    assert parse_width(text) == lanes


OTHERS = ["", "\0", "Unknown\n", "Unknown speed\n", "-8.0 GT/s", "\u0668.0 GT/s PCIe", "7.0 GT/s PCIe", "8.0 GT/s PCI"]


@pytest.mark.parametrize("text", [*OTHERS, "8.0", "4", "8.0 GT/s PCIe\n8.0 GT/s PCIe", "8" * 10_000_000])
def test_other_speeds_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_speed(text)


@pytest.mark.parametrize("text", [*OTHERS, "0", "3", "63", "255", "-4", "\u0664", "4 4", "4" * 10_000_000])
def test_other_widths_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_width(text)
