"""The PCIe links of the NVMe disks: each disk shows the personality's speed and width in place of the emulator's."""

from __future__ import annotations

import os
from pathlib import Path

from . import board, place, surfaces

DISKS = "/sys/class/nvme"
FOLDER = f"{place.RUN}/links"


def show() -> list[str]:
    """Cover the four files of every disk that is there; the disks in the order of their PCI addresses.

    A disk that comes later needs another call; of one that goes, the kernel drops the mounts when a path is next
    looked up.
    """
    shown = []
    links = board.load()["nvme_links"]
    for number, device in enumerate(sorted(devices())):
        for name, value in (links[number] if number < len(links) else {}).items():
            file, ours = f"{device}/{name}", f"{FOLDER}/{number}/{name}"
            if not Path(file).exists():
                continue
            place.write(ours, f"{value}\n")
            if place.word(file) != value:
                surfaces.mount(ours, file, flags=surfaces.BIND)
            shown.append(file)
    return shown


def devices() -> list[str]:
    """The PCI device of each disk."""
    disks = Path(DISKS)
    return [os.path.realpath(f"{disk}/device") for disk in disks.iterdir()] if disks.is_dir() else []
