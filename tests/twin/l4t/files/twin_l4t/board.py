"""What board this is (written by the host, never changed here) and what its flash holds (changed by its firmware)."""

from __future__ import annotations

import json
from typing import Any

from . import place

BOARD = f"{place.STATE}/board.json"
FLASH = f"{place.STATE}/flash.json"


def load() -> dict[str, Any]:
    """The personality; a tool of a machine that has none says so and stops."""
    text = place.read(BOARD)
    if text is None:
        place.die("The twin has no L4T personality: none was applied.")
    return dict(json.loads(text))


def load_flash() -> dict[str, Any]:
    """{"slots": [{"version", "flavour", "status"}], "current", "esrt": {…}, "capsule_status", "next_boot_fails"}."""
    text = place.read(FLASH)
    return dict(json.loads(text)) if text is not None else first_flash(load())


def save_flash(flash: dict[str, Any]) -> None:
    place.replace(FLASH, (json.dumps(flash, indent=1, sort_keys=True) + "\n").encode())


def first_flash(board: dict[str, Any]) -> dict[str, Any]:
    """The flash as the board left its factory (or its last owner)."""
    return {
        "slots": board["slots"],
        "current": board["current_slot"],
        "esrt": board["esrt"],
        "capsule_status": board["capsule_status"],
        "next_boot_fails": board["next_boot_fails"],
    }


def running_flavour(board: dict[str, Any], flash: dict[str, Any]) -> dict[str, Any]:
    """The clocks and names that go with the bootloader which booted: {"clocks", "device_tree", "conf"}."""
    return dict(board["flavours"][flash["slots"][flash["current"]]["flavour"]])


def number_of_version(version: str) -> int:
    """36.4.7 as the ESRT has it: major << 16 | minor << 8 | patch."""
    major, minor, patch = (int(part) for part in version.split("."))
    return major << 16 | minor << 8 | patch


def version_of_number(number: int) -> str:
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
