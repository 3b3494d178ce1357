"""Power, heat, clocks and loads out of a power budget's raw samples and tegrastats' lines. Pure. None: not known.

Loads and clocks are judged from when the load had begun to work (:func:`warm_from_s`); the highest power and heat count
from the start.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from rerig_agent.parse import ParseError
from rerig_agent.parse.devfreq import parse_available_frequencies, parse_frequency
from rerig_agent.parse.ina3221 import parse_rails
from rerig_agent.parse.numbers import signed
from rerig_agent.parse.proc_stat import parse_processor_times
from rerig_agent.parse.tegrastats import parse_lines

# What feeds the whole board: VDD_IN of Orin Nano and NX, VIN of Thor. The AGX Orin's rails are no such sum.
INPUT_RAILS = ("VDD_IN", "VIN")
TJ_ZONES = ("tj-thermal", "tj_thermal")
LOADED_SHARE = 0.9
AT_MAX_SHARE = 0.99  # clocks that are measured, and not only set, waver by less
WARM_LIMIT_S = 10.0
GPU_LOAD_WHOLE = 1000  # the kernel's file counts thousandths
KHZ = 1000
MOST_SAMPLES = 1_000_000

Sample = dict[str, Any]


@dataclass(frozen=True)
class Clock:
    """``max_hz`` and ``lowest_hz``, and the share of the samples at the maximum."""

    max_hz: int
    lowest_hz: int
    share_at_max: float


@dataclass(frozen=True)
class Readings:
    """What was read while the load lasted. Power in W, temperatures in degrees Celsius, loads and shares 0 to 1."""

    samples: int
    cores_online: int | None = None
    cores_loaded: int | None = None
    gpu_load_mean: float | None = None
    power: dict[str, float] = field(default_factory=dict)  # the highest, by source
    tj: dict[str, float] = field(default_factory=dict)  # likewise
    temperature_highest_c: float | None = None
    gpu_clock: Clock | None = None
    cpu_clock: Clock | None = None


def warm_from_s(load_s: float) -> float:
    """From which second on the load counts as working: programs must be loaded, and governors answer."""
    return min(WARM_LIMIT_S, load_s / 4)


def read_samples(text: str) -> list[Sample]:
    """The samples in ``samples.jsonl``; a torn last line is left out. Raises ParseError for any other."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines[: MOST_SAMPLES + 1]):
        try:
            sample = json.loads(line) if line else None
        except (ValueError, RecursionError):
            if number < len(lines) - 1:
                raise ParseError("a sample is torn") from None
            continue
        if isinstance(sample, dict) and isinstance(sample.get("at_s"), (int, float)):
            found.append(sample)
    return found


def read_all(samples: list[Sample], sensors: dict[str, Any], tegrastats: str | None, load_s: float) -> Readings:
    """Everything that the samples of the load and tegrastats' lines tell. ``sensors``: as the record has them."""
    loaded = [sample for sample in samples if sample.get("phase") == "load"]
    warm = [sample for sample in loaded if sample["at_s"] >= warm_from_s(load_s)]
    lines = _lines(tegrastats)
    # tegrastats names no time that could be compared: as many of its lines are cold as of the samples, at its pace.
    cold = math.ceil(len(lines) * warm_from_s(load_s) / load_s) if load_s else 0
    online, busy = _cores(warm)
    power = {"ina3221": _highest(_input_watts(sample) for sample in loaded)}
    power["tegrastats"] = _highest(_line_watts(line) for line in lines)
    zones = _of(sensors, "zones")
    tj = {"thermal_zone": _highest(_zone(sample, zones, TJ_ZONES) for sample in loaded)}
    tj["tegrastats"] = _highest(line["temperatures"].get("tj") for line in lines)
    return Readings(
        samples=len(loaded),
        cores_online=online,
        cores_loaded=busy,
        gpu_load_mean=_gpu_load(warm, lines[cold:]),
        power={source: value for source, value in power.items() if value is not None},
        tj={source: value for source, value in tj.items() if value is not None},
        temperature_highest_c=_highest(_zone(sample, zones, None) for sample in loaded),
        gpu_clock=_gpu_clock(warm, sensors),
        cpu_clock=_cpu_clock(warm, sensors),
    )


def _lines(text: str | None) -> list[dict[str, Any]]:
    try:
        return parse_lines(text or "")
    except ParseError:
        return []


