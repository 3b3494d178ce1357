"""What systemd's own files say of a unit: the links that enable it, whether it runs, and swap files of rerig's own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .readings import read_link, read_reading, within
from .sysfs import names_in

SYSTEM = "/etc/systemd/system"
# A link by the unit's name for each unit that is not inactive (systemd, src/core/unit.c: unit_export_invocation_id).
RUNNING = "/run/systemd/units/invocation:"
OWN_SWAP = "Description=Swap file of rerig\n"  # roles/headless/templates/swapfile.swap.j2
MASK = "/dev/null"
_WHAT = re.compile(r"^What=(/\S+)$", re.MULTILINE)


def unit_links(root: Path, unit: str) -> dict[str, str]:
    """{path below /etc/systemd/system: what it names} of the links that enable a unit: in folders of wants and
    requires, and its other names (display-manager.service); a mask is none of them.
    """
    found = {}
    for name in names_below(root, SYSTEM):
        path = f"{name}/{unit}" if name.endswith((".wants", ".requires")) else name
        target = read_link(root, f"{SYSTEM}/{path}").get("text", MASK)
        if target != MASK and unit in (path.rpartition("/")[2], target.rpartition("/")[2]):
            found[path] = target
    return found


def unit_runs(root: Path, unit: str) -> bool:
    """Whether the unit is active, or about to be."""
    return "text" in read_link(root, RUNNING + unit)


def own_swap_files(root: Path) -> dict[str, str]:
    """{swap file: its unit} of the units that rerig wrote: their description says so."""
    texts = {
        name: read_reading(root, f"{SYSTEM}/{name}").get("text", "")
        for name in names_below(root, SYSTEM)
        if name.endswith(".swap")
    }
    own = {name: _WHAT.search(text) for name, text in texts.items() if OWN_SWAP in text}
    return {match.group(1): name for name, match in own.items() if match}


def place_of(root: Path, path: str) -> dict[str, Any]:
    """{"bytes": the size of what lies there, "free_bytes": the room for it}; None without a file, without a folder."""
    try:
        size = os.lstat(within(root, path, last=False)).st_size
    except OSError:
        size = None
    try:
        room = os.statvfs(within(root, path.rpartition("/")[0] or "/"))
    except OSError:
        return {"bytes": size, "free_bytes": None}
    return {"bytes": size, "free_bytes": room.f_bavail * room.f_frsize}


def names_below(root: Path, folder: str) -> list[str]:
    """The names in a folder of that root; none where it can't be listed."""
    try:
        return names_in(within(root, folder))
    except OSError:
        return []
