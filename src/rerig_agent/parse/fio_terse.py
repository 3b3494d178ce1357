"""fio's semicolon-separated reports (--minimal, --output-format=terse), versions 2 to 5.

Fields by fio's HOWTO ("Terse output") and stat.c (show_thread_status_terse_all). A line does not say how many
directions it has: version 3 has read and write, the others also trim but for the oldest; unified_rw_reporting has one,
or one more. So they are counted: 34 fields that end in "%" or are counters follow the last direction.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .fio_log import fio_errors
from .fio_shape import DEPTH_BUCKETS, make_job, make_report, make_side, percentile_label, rate_unit, version_of
from .numbers import is_whole, whole

_LONGEST_LINE = 16_000
_LINE = re.compile(r"[ \t]{0,8}[2-5];")
# A line may be glued to the progress or to the disks before it; within a line no "%" is followed by a number.
_GLUED = re.compile(r"(?<=[)\]%])(?=[2-5];)")
_PERCENTILES = 20
_SIDE_FIELDS = {2: 41, 3: 41, 4: 41, 5: 47}
_TAIL_FIELDS = 34  # CPU 5, depths 7, latencies 10 + 12
_DISK_FIELDS = (
    "read_ios",
    "write_ios",
    "read_merges",
    "write_merges",
    "read_ticks_ms",
    "write_ticks_ms",
    "in_queue_ms",
)
_TOTALS = "All clients"


def parse_terse(text: str) -> dict[str, Any]:
    """One or more terse lines -> the shape of parse_fio, with "format": "terse".

    Bytes are whole KiB and rates whole KiB/s, as printed; version 2 names no fio version (then "major" is 2). Engine
    and asked depth are not printed. Lines of several reports (--status-interval) look like several jobs and are
    returned as such. ParseError: no terse line, or one whose fields don't fit its version.
    """
    jobs: list[dict[str, Any]] = []
    disks: list[dict[str, Any]] = []
    log: list[str] = []
    version, major, totals = None, None, None
    for line in _lines(text):
        if not _LINE.match(line):
            if line.startswith(";"):  # from a client: a report's disks on a line of their own
                disks = _disks(line[1:].split(";")) or disks
            elif line.strip():
                log.append(line)
            continue
        job, disks_here, version_here = _job(line.strip())
        disks = disks_here or disks
        if version_here is not None:
            version, major = version_of(version_here)
        if job["name"] == _TOTALS:
            totals = job
        else:
            jobs.append(job)
    if not jobs:
        raise ParseError("fio's output holds no terse line")
    outside = "\n".join(log)
    return make_report(
        "terse",
        version,
        major or 2,
        jobs,
        log=outside,
        totals_job=totals["name"] if totals else None,
        totals=totals,
        disk_util=disks,
        errors=fio_errors(outside),
    )


def _lines(text: str) -> list[str]:
    lines = [line for line in re.split(r"[\r\n]+", text) if len(line) <= _LONGEST_LINE]
    return [piece for line in lines for piece in _GLUED.split(line)]


def _job(line: str) -> tuple[dict[str, Any], list[dict[str, Any]], str | None]:
    fields = line.split(";")
    terse_version = int(fields[0])
    head = 1 if terse_version == 2 else 2
    # A job's name may hold semicolons.
    for start in range(head + 3, min(head + 12, len(fields))):
        if is_whole(fields[start - 2]) and is_whole(fields[start - 1]):
            sides = _count_sides(fields, start, _SIDE_FIELDS[terse_version])
            if sides:
                break
    else:
        raise ParseError("a terse line of fio has not the fields of its version")
    size = _SIDE_FIELDS[terse_version]
    read = [_side(fields[start + size * index : start + size * (index + 1)]) for index in range(sides)]
    tail = fields[start + size * sides :]
    rest = tail[_TAIL_FIELDS:]
    disks = _disks(rest)
    rest = rest[9 * len(disks) :]
    labels = (*(str(bound) for bound in DEPTH_BUCKETS[:-1]), ">=64")
    job = make_job(
        ";".join(fields[head : start - 2]),
        group=whole(fields[start - 2], "the group of a job"),
        error=whole(fields[start - 1], "the error of a job"),
        total_errors=int(rest[0]) if len(rest) >= 2 and is_whole(rest[0]) and is_whole(rest[1]) else None,
        read=read[0],
        write=read[1] if sides > 1 else make_side(),
        depth_levels={label: _percent(field) for label, field in zip(labels, tail[5:12])},
    )
    if sides == 1:
        job.update({"read": make_side(), "mixed": read[0]})
    return job, disks, fields[1] if head == 2 else None


def _count_sides(fields: list[str], start: int, size: int) -> int:
    for sides in (2, 3, 4, 1):
        tail = fields[start + sides * size :][:_TAIL_FIELDS]
        if len(tail) == _TAIL_FIELDS and all(field.endswith("%") for field in tail[:2] + tail[5:]):
            return sides
    return 0


def _side(fields: list[str]) -> dict[str, Any]:
    """Bytes, bandwidth, IOPS and time; slat, clat of 4 numbers; 20 percentiles; lat of 4; the rest is sampled."""
    size = whole(fields[0], "the KiB of a job") * 1024
    rate = whole(fields[1], "the rate of a job")
    duration_s = whole(fields[3], "the time of a job") / 1000
    return make_side(
        bytes=size,
        duration_s=duration_s,
        ios=None,
        bandwidth_bytes_per_s=rate * rate_unit(rate, size, duration_s),
        iops=float(whole(fields[2], "the IOPS of a job")),
        completion_latency_mean_s=_microseconds(fields[10]),
        latency_percentiles_s=_percentiles(fields[12 : 12 + _PERCENTILES]),
        latency_mean_s=_microseconds(fields[34]),
    )


def _percentiles(fields: list[str]) -> dict[str, float] | None:
    found = {}
    for field in fields:
        percent, _, value = field.partition("%=")
        microseconds = _float(value)
        if _float(percent) and microseconds is not None:
            found[percentile_label(_float(percent) or 0.0)] = microseconds / 1e6
    return found if any(found.values()) else None


def _disks(fields: list[str]) -> list[dict[str, Any]]:
    """As many groups of nine as there are: name, seven counters, percent."""
    disks = []
    while len(fields) >= 9 and all(map(is_whole, fields[1:8])) and fields[8].endswith("%"):
        disk: dict[str, Any] = {"name": fields[0], "read_sectors": None, "write_sectors": None}
        disk.update(zip(_DISK_FIELDS, map(int, fields[1:8])))
        disk["utilization_percent"] = _float(fields[8][:-1])
        disks.append(disk)
        fields = fields[9:]
    return disks


def _percent(field: str) -> float:
    return _float(field[:-1]) or 0.0


def _microseconds(field: str) -> float | None:
    value = _float(field)
    return value / 1e6 if value else None


def _float(text: str) -> float | None:
    """None for what is no plain number, such as "-nan"."""
    return float(text) if re.match(r"[0-9]{1,24}(?:\.[0-9]{1,24})?\Z", text) else None
