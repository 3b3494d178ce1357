"""What a machine says of its power, heat and clocks, as raw texts: once what does not change, then a sample at a time.

Sources of the paths: the kernel's documentation of hwmon (ina3221: mV and mA, no power), thermal, devfreq and cpufreq.
The GPU's ``load``, in thousandths, lies beside its devfreq on Tegra; rbonghi/jetson_stats reads it there too.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from .facts.jetson import GPU
from .facts.readings import read_reading, within
from .facts.sysfs import names_in

CPUS = "/sys/devices/system/cpu"
DEVFREQ = "/sys/class/devfreq"
HWMON = "/sys/class/hwmon"
THERMAL = "/sys/class/thermal"
MONITOR = "ina3221"
RAIL_FILE = re.compile(r"(?:in[0-9]{1,2}_(?:label|input)|curr[0-9]{1,2}_input)\Z")
OTHER_GPU = re.compile(r"[0-9a-f]{4,16}\.gpu\Z")
TEGRASTATS_PLACES = "/usr/bin:/usr/sbin:/bin:/sbin"
LONGEST_STAT = 1 << 20


def find_tegrastats() -> str | None:
    """The program's path, or None where there is none."""
    return shutil.which("tegrastats") or shutil.which("tegrastats", path=TEGRASTATS_PLACES)


def describe(root: Path = Path("/")) -> dict[str, Any]:
    """The sensors that are there, and what of them does not change; texts as they are.

    {"zones": {thermal_zone0: type}, "monitors": {hwmon1: [names of its files]}, "gpu": {"name",
    "available_frequencies", "max_freq", "has_load"} or None, "cpus": {cpu0: {"scaling_max_freq", "cpuinfo_max_freq"}}}
    """
    return {
        "zones": {
            name: (_text(root, f"{THERMAL}/{name}/type") or "").strip()
            for name in _names(root, THERMAL)
            if re.match(r"thermal_zone[0-9]{1,4}\Z", name)
        },
        "monitors": {
            name: [file for file in _names(root, f"{HWMON}/{name}") if RAIL_FILE.match(file)]
            for name in _names(root, HWMON)
            if (_text(root, f"{HWMON}/{name}/name") or "").strip() == MONITOR
        },
        "gpu": _describe_gpu(root),
        "cpus": _describe_cpus(root),
    }


def take(sensors: dict[str, Any], root: Path = Path("/")) -> dict[str, Any]:
    """One sample of what :func:`describe` found: {"stat", "zones", "monitors", "gpu", "cpus"}.

    What can't be read now is None. ``stat``: the lines of /proc/stat about processors; the load is this machine's own,
    whatever the root.
    """
    gpu = sensors["gpu"]
    return {
        "stat": _processor_lines(),
        "zones": {name: _text(root, f"{THERMAL}/{name}/temp") for name in sensors["zones"]},
        "monitors": {
            name: {file: _text(root, f"{HWMON}/{name}/{file}") for file in files}
            for name, files in sensors["monitors"].items()
        },
        "gpu": None
        if gpu is None
        else {
            "cur_freq": _text(root, f"{DEVFREQ}/{gpu['name']}/cur_freq"),
            "load": _text(root, _load_file(gpu["name"])) if gpu["has_load"] else None,
        },
        "cpus": {name: _text(root, f"{CPUS}/{name}/cpufreq/scaling_cur_freq") for name in sensors["cpus"]},
    }


def _describe_gpu(root: Path) -> dict[str, Any] | None:
    names = _names(root, DEVFREQ)
    found = [name for name in names if GPU.match(name)] or [name for name in names if OTHER_GPU.match(name)]
    if not found:
        return None
    name = found[0]
    files = ("available_frequencies", "max_freq")
    texts = {file: _text(root, f"{DEVFREQ}/{name}/{file}") for file in files}
    return {"name": name, **texts, "has_load": _text(root, _load_file(name)) is not None}


def _load_file(name: str) -> str:
    # The class's entry is a link into the device's own folder "devfreq": two up from where it leads.
    return f"{DEVFREQ}/{name}/../../load"


def _describe_cpus(root: Path) -> dict[str, Any]:
    files = ("scaling_max_freq", "cpuinfo_max_freq")
    names = [name for name in _names(root, CPUS) if re.match(r"cpu[0-9]{1,4}\Z", name)]
    return {
        name: {file: _text(root, f"{CPUS}/{name}/cpufreq/{file}") for file in files}
        for name in names
        if _text(root, f"{CPUS}/{name}/cpufreq/scaling_cur_freq") is not None
    }


def _processor_lines() -> str | None:
    """Without the interrupts, which can be many thousand numbers."""
    try:
        with Path("/proc/stat").open("rb") as file:
            text = file.read(LONGEST_STAT).decode("ascii", "replace")
    except OSError:
        return None
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("cpu"))


def _names(root: Path, folder: str) -> list[str]:
    try:
        return names_in(within(root, folder))
    except OSError:
        return []


def _text(root: Path, path: str) -> str | None:
    return read_reading(root, path).get("text")
