"""Which Jetsons hang at a host's USB, in what state."""

from __future__ import annotations

import pytest

from rerig_agent.parse import ParseError
from rerig_agent.parse.usb_ids import RECOVERY_BOARDS, parse_lsusb

HUB = "Bus 001 Device 001: ID 1d6b:0002 Linux Foundation 2.0 root hub\n"


@pytest.mark.parametrize(
    ("line", "board", "state"),
    [
        ("Bus 001 Device 030, ID 0955:7423 NVIDIA Corp. APX", "Orin NX 8GB", "recovery"),
        ("Bus 003 Device 005: ID 0955:7023 NVIDIA Corp. APX", "AGX Orin", "recovery"),
        ("Bus 001 Device 012: ID 0955:7523 NVIDIA Corp. APX", "Orin Nano 8GB", "recovery"),
        ("Bus 001 Device 013: ID 0955:7323 NVidia Corp", "Orin NX 16GB", "recovery"),
        ("Bus 001 Device 014: ID 0955:7623 NVidia Corp", "Orin Nano 4GB", "recovery"),
        ("Bus 001 Device 015: ID 0955:7823 NVidia Corp", None, "recovery"),
        ("Bus 001 Device 016: ID 0955:7035", None, "flashing"),
        ("Bus 001 Device 017: ID 0955:7020 NVIDIA L4T", None, "booted"),
        ("Bus 001 Device 018: ID 0955:b420 NVIDIA Corp. SHIELD Controller", None, "other"),
    ],
)
def test_a_board_s_id_tells_its_module_and_state(line: str, board: str, state: str) -> None:
    (found,) = parse_lsusb(f"$ lsusb\r\n{HUB}{line}\r\n")
    assert (found["board"], found["state"]) == (board, state)
    assert f"Bus {found['bus']:03} Device {found['device']:03}" in line
    assert f"ID {found['id']}" in line


def test_every_board_is_told_and_a_host_without_one_has_none() -> None:
    lines = [f"Bus 002 Device {number:03}: ID 0955:{product}" for number, product in enumerate(RECOVERY_BOARDS)]
    assert [one["board"] for one in parse_lsusb("\n".join(lines))] == [*RECOVERY_BOARDS.values()]
    assert parse_lsusb(HUB) == []


def test_an_id_without_its_place_is_read_too() -> None:
    (found,) = parse_lsusb("0955:7523 NVIDIA Corp. APX                (Orin Nano 8GB)\n")
    assert (found["board"], found["bus"], found["device"]) == ("Orin Nano 8GB", None, None)
    (found,) = parse_lsusb("Bus 001 Device 012 : ID 0955:7523 NVIDIA Corp. APX")
    assert (found["board"], found["device"]) == ("Orin Nano 8GB", 12)


def test_a_torn_line_is_no_board() -> None:
    assert parse_lsusb(f"{HUB}Bus 001 Device 012: ID 0955:752") == []
    assert parse_lsusb(f"{HUB}Bus 001 Device 012: ID 0955:75234 NVIDIA") == []
    assert parse_lsusb(f"{HUB}Bus 001 Device 012: ID 0955:\u0667523 NVIDIA") == []


@pytest.mark.parametrize("text", ["", "\0", "unable to initialize libusb: -99", "0955:752", HUB * 5000, "B" * 10**7])
def test_what_lists_no_device_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_lsusb(text)
