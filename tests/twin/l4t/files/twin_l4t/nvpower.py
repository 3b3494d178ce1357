"""nvpower.sh: at each boot, makes /etc/nvpmodel.conf the file that goes with the kernel's device tree."""

from __future__ import annotations

import contextlib
import os
import shutil

from . import board, install, nvpmodel, place

FOLDER = "/etc/nvpmodel"
BACKUP = "/etc/nvpmodel_nvbackup.conf"
UNKNOWN = "nvpmodel_p3701_0000.conf"  # what it takes for a board that it doesn't know


def main(words: list[str]) -> int:
    if words:
        place.die("Usage: nvpower.sh")
    if not place.is_root():
        place.die("nvpower.sh can only run as root")
    machine = (place.read("/proc/device-tree/compatible") or "").partition("\0")[0]
    expected = f"{FOLDER}/{board.load()['confs_by_machine'].get(machine, UNKNOWN)}"
    link, status = install.raw(nvpmodel.ACTIVE), place.path(nvpmodel.STATUS)
    if link.is_symlink() and os.readlink(str(link)) == expected:
        return 0
    if place.path(nvpmodel.ACTIVE).exists():
        shutil.copyfile(str(place.path(nvpmodel.ACTIVE)), str(place.path(BACKUP)))
    for file in (link, status):
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
    link.symlink_to(expected)
    return 0
