"""One repeat of a power budget from its raw files: what was loaded, what it came to, and what is doubtful. Pure."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rerig import doubts
from rerig.doubts import issue
from rerig.power_readings import LOADED_SHARE, Readings, read_all, read_samples
from rerig.rundir import RawRepeat
from rerig_agent.parse import ParseError

# In the order that a sentence names them in: what is missing, and why.
MISSING = {
    "input_power": "the input power (no INA3221 and no tegrastats that names it)",
    "tj": "tj (no such thermal zone)",
    "gpu_clock": "the GPU's clock (no devfreq)",
    "cpu_clock": "the processors' clocks (no cpufreq)",
    "gpu_load": "the GPU's load (neither tegrastats nor the kernel tells it)",
    "cores": "the processors' load (the kernel's counters of it can't be read)",
}


def build_power_repeat(case: dict[str, Any], raw: RawRepeat) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(the repeat's block, its issues)."""
    record, number = raw.record, raw.number
    sensors = record["sensors"] if isinstance(record.get("sensors"), dict) else {}
    load_s = float(record["load_s"])
    issues = []
    try:
        samples = read_samples(raw.files["samples"].text if "samples" in raw.files else "")
    except ParseError:
        samples = []
        issues.append(issue("tool_output_unreadable", "the samples could not be read", None, None, number))
    tegrastats = raw.files["tegrastats"].text if "tegrastats" in raw.files else None
    found = read_all(samples, sensors, tegrastats, load_s)
    if record["exit_status"] != 0:
        issues.append(
            issue("tool_failed", "the load ended before its time", case["identity"]["load_s"], load_s, number)
        )
    loaded = None if found.gpu_load_mean is None else found.gpu_load_mean >= LOADED_SHARE
    partial = not (loaded and found.cores_online and found.cores_loaded == found.cores_online)
    missing = _missing(found)
    block = {
        "number": number,
        "started_at": record["started_at"],
        "wall_s": round(record["wall_s"], 6),
        "exit_status": record["exit_status"],
        "load_s": round(load_s, 6),
        "samples": found.samples,
        "partial": partial,
        "cores_online": found.cores_online,
        "cores_loaded": found.cores_loaded,
        "gpu_load_mean": found.gpu_load_mean,
        "gpu_loaded": loaded,
        **_highest("input_power_highest_w", "input_power_source", found.power),
        **_highest("tj_highest_c", "tj_source", found.tj),
        "temperature_highest_c": found.temperature_highest_c,
        "gpu_clock": None if found.gpu_clock is None else dataclasses.asdict(found.gpu_clock),
        "cpu_clock": None if found.cpu_clock is None else dataclasses.asdict(found.cpu_clock),
        "missing": missing,
        "raw": {role: {"name": file.name, "sha256": file.sha256} for role, file in sorted(raw.files.items())},
    }
    issues += _doubts(case, raw, block)
    return block, issues


def gives_a_figure(repeat: dict[str, Any]) -> bool:
    """Whether the load lasted and anything at all is known of what it did."""
    return repeat["exit_status"] == 0 and bool(repeat["samples"]) and set(repeat["missing"]) != set(MISSING)


def _highest(key: str, source_key: str, by_source: dict[str, float]) -> dict[str, Any]:
    source = max(by_source, key=lambda name: by_source[name], default=None)
    return {key: None if source is None else round(by_source[source], 3), source_key: source}


def _missing(found: Readings) -> list[str]:
    known = {
        "input_power": bool(found.power),
        "tj": bool(found.tj),
        "gpu_clock": found.gpu_clock is not None,
        "cpu_clock": found.cpu_clock is not None,
        "gpu_load": found.gpu_load_mean is not None,
        "cores": found.cores_loaded is not None,
    }
    return [name for name, is_known in known.items() if not is_known]


def _doubts(case: dict[str, Any], raw: RawRepeat, block: dict[str, Any]) -> list[dict[str, Any]]:
    number, record = raw.number, raw.record
    issues = []
    failure = _gpu_failure(raw, case["identity"]["load_s"])
    if failure is not None:
        issues.append(issue("gpu_load_failed", failure, None, None, number))
    if block["partial"]:
        what = f"the machine was loaded in part: {_loads(block, record)}"
        issues.append(issue("partial", what, "every processor and the GPU", _figures(block), number))
    if block["missing"]:
        what = "nothing here tells " + _listed([MISSING[name] for name in block["missing"]])
        issues.append(issue("sensors_missing", what, None, None, number))
    due = case["identity"]["load_s"] / case["parameters"]["sample_s"]
    if block["samples"] < doubts.FEWEST_SAMPLES_SHARE * due:
        issues.append(issue("samples_missing", "fewer samples were taken than were due", due, block["samples"], number))
    if record["unkillable"]:
        issues.append(issue("load_left", "a process of the load could not be ended", None, None, number))
    return issues


def _loads(block: dict[str, Any], record: dict[str, Any]) -> str:
    cores = "how busy the processors were is not known"
    if block["cores_loaded"] is not None:
        cores = f"{block['cores_loaded']} of {block['cores_online']} processors"
    if record["gpu_load"] is None:
        return f"{cores}, and no command for the GPU was given (--gpu-load)"
    if block["gpu_load_mean"] is None:
        return f"{cores}, and nothing tells whether the GPU was"
    return f"{cores}, and the GPU to {block['gpu_load_mean']:.0%}"


def _figures(block: dict[str, Any]) -> str:
    gpu = "not known" if block["gpu_load_mean"] is None else f"{block['gpu_load_mean']:.0%}"
    return f"processors {block['cores_loaded']} of {block['cores_online']}, GPU {gpu}".replace("None", "unknown")


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _gpu_failure(raw: RawRepeat, load_s: float) -> str | None:
    """That the GPU's command could not be started, or ended before the load did."""
    text = raw.files["load"].text if "load" in raw.files else ""
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        name = event.get("event") if isinstance(event, dict) else None
        if name == "gpu-error":
            return "the GPU's command could not be started"
        if name == "gpu-end" and isinstance(event.get("status"), int) and _number(event.get("after_s")) < load_s - 1:
            how = f"by signal {-event['status']}" if event["status"] < 0 else f"with status {event['status']}"
            return f"the GPU's command ended after {_number(event.get('after_s')):.0f} s, {how}"
    return None


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
