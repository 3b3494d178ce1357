"""The clocks of the board as its sysfs has them: where their files are, what they say."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from . import place

CPUS = "/sys/devices/system/cpu"
EMC = "/sys/kernel/debug/bpmp/debug/clk/emc"


class Cpu(NamedTuple):
    """One core: the folder of its clock, whether it is switched on, its idle states with whether each is allowed."""

    number: int
    clock: str
    online: bool
    idle: dict[str, bool]


def cpus() -> list[Cpu]:
    names = (re.fullmatch(r"cpu(\d+)", one.name) for one in place.path(CPUS).iterdir())
    return [_cpu(number) for number in sorted(int(match.group(1)) for match in names if match)]


def _cpu(number: int) -> Cpu:
    folder = f"{CPUS}/cpu{number}"
    idle = {place.word(f"{state}/name"): place.word(f"{state}/disable") == "0" for state in idle_states(number)}
    return Cpu(number, f"{folder}/cpufreq", place.word(f"{folder}/online") == "1", idle)


def idle_states(number: int) -> list[str]:
    folder = f"{CPUS}/cpu{number}/cpuidle"
    try:
        return sorted(f"{folder}/{one.name}" for one in place.path(folder).iterdir())
    except OSError:
        return []


def online_list(cores: list[Cpu]) -> str:
    """0-3,5 as the kernel writes a list of numbers."""
    runs: list[list[int]] = []
    for core in cores:
        if core.online:
            if runs and runs[-1][1] == core.number - 1:
                runs[-1][1] = core.number
            else:
                runs.append([core.number, core.number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def gpu(board: dict[str, Any]) -> str:
    """The folder of the GPU's clock."""
    return f"/sys/class/devfreq/{board['gpu']['name']}"


def active_clusters(board: dict[str, Any]) -> int:
    """How many of the GPU's eight texture processing clusters the mask leaves on."""
    mask = place.number(f"{board['gpu']['device']}/tpc_pg_mask") or 0
    return sum(1 for bit in range(8) if not mask >> bit & 1)
