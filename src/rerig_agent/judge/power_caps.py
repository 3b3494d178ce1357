"""Whether the values that a power mode asks for are in force: what its files hold against what the mode wants."""

from __future__ import annotations

from typing import Any

from ..parse.nvpmodel_conf import NO_CAP, path_candidates
from .clock_readings import frequency, gpu_table, highest_cpu_khz

# The step between two clocks of a core is 76.8 MHz on all these boards; a cap in between is rounded down in silence.
CPU_STEP_KHZ = 76_800
NO_LIMIT = 2**63 - 1


def compare(jetson: dict[str, Any], conf: dict[str, Any], model: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """How many values could be looked at; and [{"what", "path", "real", "conf"}] of those that aren't in force.

    ``conf``: of :func:`rerig_agent.parse.nvpmodel_conf.parse_conf`; ``model``: one of its models.
    """
    looked, differences = 0, []
    for setting, wanted in model["settings"].items():
        if not isinstance(wanted, int) or setting.endswith(" MIN_FREQ"):  # jetson_clocks raises the lower ends
            continue
        path, real = _real(jetson, path_candidates(conf, setting))
        allowed = _allowed(jetson, setting, wanted)
        if path is None or real is None or allowed is None:
            continue
        looked += 1
        lowest, highest = allowed
        no_cap = real == 0 and highest == NO_LIMIT  # the memory's 0
        if not no_cap and not lowest <= real <= highest:
            differences.append({"what": setting, "path": path, "real": real, "conf": wanted})
    return looked, differences


def _real(jetson: dict[str, Any], paths: list[str]) -> tuple[str | None, int | None]:
    """A file has one path on older kernels and another on newer ones: that which is there counts."""
    caps = jetson.get("caps")
    found = [path for path in paths if isinstance(caps, dict) and path in caps]
    return (found[0], frequency(caps, found[0])) if found else (None, None)


def _allowed(jetson: dict[str, Any], setting: str, wanted: int) -> tuple[int, int] | None:
    """The lowest and highest value that means that the setting is in force; None where that can't be told."""
    parameter, _, argument = setting.partition(" ")
    if argument != "MAX_FREQ":
        return wanted, wanted
    if parameter == "GPU":
        steps = [step for step in gpu_table(jetson) if wanted == NO_CAP or step <= wanted]
        return (steps[-1], steps[-1]) if steps else None
    if parameter == "EMC":
        most = frequency(jetson, "clocks", "emc_max_rate")
        if wanted <= 0:
            return None if most is None else (most, NO_LIMIT)
        value = wanted if most is None else min(wanted, most)
        return value, value
    if parameter.startswith("CPU"):
        most = highest_cpu_khz(jetson)
        if most is None:
            return None
        value = most if wanted == NO_CAP else min(wanted, most)
        return value - CPU_STEP_KHZ + 1, value
    return None