def _cores(samples: list[Sample]) -> tuple[int | None, int | None]:
    """(online, loaded): by the times from the first warm sample to the last."""
    try:
        first, last = (parse_processor_times(_text(sample, "stat")) for sample in (samples[0], samples[-1]))
    except (ParseError, IndexError):
        return None, None
    spans = {name: last[name]["total"] - first[name]["total"] for name in last if name in first}
    if not any(span > 0 for span in spans.values()):
        return len(last), None
    busy = [
        name
        for name, span in spans.items()
        if span > 0 and last[name]["busy"] - first[name]["busy"] >= LOADED_SHARE * span
    ]
    return len(last), len(busy)


def _input_watts(sample: Sample) -> float | None:
    for files in _of(sample, "monitors").values():
        texts = {name: text for name, text in files.items() if isinstance(text, str)} if isinstance(files, dict) else {}
        try:
            rails = parse_rails(texts)
        except ParseError:
            continue
        found = next((rails[name]["mw"] for name in INPUT_RAILS if name in rails), None)
        if found is not None:
            return float(found) / 1000
    return None


def _line_watts(line: dict[str, Any]) -> float | None:
    found = next((line["rails"][name]["now_mw"] for name in INPUT_RAILS if name in line["rails"]), None)
    return None if found is None else float(found) / 1000


def _zone(sample: Sample, types: dict[str, Any], wanted: tuple[str, ...] | None) -> float | None:
    """The highest temperature of the zones of the wanted types; None: of all. Zones that are off report nonsense."""
    found = []
    for name, text in _of(sample, "zones").items():
        if (wanted is None or types.get(name) in wanted) and isinstance(text, str):
            try:
                found.append(signed(text.strip(), "a temperature") / 1000)
            except ParseError:
                continue
    return max((value for value in found if -50 < value < 200), default=None)


def _gpu_load(samples: list[Sample], lines: list[dict[str, Any]]) -> float | None:
    """Its mean: by tegrastats, else by the kernel's file, in thousandths."""
    loads = [line["gpu"]["load"] / 100 for line in lines if line["gpu"] and line["gpu"]["load"] is not None]
    if not loads:
        numbers = (_number(_of(sample, "gpu").get("load")) for sample in samples)
        loads = [min(1.0, number / GPU_LOAD_WHOLE) for number in numbers if number is not None]
    return round(sum(loads) / len(loads), 4) if loads else None


def _gpu_clock(samples: list[Sample], sensors: dict[str, Any]) -> Clock | None:
    gpu = _of(sensors, "gpu")
    ends = [_number(gpu.get("max_freq"))]
    try:
        ends.append(parse_available_frequencies(_text(gpu, "available_frequencies"))[-1])
    except ParseError:
        ends.append(None)
    limits = [end for end in ends if end]
    clocks = [_number(_of(sample, "gpu").get("cur_freq")) for sample in samples]
    known = [clock for clock in clocks if clock is not None]
    if not limits or not known:
        return None
    held = [clock >= AT_MAX_SHARE * min(limits) for clock in known]
    return Clock(min(limits), min(known), round(sum(held) / len(held), 4))


def _cpu_clock(samples: list[Sample], sensors: dict[str, Any]) -> Clock | None:
    limits = {}
    for name, files in _of(sensors, "cpus").items():
        texts = files if isinstance(files, dict) else {}
        limits[name] = _number(texts.get("scaling_max_freq")) or _number(texts.get("cpuinfo_max_freq"))
    lowest, held = [], []
    for sample in samples:
        clocks = {name: _number(text) for name, text in _of(sample, "cpus").items()}
        known = {name: clock for name, clock in clocks.items() if clock is not None and limits.get(name)}
        if known:
            lowest.append(min(known.values()))
            held.append(all(clock >= AT_MAX_SHARE * (limits[name] or 0) for name, clock in known.items()))
    if not held:
        return None
    highest = max(limit for limit in limits.values() if limit)
    return Clock(highest * KHZ, min(lowest) * KHZ, round(sum(held) / len(held), 4))


def _highest(values: Any) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _number(text: object) -> int | None:
    try:
        number = parse_frequency(text) if isinstance(text, str) else None
    except ParseError:
        return None
    return number if number is not None and number < 2**53 else None


def _text(parts: dict[str, Any], key: str) -> str:
    value = parts.get(key)
    return value if isinstance(value, str) else ""


def _of(parts: dict[str, Any], key: str) -> dict[str, Any]:
    value = parts.get(key)
    return value if isinstance(value, dict) else {}
