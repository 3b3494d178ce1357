"""What is kept of a machine's declared state in files: what it boots into, its desktop, compressed swap, NVMe links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .readings import read_link, read_reading, within
from .sysfs import names_in

SYSTEM = "/etc/systemd/system"
# Whose being enabled says something about the state; a link in a folder of wants is what "enabled" means.
UNITS = (
    "nvpmodel.service",
    "nvpower.service",
    "nvfancontrol.service",
    "nvzramconfig.service",
    "nv-l4t-bootloader-config.service",
    "rerig-jetson-clocks.service",
    "zramswap.service",
)
OWN_SWAP = "Description=Swap file of rerig\n"  # roles/headless/templates/swapfile.swap.j2
LINK_FILES = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")


def collect_known_state(root: Path) -> dict[str, Any]:
    """default_target, display_manager: names of units or None; enabled: those of UNITS that are wanted by some target;
    zram: {device: disksize reading}; nvme_links: {controller: {current_link_speed, …: reading, "port": the same of the
    port above it}}.
    """
    return {
        "default_target": _unit(root, f"{SYSTEM}/default.target")
        or _unit(root, "/usr/lib/systemd/system/default.target"),
        "display_manager": _unit(root, f"{SYSTEM}/display-manager.service"),
        "enabled": [unit for unit in UNITS if is_wanted(root, unit)],
        "zram": {
            name: read_reading(root, f"/sys/block/{name}/disksize")
            for name in _names(root, "/sys/block")
            if re.match(r"zram[0-9]{1,3}\Z", name)
        },
        "nvme_links": {
            name: _links(root, name) for name in _names(root, "/sys/class/nvme") if re.match(r"nvme[0-9]{1,3}\Z", name)
        },
    }


def _names(root: Path, folder: str) -> list[str]:
    try:
        return names_in(within(root, folder))
    except OSError:
        return []


def _unit(root: Path, path: str) -> str | None:
    target = read_link(root, path).get("text")
    return target.rpartition("/")[2] if target else None


def is_wanted(root: Path, unit: str) -> bool:
    """Whether the unit is enabled: some target's folder of wants has a link of its name."""
    folders = (name for name in _names(root, SYSTEM) if name.endswith(".wants"))
    return any("text" in read_link(root, f"{SYSTEM}/{folder}/{unit}") for folder in folders)


def own_swap_units(root: Path) -> list[str]:
    """Swap units in /etc that rerig wrote: their description says so."""
    names = [name for name in _names(root, SYSTEM) if name.endswith(".swap")]
    return [name for name in names if OWN_SWAP in (read_reading(root, f"{SYSTEM}/{name}").get("text") or "")]


def _links(root: Path, name: str) -> dict[str, Any]:
    device = f"/sys/class/nvme/{name}/device"
    found: dict[str, Any] = {file: read_reading(root, f"{device}/{file}") for file in LINK_FILES}
    # ".." is taken where the link leads to, by the kernel and by within() alike: the port that the drive sits in.
    found["port"] = {file: read_reading(root, f"{device}/../{file}") for file in LINK_FILES}
    return found
