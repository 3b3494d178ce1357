"""The state of the machine around a run: gathered raw by :func:`collect`, judged into what a result shows by
:func:`summarize`. Cheap and harmless: only small files of /proc and /sys are read.

/proc/version and /proc/cmdline are never read: they hold build hosts, UUIDs and sometimes passwords.
"""

from __future__ import annotations

import mmap
import os
import re
import sys
from pathlib import Path
from typing import Any

from .facts.hypervisor import collect_hypervisor
from .facts.jetson import RunTool, collect_jetson
from .facts.known_state import collect_known_state
from .facts.sysfs import absolute, names_in, read_number, read_text, read_word
from .identity import read_boot_id
from .judge.conditions_summary import summarize

__all__ = ["collect", "summarize"]

_NVPMODEL_STATUS = "/var/lib/nvpmodel/status"
_STATUS_LENGTH = 4096  # it is one line


def collect(root: Path = Path("/"), run_tool: RunTool | None = None) -> dict[str, Any]:
    """Raw evidence as JSON data; never raises, what the machine lacks is None or empty.

    Texts as they are: os_release, cpuinfo, meminfo, loadavg, swaps, pressure {"cpu", "io", "memory"}. Values:
    kernel_release, machine, governors {cpu: word}, cpu_frequencies_khz {cpu: now}, hypervisor (signs of
    :func:`rerig_agent.facts.hypervisor.collect_hypervisor`), device_tree_model, thermal_zones [{"type",
    "temperature_millicelsius"}], nvpmodel_status (text: the power mode of a Jetson, "pmode:0002"), boot_id, uptime_s,
    page_bytes, python, jetson (see :mod:`rerig_agent.facts.jetson`; None where there is none), known_state (see
    :mod:`rerig_agent.facts.known_state`). ``run_tool`` runs a board's own tool and gives its status and output; without
    it none is run.
    """
    system = os.uname()
    cpus = absolute(root, "/sys/devices/system/cpu")
    names = [name for name in names_in(cpus) if re.fullmatch(r"cpu\d+", name)]
    model = read_text(absolute(root, "/proc/device-tree/model"))
    uptime = (read_word(absolute(root, "/proc/uptime")) or "").split()
    power_mode = read_text(absolute(root, _NVPMODEL_STATUS))
    return {
        # The release is the running kernel's, whatever the root: /proc holds the same word.
        "kernel_release": read_word(absolute(root, "/proc/sys/kernel/osrelease")) or system.release,
        "machine": system.machine,
        "os_release": read_text(absolute(root, "/etc/os-release")) or read_text(absolute(root, "/usr/lib/os-release")),
        "cpuinfo": read_text(absolute(root, "/proc/cpuinfo")),
        "meminfo": read_text(absolute(root, "/proc/meminfo")),
        "loadavg": read_text(absolute(root, "/proc/loadavg")),
        "swaps": read_text(absolute(root, "/proc/swaps")),
        "pressure": {kind: read_text(absolute(root, "/proc/pressure") / kind) for kind in ("cpu", "io", "memory")},
        "governors": _of_cpus(cpus, names, "cpufreq/scaling_governor"),
        "cpu_frequencies_khz": {
            name: value
            for name, value in ((name, read_number(cpus / name / "cpufreq/scaling_cur_freq")) for name in names)
            if value is not None
        },
        "hypervisor": collect_hypervisor(root),
        "device_tree_model": None if model is None else model.rstrip("\0\n") or None,
        "thermal_zones": _thermal_zones(root),
        "nvpmodel_status": None if power_mode is None else power_mode[:_STATUS_LENGTH],
        "boot_id": read_boot_id(root),
        "uptime_s": _seconds(uptime),
        "page_bytes": mmap.PAGESIZE,
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "jetson": collect_jetson(root, run_tool),
        "known_state": collect_known_state(root),
    }


def _of_cpus(cpus: Path, names: list[str], file: str) -> dict[str, str]:
    words = ((name, read_word(cpus / name / file)) for name in names)
    return {name: word for name, word in words if word is not None}


def _thermal_zones(root: Path) -> list[dict[str, Any]]:
    zones = absolute(root, "/sys/class/thermal")
    return [
        {"type": read_word(zones / name / "type"), "temperature_millicelsius": read_number(zones / name / "temp")}
        for name in names_in(zones)
        if name.startswith("thermal_zone")
    ]


def _seconds(uptime: list[str]) -> float | None:
    try:
        return float(uptime[0])
    except (IndexError, ValueError):
        return None
