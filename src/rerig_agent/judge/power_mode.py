"""Which power mode is set, by its name in the active file, and whether its values are in force."""

from __future__ import annotations

import re
from typing import Any

from ..parse import ParseError
from ..parse.devfreq import parse_available_frequencies, parse_frequency
from ..parse.nvpmodel import parse_status
from ..parse.nvpmodel_conf import NO_CAP, parse_conf, path_candidates
from .board import text_of

MASK = "TPC_POWER_GATING TPC_PG_MASK"
# The step between two clocks of a core is 76.8 MHz on all these boards; a cap in between is rounded down in silence.
CPU_STEP_KHZ = 76_800
_FILE = re.compile(r"nvpmodel_[a-z0-9_]{1,60}\.conf\Z")


def judge_mode(jetson: dict[str, Any]) -> dict[str, Any]:
    """{"name", "id", "conf", "modes": {name: id}, "default", "needs_reboot": [names], "applied": bool or None,
    "differences": [{"what", "path", "real", "conf"}]}.

    ``needs_reboot``: modes that gate other clusters of the GPU than the present one, which nvpmodel does at boot only.
    """
    empty: dict[str, Any] = {"name": None, "id": None, "conf": None, "modes": {}, "default": None}
    empty.update(needs_reboot=[], applied=None, differences=[])
    try:
        conf = parse_conf(text_of(jetson, "conf") or "")
    except ParseError:
        return empty
    names = {model["id"]: model["name"] for model in conf["models"]}
    model = _present(jetson, conf)
    known: dict[str, Any] = {
        **empty,
        "conf": _file_name(jetson),
        "modes": {name: number for number, name in names.items()},
        "default": names.get(conf["default"]),
    }
    if model is None:
        return known
    mask = model["settings"].get(MASK)
    looked, differences = _compare(jetson, conf, model)
    return {
        **known,
        "name": model["name"],
        "id": model["id"],
        "needs_reboot": [other["name"] for other in conf["models"] if other["settings"].get(MASK) != mask],
        "applied": not differences if looked else None,
        "differences": differences,
    }


def highest_cpu_khz(jetson: dict[str, Any]) -> int | None:
    """What the fastest core can do."""
    return max(
        (khz for khz in (_number(jetson, "cpus", cpu, "highest_khz") for cpu in _cpus(jetson)) if khz), default=None
    )


def gpu_table(jetson: dict[str, Any]) -> tuple[int, ...]:
    """The GPU's steps in Hz; empty where they can't be read."""
    try:
        return parse_available_frequencies(text_of(jetson, "gpu", "available_frequencies") or "")
    except ParseError:
        return ()


def frequency(jetson: Any, *keys: str) -> int | None:
    """One frequency of the evidence, or None."""
    return _number(jetson, *keys)


def _present(jetson: dict[str, Any], conf: dict[str, Any]) -> dict[str, Any] | None:
    try:
        number = parse_status(text_of(jetson, "files", "nvpmodel_status") or "")["id"]
    except ParseError:
        return None
    return next((model for model in conf["models"] if model["id"] == number), None)


def _file_name(jetson: dict[str, Any]) -> str | None:
    conf = jetson.get("conf")
    link = conf.get("link") if isinstance(conf, dict) else None
    name = link.rpartition("/")[2] if isinstance(link, str) else ""
    return name if _FILE.match(name) else None


def _compare(jetson: dict[str, Any], conf: dict[str, Any], model: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """How many values could be looked at, and those that differ from what the mode asks for."""
    looked, differences = 0, []
    for setting, wanted in model["settings"].items():
        if not isinstance(wanted, int) or setting.endswith(" MIN_FREQ"):  # jetson_clocks raises the lower ends
            continue
        path, real = _real(jetson, path_candidates(conf, setting))
        allowed = _allowed(jetson, setting, wanted)
        if path is None or real is None or allowed is None:
            continue
        looked += 1
        if not allowed[0] <= real <= allowed[1]:
            differences.append({"what": setting, "path": path, "real": real, "conf": wanted})
    return looked, differences


def _real(jetson: dict[str, Any], paths: list[str]) -> tuple[str | None, int | None]:
    caps = jetson.get("caps")
    for path in paths:
        if isinstance(caps, dict) and path in caps:
            return path, _number(caps, path)
    return None, None


def _allowed(jetson: dict[str, Any], setting: str, wanted: int) -> tuple[int, int] | None:
    """The lowest and highest value that means that the setting is in force; None where that can't be told."""
    parameter, _, argument = setting.partition(" ")
    if argument != "MAX_FREQ":
        return wanted, wanted
    if parameter == "GPU":
        table = gpu_table(jetson)
        steps = [step for step in table if wanted == NO_CAP or step <= wanted]
        return (steps[-1], steps[-1]) if steps else None
    if parameter == "EMC":
        highest = _number(jetson, "clocks", "emc_max_rate")
        if wanted <= 0:
            return None if highest is None else (highest, highest)
        value = wanted if highest is None else min(wanted, highest)
        return value, value
    if parameter.startswith("CPU"):
        highest = highest_cpu_khz(jetson)
        if highest is None:
            return None
        value = highest if wanted == NO_CAP else min(wanted, highest)
        return value - CPU_STEP_KHZ + 1, value
    return None


def _cpus(jetson: dict[str, Any]) -> list[str]:
    cpus = jetson.get("cpus")
    return [name for name in cpus if isinstance(name, str)] if isinstance(cpus, dict) else []


def _number(evidence: Any, *keys: str) -> int | None:
    try:
        return parse_frequency(text_of(evidence, *keys) or "")
    except ParseError:
        return None
