"""One repeat of a result from its raw files: parse the tool's output, prove its bytes, list what is doubtful. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from rerig import doubts
from rerig.depth import depth_issues, device_depth
from rerig.doubts import issue
from rerig.proof import prove_bytes
from rerig.rundir import RawRepeat
from rerig_agent.judge.proof_source import PROOF_REASONS
from rerig_agent.parse import ParseError
from rerig_agent.parse.dd import parse_dd, parse_dd_records
from rerig_agent.parse.fio import achieved_depth, depth_share, parse_fio
from rerig_agent.parse.procfs import parse_net_dev, parse_process_io

SHORTEST_S = 1e-6  # no tool here resolves less


@dataclass(frozen=True)
class ToolReading:
    """What a tool reported, and bytes over seconds; for fio also its own block of the result."""

    bytes: int
    duration_s: float
    bandwidth_bytes_per_s: float
    fio: dict[str, Any] | None = None


def build_repeat(
    case: dict[str, Any], raw: RawRepeat, classified: dict[str, Any], interface: str | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(the repeat's block, its issues). A tool that failed leaves ``bytes`` and what follows from them null."""
    record, number = raw.record, raw.number
    reading, issues = _read_tool(case, raw)
    asked = case["identity"].get("read_bytes") or case["parameters"]["span_bytes"]
    proof = {"verdict": "not_decidable", "delivered_bytes": None, "ratio": None}
    fio = None
    if reading is not None:
        proof = prove_bytes(reading.bytes, classified, record)
        fio = reading.fio
        if fio is not None:
            by_device, per_io = device_depth(classified, record, fio["ios"], reading.duration_s)
            fio = {**fio, "depth_by_device": by_device, "device_requests_per_io": per_io}
            issues += depth_issues(case["identity"]["queue_depth"], fio, number)
        issues += _reading_issues(case, reading, proof, classified, number)
    issues += _residency_issues(case, record, number)
    read_ahead_kb = _read_ahead_kb(record)
    asked_kb = case["identity"].get("read_ahead_kb", read_ahead_kb)
    if reading is not None and read_ahead_kb != asked_kb:
        what = "the kernel read ahead by another amount than was asked"
        issues.append(issue("read_ahead_off", what, asked_kb, read_ahead_kb, number))
    block = {
        "number": number,
        "started_at": record["started_at"],
        "asked_bytes": asked,
        "bytes": None if reading is None else reading.bytes,
        "duration_s": None if reading is None else reading.duration_s,
        "bandwidth_bytes_per_s": None if reading is None else reading.bandwidth_bytes_per_s,
        "wall_s": round(record["wall_s"], 6),
        "exit_status": record["exit_status"],
        "seed": _seed(case, number),
        "proof": proof,
        "process_read_bytes": _process_read_bytes(record),
        "network_received_bytes": _received_bytes(record, interface),
        "resident_before": _fraction(record["residency_before"]),
        "resident_after": _fraction(record["residency_after"]),
        "read_ahead_kb": read_ahead_kb,
        "fio": fio,
        "raw": {role: {"name": file.name, "sha256": file.sha256} for role, file in sorted(raw.files.items())},
    }
    return block, issues


def _read_tool(case: dict[str, Any], raw: RawRepeat) -> tuple[ToolReading | None, list[dict[str, Any]]]:
    record, number = raw.record, raw.number
    if record["timed_out"]:
        what = "the read did not end within its time limit"
        if record["unkillable"]:
            what += " and its process can't be killed"
        return None, [issue("timed_out", what, case["limit_s"], round(record["wall_s"], 1), number)]
    if record["error"] is not None or record["exit_status"] != 0:
        how = "could not be started" if record["error"] is not None else "ended with an error"
        return None, [issue("tool_failed", f"the tool {how}", 0, record["exit_status"], number)]
    try:
        reading = _read_fio(case, raw) if case["identity"]["kind"] == "fio_read" else _read_dd(raw)
    except ParseError:
        return None, [issue("tool_output_unreadable", _why_unreadable(raw), None, None, number)]
    if isinstance(reading, dict):
        return None, [reading]
    return reading, []


def _why_unreadable(raw: RawRepeat) -> str:
    """Some builds of busybox count records and nothing else."""
    try:
        parse_dd_records(raw.files["stderr"].text)
    except (ParseError, KeyError):
        return "the tool's output could not be read"
    return "this dd prints neither bytes nor seconds, as the one of GNU coreutils does"


def _read_dd(raw: RawRepeat) -> ToolReading:
    if "stderr" not in raw.files:
        raise ParseError("what dd said is missing")
    summary = parse_dd(raw.files["stderr"].text)
    size, duration_s = summary["bytes"], summary["duration_s"]
    return _reading(size, duration_s)


def _reading(size: int | None, duration_s: float | None) -> ToolReading:
    """Bytes over seconds, never the rate that a tool prints. Raises ParseError where it gave no usable figure."""
    if size is None or duration_s is None or not duration_s >= SHORTEST_S:
        raise ParseError("the tool measured no time or no bytes")
    return ToolReading(size, duration_s, size / duration_s)


