"""fio's output: its JSON reports of 2.x and 3.x; the semicolon and text reports are in fio_terse and fio_normal."""

from __future__ import annotations

import math
from typing import Any

from . import ParseError
from .fio_json import last_report
from .fio_log import fio_errors
from .fio_normal import parse_normal
from .fio_shape import (
    achieved_depth,
    depth_share,
    make_job,
    make_report,
    make_side,
    percentile_label,
    rate_unit,
    version_of,
)
from .fio_terse import parse_terse

__all__ = ["achieved_depth", "depth_share", "fio_errors", "parse_fio", "parse_normal", "parse_terse"]

# The sum that a client of several servers adds to their jobs, once or after each server.
_TOTALS = "All clients"
_DISK_FIELDS = {
    "read_ios": "read_ios",
    "write_ios": "write_ios",
    "read_merges": "read_merges",
    "write_merges": "write_merges",
    "read_sectors": "read_sectors",
    "write_sectors": "write_sectors",
    "read_ticks_ms": "read_ticks",
    "write_ticks_ms": "write_ticks",
    "in_queue_ms": "in_queue",
    "utilization_percent": "util",
}


def parse_fio(text: str) -> dict[str, Any]:
    """Read fio's JSON output, whatever stands around it; of several reports the last complete one.

    {"format": "json", "version": "3.33" | None, "major": 3, "log": the text outside the reports, "jobs": [job],
    "totals_job": "All clients" | None, "totals": that pseudo-job | None (it is the sum of the others and not among
    them), "disk_util": [disk], "errors": [lines of the log that report an error; they may name files]}

    job: {"name", "group", "error": errno, "total_errors": int | None (with continue_on_error), "engine": str | None,
    "asked_depth": int | None, "read", "write": side, "mixed": side | None (unified_rw_reporting, then "read" and
    "write" are empty), "depth_levels": {"1": percent, …, ">=64"}}
    side: {"bytes": int, "duration_s", "ios": int | None, "bandwidth_bytes_per_s": int | float | None, "iops": float |
    None, "latency_mean_s", "completion_latency_mean_s": float | None, "latency_percentiles_s": {"99.000000": s} | None,
    "short_ios", "dropped_ios": int | None}. None is what fio didn't measure or print: with gtod_reduce it prints
    latencies of zero. Its means of periodic samples (bw_mean, iops_mean) are never used.
    disk: {"name", "read_ios", "write_ios", "read_merges", "write_merges", "read_sectors", "write_sectors",
    "read_ticks_ms", "write_ticks_ms", "in_queue_ms", "utilization_percent"}; None where not printed. Unlike the jobs
    it counts the ramp time too.

    Units: until 2.21 fio printed KiB under "io_bytes"; latencies are in ns since 2.99, in us before; "bw" is in KiB/s,
    in the oldest versions in 1000 bytes/s. ParseError: no complete report, or one without fio's numbers.
    """
    report, log = last_report(text)
    version, major = version_of(str(report.get("fio version", "")))
    major = major or (3 if _counts_nanoseconds(report) else 2)
    shared = _dict(report.get("global options"))
    jobs, totals = [], None
    entries = report.get("jobs")
    client = not isinstance(entries, list)
    for entry in report["client_stats"] if client else entries or []:
        if not isinstance(entry, dict):
            raise ParseError("a job of fio's report is no object")
        job = _job(entry, shared, major)
        if client and job["name"] == _TOTALS:
            totals = job
        else:
            jobs.append(job)
    if not jobs:
        raise ParseError("fio's report holds no job")
    return make_report(
        "json",
        version,
        major,
        jobs,
        log=log,
        totals_job=totals["name"] if totals else None,
        totals=totals,
        disk_util=[_disk(entry) for entry in _list(report.get("disk_util")) if isinstance(entry, dict)],
        errors=fio_errors(log),
    )


