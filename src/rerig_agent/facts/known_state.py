"""What is kept of a machine's declared state in files: what it boots into, its desktop, compressed swap, NVMe links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .readings import read_link, read_reading
from .units import SYSTEM, names_below, unit_links, unit_runs

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
# One that runs shows that the desktop is still there, whatever is booted into next.
DISPLAY_MANAGERS = ("gdm.service", "gdm3.service", "lightdm.service", "sddm.service", "lxdm.service", "xdm.service")
LINK_FILES = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")


def collect_known_state(root: Path) -> dict[str, Any]:
    """default_target, display_manager: names of units or None; desktop: the display manager that runs, or None;
    enabled: those of UNITS that are wanted by some target; zram: {device: disksize reading}; nvme_links: {controller:
    {current_link_speed, …: reading, "port": the same of the port above it}}.
    """
    manager = _unit(root, f"{SYSTEM}/display-manager.service")
    managers = dict.fromkeys((*([manager] if manager else []), *DISPLAY_MANAGERS))
    return {
        "default_target": _unit(root, f"{SYSTEM}/default.target")
        or _unit(root, "/usr/lib/systemd/system/default.target"),
        "display_manager": manager,
        "desktop": next((unit for unit in managers if unit_runs(root, unit)), None),
        "enabled": [unit for unit in UNITS if unit_links(root, unit)],
        "zram": {
            name: read_reading(root, f"/sys/block/{name}/disksize")
            for name in names_below(root, "/sys/block")
            if re.match(r"zram[0-9]{1,3}\Z", name)
        },
        "nvme_links": {
            name: _links(root, name)
            for name in names_below(root, "/sys/class/nvme")
            if re.match(r"nvme[0-9]{1,3}\Z", name)
        },
    }


def _unit(root: Path, path: str) -> str | None:
    target = read_link(root, path).get("text")
    return target.rpartition("/")[2] if target else None


def _links(root: Path, name: str) -> dict[str, Any]:
    device = f"/sys/class/nvme/{name}/device"
    found: dict[str, Any] = {file: read_reading(root, f"{device}/{file}") for file in LINK_FILES}
    # ".." is taken where the link leads to, by the kernel and by within() alike: the port that the drive sits in.
    found["port"] = {file: read_reading(root, f"{device}/../{file}") for file in LINK_FILES}
    return found