def _read_fio(case: dict[str, Any], raw: RawRepeat) -> ToolReading | dict[str, Any]:
    if "fio" not in raw.files:
        raise ParseError("fio wrote no output file")
    output = parse_fio(raw.files["fio"].text)
    if len(output["jobs"]) != 1:
        raise ParseError("one job was expected")
    job = output["jobs"][0]
    side = job["read"]
    if job["error"] or output["errors"] or side["short_ios"] or side["dropped_ios"]:
        return issue("tool_failed", "fio reported an I/O error or short reads", 0, job["error"], raw.number)
    # An old fio counts none; every read of the plan is a whole block.
    ios = side["ios"] or (side["bytes"] or 0) // case["identity"]["block_bytes"]
    depth = case["identity"]["queue_depth"]
    levels = achieved_depth(job)
    reading = _reading(side["bytes"], side["duration_s"])
    latency_s = side["latency_mean_s"]
    fio = {
        "iops": ios / reading.duration_s,
        "ios": ios,
        "latency_mean_s": latency_s if latency_s is not None and math.isfinite(latency_s) else None,
        "depth_by_levels": None if levels is None else round(levels, 3),
        "share_at_depth": None if levels is None else round(depth_share(job, depth), 6),
    }
    return replace(reading, fio=fio)


def _reading_issues(
    case: dict[str, Any], reading: ToolReading, proof: dict[str, Any], classified: dict[str, Any], number: int
) -> list[dict[str, Any]]:
    issues = []
    asked = case["identity"].get("read_bytes")
    if asked is not None and reading.bytes < asked:
        issues.append(issue("short_read", "the tool read less than it was asked for", asked, reading.bytes, number))
    if asked is not None and reading.bytes > asked:
        what = "the file had grown since its reading was planned"
        issues.append(issue("file_changed", what, asked, reading.bytes, number))
    if reading.bytes == 0:
        issues.append(issue("short_read", "the tool read nothing", 1, 0, number))
    if proof["verdict"] in ("served_from_cache", "extra_traffic"):
        moved = proof["delivered_bytes"] - reading.bytes
        what = f"the device or server delivered {abs(moved):,} bytes {'fewer' if moved < 0 else 'more'} than were read"
        issues.append(issue(proof["verdict"], what, reading.bytes, proof["delivered_bytes"], number))
    elif proof["verdict"] == "not_decidable":
        reason = classified["proof"]["reason"]
        what = PROOF_REASONS.get(reason, "the counters of the device or server can't be read")
        issues.append(issue("bytes_not_provable", what, None, None, number))
    shortest_s = _shortest_s(case["identity"]["kind"], classified["storage_class"])
    if reading.duration_s < shortest_s:
        what = f"the run took {reading.duration_s:.2f} s"
        issues.append(issue("short_run", what, shortest_s, reading.duration_s, number))
    return issues


def _shortest_s(kind: str, storage_class: str) -> float:
    """From how many seconds on a run's length is no doubt. Reading the same again is meant to be short."""
    if storage_class == "vm_disk" and kind in ("dd_read", "fio_read"):
        return doubts.SHORT_RUN_OF_VIRTUAL_DISK_S
    return doubts.SHORT_RUN_S if kind == "fio_read" else 0.0


def _residency_issues(case: dict[str, Any], record: dict[str, Any], number: int) -> list[dict[str, Any]]:
    issues = []
    before, after = record["residency_before"], record["residency_after"]
    if not case["identity"]["direct"]:
        fraction = _fraction(before)
        if fraction is None:
            what = "whether the file was in memory could not be seen"
            issues.append(issue("coldness_unknown", what, doubts.COLD_FRACTION, None, number))
        elif fraction >= doubts.COLD_FRACTION:
            what = f"{fraction:.1%} of the file was in memory before the read"
            issues.append(issue("not_cold", what, doubts.COLD_FRACTION, fraction, number))
    if before["file_bytes"] and after["file_bytes"] and before["file_bytes"] != after["file_bytes"]:
        what = "the file's size changed during the read"
        issues.append(issue("file_changed", what, before["file_bytes"], after["file_bytes"], number))
    return issues


def _seed(case: dict[str, Any], number: int) -> int | None:
    if case["identity"]["kind"] != "fio_read":
        return None
    return next(int(repeat["seed"]) for repeat in case["repeats"] if repeat["number"] == number)


def _fraction(residency: dict[str, Any]) -> float | None:
    if residency["resident_bytes"] is None or not residency["file_bytes"]:
        return None
    share = float(residency["resident_bytes"]) / float(residency["file_bytes"])
    return round(min(1.0, share), 6)


def _read_ahead_kb(record: dict[str, Any]) -> int | None:
    """The read-ahead that was in force for this repeat, where the agent set and read it."""
    value = record.get("read_ahead_kb")
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _process_read_bytes(record: dict[str, Any]) -> int | None:
    try:
        return int(parse_process_io(record["child_io"])["read_bytes"])
    except (ParseError, KeyError, TypeError, AttributeError):
        return record.get("child_read_bytes")  # coarser, and told to every user


def _received_bytes(record: dict[str, Any], interface: str | None) -> int | None:
    if interface is None:
        return None
    try:
        before = parse_net_dev(record["counters_before"]["net_dev"])[interface]["rx_bytes"]
        after = parse_net_dev(record["counters_after"]["net_dev"])[interface]["rx_bytes"]
    except (ParseError, KeyError, TypeError, AttributeError):
        return None
    return int(after - before) if after >= before else None