def _job(entry: dict[str, Any], shared: dict[str, Any], major: int) -> dict[str, Any]:
    options = _dict(entry.get("job options"))
    engine = options.get("ioengine", shared.get("ioengine"))
    depth = options.get("iodepth", shared.get("iodepth", entry.get("latency_depth")))
    levels = _dict(entry.get("iodepth_level"))
    return make_job(
        str(entry.get("jobname", "")),
        group=_count(entry, "groupid"),
        error=_errno(entry.get("error")),
        total_errors=_count(entry, "total_err"),
        engine=engine if isinstance(engine, str) else None,
        asked_depth=int(str(depth)) if str(depth).isdecimal() and len(str(depth)) < 10 else None,
        read=_side(entry.get("read"), major),
        write=_side(entry.get("write"), major),
        mixed=_side(entry["mixed"], major) if "mixed" in entry else None,
        depth_levels={label: _number(levels, label) or 0.0 for label in levels},
    )


def _errno(value: Any) -> int:
    # Anything but a plain zero is an error, also what no fio prints.
    return abs(value) if isinstance(value, int) else 0 if value is None else 1


def _side(given: Any, major: int) -> dict[str, Any]:
    if given is None:
        return make_side()
    if not isinstance(given, dict):
        raise ParseError("a direction of a job in fio's report is no object")
    size, runtime_ms = _count(given, "io_bytes"), _count(given, "runtime")
    if size is None or runtime_ms is None:
        raise ParseError("a direction of a job in fio's report lacks its bytes or its time")
    # "io_kbytes" came with the change from KiB to bytes (fio commit c12d597a, in 2.21).
    size = size if major >= 3 or "io_kbytes" in given else size * 1024
    duration_s = runtime_ms / 1000
    clat, latency = _latency(given, "clat"), _latency(given, "lat")
    return make_side(
        bytes=size,
        duration_s=duration_s,
        ios=_count(given, "total_ios"),
        bandwidth_bytes_per_s=_bandwidth(given, size, duration_s),
        iops=_number(given, "iops"),
        latency_mean_s=_mean(latency),
        completion_latency_mean_s=_mean(clat),
        latency_percentiles_s=_percentiles(clat) or _percentiles(latency),
        short_ios=_count(given, "short_ios"),
        dropped_ios=_count(given, "drop_ios"),
    )


def _bandwidth(given: dict[str, Any], size: int, duration_s: float) -> float | None:
    exact = _count(given, "bw_bytes")
    if exact is not None:
        return exact
    rounded = _count(given, "bw")
    if rounded is None:
        return size / duration_s if duration_s else None
    return rounded * rate_unit(rounded, size, duration_s)


def _latency(given: dict[str, Any], name: str) -> tuple[dict[str, Any], float]:
    """(the block of numbers, how many of its units make a second)."""
    nanoseconds = given.get(f"{name}_ns")
    return (_dict(nanoseconds), 1e9) if nanoseconds is not None else (_dict(given.get(name)), 1e6)


def _mean(latency: tuple[dict[str, Any], float]) -> float | None:
    block, unit = latency
    mean = _number(block, "mean")
    return mean / unit if mean else None


def _percentiles(latency: tuple[dict[str, Any], float]) -> dict[str, float] | None:
    block, unit = latency
    found = {}
    listed = _dict(block.get("percentile"))
    for label in listed:
        try:
            percent, value = float(label), _number(listed, label)
        except ValueError:
            continue
        # 2.x fills the list up with percentiles of zero.
        if 0 < percent <= 100 and value is not None:
            found[percentile_label(percent)] = value / unit
    return found if any(found.values()) else None


def _disk(entry: dict[str, Any]) -> dict[str, Any]:
    disk: dict[str, Any] = {"name": str(entry.get("name", ""))}
    for key, printed in _DISK_FIELDS.items():
        disk[key] = _number(entry, printed) if printed == "util" else _count(entry, printed)
    return disk


def _counts_nanoseconds(report: dict[str, Any]) -> bool:
    entries = report.get("jobs", report.get("client_stats")) or []
    sides = [entry.get(side) for entry in entries if isinstance(entry, dict) for side in ("read", "write", "mixed")]
    return any("clat_ns" in side or "lat_ns" in side for side in sides if isinstance(side, dict))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(block: dict[str, Any], name: str) -> float | None:
    """A finite, not negative number, or None where it is missing or no such number."""
    value = block.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _count(block: dict[str, Any], name: str) -> int | None:
    value = block.get(name)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 80:
        return None
    return value
