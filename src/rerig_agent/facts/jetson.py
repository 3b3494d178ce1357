"""What a Jetson says about itself: device tree, power modes, clocks, firmware. Raw texts, never judged here.

Sources of the paths: nvpmodel's and nvpower's own files (L4T R35 to R39), edk2-nvidia for the UEFI variables, the
kernel's documentation of devfreq, cpufreq and esrt.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable, List, Tuple

from ..parse import ParseError
from ..parse.nvpmodel_conf import parse_conf
from .readings import read_hex, read_link, read_reading, within
from .sysfs import names_in
from .tegra_packages import read_tegra_packages

RunTool = Callable[[List[str]], Tuple[int, str]]

SLOT_RECORD = "/var/lib/rerig/firmware-slots.json"
TREES = ("/proc/device-tree", "/sys/firmware/devicetree/base")
GPU = re.compile(r"17000000\.(?:gpu|ga10b)\Z|gpu-gpc-[0-9]\Z")
NVIDIA = "781e084c-a330-417c-b678-38e696380cb9"
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
VARIABLES = {
    "TegraPlatformSpec": NVIDIA,
    "TegraPlatformCompatSpec": NVIDIA,
    "BootChainFwCurrent": NVIDIA,
    "BootChainFwNext": NVIDIA,
    "BootChainFwStatus": NVIDIA,
    "OsIndications": GLOBAL,
}
FILES = {
    "nv_tegra_release": "/etc/nv_tegra_release",
    "nv_boot_control": "/etc/nv_boot_control.conf",
    "nvpmodel_status": "/var/lib/nvpmodel/status",
    "extlinux": "/boot/extlinux/extlinux.conf",
    "bios_version": "/sys/class/dmi/id/bios_version",
    "fan_conf": "/etc/nvfancontrol.conf",
    "fan_status": "/var/lib/nvfancontrol/status",
    "slot_record": SLOT_RECORD,
}
BPMP = "/sys/kernel/debug/bpmp/debug/clk"
CLOCKS = {
    "emc_max_rate": f"{BPMP}/emc/max_rate",
    "emc_rate": f"{BPMP}/emc/rate",
    "emc_locked": f"{BPMP}/emc/mrq_rate_locked",
    "gpc_max_rate": f"{BPMP}/nafll_gpc0/max_rate",
    "emc_cap": "/sys/kernel/nvpmodel_clk_cap/emc",
    "emc_cap_r35": "/sys/kernel/nvpmodel_emc_cap/emc_iso_cap",
}
ESRT = ("fw_version", "lowest_supported_fw_version", "last_attempt_version", "last_attempt_status")
CONF = "/etc/nvpmodel.conf"
MOST_CAPS = 200
_VALUE = re.compile(r"-?[0-9A-Za-z_]{0,32}\s*\Z")
# The kernel's command line holds UUIDs and sometimes passwords: it is never kept.
_ARGUMENTS = re.compile(r"^([ \t]*APPEND)\b.*$", re.IGNORECASE | re.MULTILINE)


def collect_jetson(root: Path, run_tool: RunTool | None = None) -> dict[str, Any] | None:
    """Readings by what they are (see :mod:`.readings`); None where nothing says Tegra.

    files (FILES; extlinux.conf without the kernel's arguments), device_tree {model, compatible, ids}, conf {"link",
    "text" or "error"}, caps {path: reading} of every file of sysfs that the configuration sets, gpu {"name",
    available_frequencies, …} or None, cpus {cpu0: {…}}, clocks (CLOCKS), variables {name: {"hex"} or {"error"}}, esrt,
    packages {name: version}, nvbootctrl: what ``run_tool`` gave for ``nvbootctrl dump-slots-info``, {"error":
    "not_run"} without one.
    """
    tree = {
        name: _in_tree(root, file)
        for name, file in (("model", "model"), ("compatible", "compatible"), ("ids", "chosen/ids"))
    }
    files = {name: read_reading(root, path) for name, path in FILES.items()}
    if "text" in files["extlinux"]:
        files["extlinux"]["text"] = _ARGUMENTS.sub(r"\1", files["extlinux"]["text"])
    if "tegra" not in tree["compatible"].get("text", "") and "text" not in files["nv_tegra_release"]:
        return None
    conf = {"link": read_link(root, CONF).get("text"), **read_reading(root, CONF)}
    return {
        "device_tree": tree,
        "files": files,
        "conf": conf,
        "caps": _caps(root, conf.get("text") or ""),
        "gpu": _gpu(root),
        "cpus": _cpus(root),
        "clocks": {name: read_reading(root, path) for name, path in CLOCKS.items()},
        "variables": {
            name: read_hex(root, f"/sys/firmware/efi/efivars/{name}-{guid}") for name, guid in VARIABLES.items()
        },
        "esrt": {name: read_reading(root, f"/sys/firmware/efi/esrt/entries/entry0/{name}") for name in ESRT},
        "packages": read_tegra_packages(root),
        "nvbootctrl": _slots(run_tool),
    }


def _in_tree(root: Path, file: str) -> dict[str, str]:
    found = [read_reading(root, f"{tree}/{file}") for tree in TREES]
    return next((reading for reading in found if "text" in reading), found[0])


def _gpu(root: Path) -> dict[str, Any] | None:
    folder = "/sys/class/devfreq"
    try:
        names = [name for name in names_in(within(root, folder)) if GPU.match(name)]
    except OSError:
        return None
    if not names:
        return None
    wanted = ("available_frequencies", "min_freq", "max_freq", "cur_freq", "governor")
    return {"name": names[0], **{file: read_reading(root, f"{folder}/{names[0]}/{file}") for file in wanted}}


def _cpus(root: Path) -> dict[str, Any]:
    folder = "/sys/devices/system/cpu"
    wanted = {
        "online": "online",
        "highest_khz": "cpufreq/cpuinfo_max_freq",
        "min_khz": "cpufreq/scaling_min_freq",
        "max_khz": "cpufreq/scaling_max_freq",
    }
    names = [name for name in names_in(root / folder.lstrip("/")) if re.match(r"cpu[0-9]{1,3}\Z", name)]
    return {
        name: {key: read_reading(root, f"{folder}/{name}/{file}") for key, file in wanted.items()}
        for name in names
        if "text" in read_reading(root, f"{folder}/{name}/cpufreq/cpuinfo_max_freq")
    }


def _caps(root: Path, text: str) -> dict[str, Any]:
    try:
        params = parse_conf(text)["params"]
    except ParseError:
        return {}
    paths = [path for param in params.values() for name, path in param["paths"].items() if "FREQ_TABLE" not in name]
    wanted = [path for path in dict.fromkeys(paths) if path.startswith("/sys/") and "/../" not in path][:MOST_CAPS]
    found = {path: read_reading(root, path) for path in wanted}
    return {path: _one_word(reading) for path, reading in found.items() if reading.get("error") != "missing"}


def _one_word(reading: dict[str, str]) -> dict[str, str]:
    """A file can have been named that holds anything: what isn't a value stays where it is."""
    return reading if "text" not in reading or _VALUE.match(reading["text"]) else {"error": "unreadable"}


def _slots(run_tool: RunTool | None) -> dict[str, str]:
    if run_tool is None:
        return {"error": "not_run"}
    status, text = run_tool(["nvbootctrl", "dump-slots-info"])
    return {"text": text} if status == 0 else {"error": "denied" if status == 1 else "unreadable"}
