"""fio's reports for people, of 2.x and 3.x: the text that it prints without --output-format."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .fio_log import fio_errors
from .fio_shape import make_job, make_report, make_side, percentile_label, version_of

_LONGEST_LINE = 4000
_NUMBER = r"([0-9]{1,24}(?:\.[0-9]{1,24})?)"
_AMOUNT = _NUMBER + r" {0,3}([kKMGTPE]?)(i?)(B|b|bit)?"
_OPTIONS = re.compile(
    r"(.{0,1000}): \(g=[0-9]{1,9}\): rw=[^ ]{1,40}, bs=(.{0,400}), ioengine=([^\s,]{1,80}), iodepth=([0-9]{1,9})"
)
_BLOCK = re.compile(_AMOUNT + "-" + _AMOUNT)
_JOB = re.compile(r"(.{0,1000}): \(groupid=([0-9]{1,9}), jobs=[0-9]{1,9}\): err= {0,3}([0-9]{1,9})")
# A client of fio servers puts the host before a line, and progress reports come without an end of line.
_BEFORE_LINE = re.compile(
    r"(?:Jobs: [0-9]{1,9} \(f=[0-9]{1,9}\)(?:: .{0,600}?\[eta [^\]]{1,20}\])?)?(?:<[^<>]{1,300}> ?)?"
)
_CLIENT = re.compile(r"hostname=.{0,600}\bfio=(fio-[^\s,]{1,40})")
_SIDE = re.compile(r"\s{1,8}(read|write|trim|mixed) {0,3}: (?:IOPS=|io=)")
_IOPS = re.compile(r"\b(?:IOPS|iops)=" + _NUMBER + r"([kKMGT]?)")
_BANDWIDTH = re.compile(r"\b(?:BW|bw)= {0,3}" + _AMOUNT)
_MOVED_3 = re.compile(r"\(" + _AMOUNT + r"/([0-9]{1,15})msec\)")
_MOVED_2 = re.compile(r"\bio=" + _AMOUNT + r".{0,120}\brunt= {0,12}([0-9]{1,15})msec")
_LATENCY = re.compile(r"\s{1,8}(clat|lat) {0,3}\((nsec|usec|msec|sec)\)(?: {0,3}): min=.{0,80}\bavg= {0,12}" + _NUMBER)
_PERCENTILES = re.compile(r"\s{1,8}([a-z]{1,8}) percentiles \((nsec|usec|msec|sec)\):")
_PERCENTILE = re.compile(_NUMBER + r"th=\[ {0,12}([0-9]{1,20})\]")
_DEPTHS = re.compile(r"\s{1,8}IO depths {1,8}: (.{1,300})")
_DEPTH = re.compile(r"(>=64|[0-9]{1,2})=" + _NUMBER + "%")
_ISSUED_2 = re.compile(r"\s{1,8}issued {1,8}: ")
_ISSUED_3 = re.compile(r"\s{1,8}issued rwts?: ")
_COUNTS_2 = re.compile(r"(total|short|drop)=r=([0-9]{1,24})/w=([0-9]{1,24})")
_COUNTS_3 = re.compile(r"(total|short|dropped)=([0-9]{1,24}),([0-9]{1,24})")
_DISK = re.compile(
    r"\s{1,8}(.{1,200}): ios=([0-9]{1,24})/([0-9]{1,24})(?:, sectors=([0-9]{1,24})/([0-9]{1,24}))?"
    r", merge=([0-9]{1,24})/([0-9]{1,24}), ticks=([0-9]{1,24})/([0-9]{1,24}), in_queue=([0-9]{1,24}), util={0,3}"
    r" {0,3}([-0-9.na]{1,12})%"
)
_VERSION = re.compile(r"(?:fio[- ][0-9][^\s;]{0,40}|[0-9](?:\.[0-9]{1,3}){1,3})\Z")
_SECONDS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_TOTALS = "All clients"
_ENOUGH_IOS = 200


def parse_normal(text: str) -> dict[str, Any]:
    """Read fio's text report -> the shape of parse_fio, with "format": "normal".

    2.17 and later round bytes, rates and IOPS, and many versions do it wrongly (13.06k is printed as 13.6k). Where the
    text says one block size and a good number of I/Os, their product is used instead, else what is printed; of a pair
    of rates the binary one (MiB/s). Up to 2.16 "KB/s" and "MB/s" are binary, and exact enough. "ios" are exact. Of
    several reports (--status-interval) the last complete one counts. ParseError: no job.
    """
    reader = _Reader()
    for line in re.split(r"[\r\n]+", text):
        if len(line) <= _LONGEST_LINE:
            reader.read(line)
    reports = reader.reports()
    if not reports:
        raise ParseError("fio's output holds no job of a text report")
    jobs, disks = reports[-1]
    totals = next((job for job in reversed(jobs) if job["name"] == _TOTALS), None)
    jobs = [job for job in jobs if job["name"] != _TOTALS]
    if not jobs:
        raise ParseError("fio's output holds no job of a text report")
    version, major = version_of(reader.version or "")
    return make_report(
        "normal",
        version,
        major or (2 if reader.old else 3),
        jobs,
        log="\n".join(reader.log),
        totals_job=totals["name"] if totals else None,
        totals=totals,
        disk_util=disks,
        errors=fio_errors("\n".join(reader.log)),
    )


class _Reader:
    """Goes through the lines once; a job's lines follow its head."""

    def __init__(self) -> None:
        self.version: str | None = None
        self.old = False
        self.log: list[str] = []
        self._client = False
        self._options: dict[str, re.Match[str]] = {}
        self._blocks: list[int | None] = []
        self._groups: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = []
        self._closed = True
        self._job: dict[str, Any] | None = None
        self._side: dict[str, Any] | None = None
        self._percentiles: dict[str, float | None] = {}
        self._unit = 1.0

    def reports(self) -> list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
        """(jobs, disks) of every report that reached its summary; of one that was cut only if there is no other."""
        return self._groups if self._closed or self._client or len(self._groups) < 2 else self._groups[:-1]

    def read(self, line: str) -> None:
        before = _BEFORE_LINE.match(line)
        if before and before.end():
            self._client = self._client or before.group().endswith((">", "> "))
            line = line[before.end() :]
        head, options = _JOB.match(line), _OPTIONS.match(line)
        if head:
            self._begin_job(head)
        elif options:
            self._options[options.group(1)] = options
        elif _VERSION.match(line):
            self.version = line
        elif line.startswith("Run status group"):
            self._job, self._closed = None, True
        elif not (self._read_of_job(line) or self._read_disk(line)) and line.strip():
            self._read_other(line)

    def _read_other(self, line: str) -> None:
        self.log.append(line)
        banner = _CLIENT.match(line)
        if banner:
            self._client, self.version = True, banner.group(1)

    def _begin_job(self, head: re.Match[str]) -> None:
        # Where there are several clients each prints a report of its own, and they belong together.
        if not self._groups or (self._closed and not self._client):
            self._groups.append(([], []))
        name = head.group(1)
        self._job = make_job(name, group=int(head.group(2)), error=int(head.group(3)))
        options, self._blocks = self._options.get(name), []
        if options:
            self._job.update({"engine": options.group(3), "asked_depth": int(options.group(4))})
            self._blocks = _block_sizes(options.group(2))
        self._side = None
        self._groups[-1][0].append(self._job)
        self._closed = False
        if self._job["error"]:
            self.log.append(head.string)

    def _read_of_job(self, line: str) -> bool:
        if self._job is None:
            return False
        side, depths = _SIDE.match(line), _DEPTHS.match(line)
        if side:
            self.old = self.old or "io=" in line
            self._side, self._percentiles = _moved(line), {}
            if side.group(1) != "trim":
                self._job[side.group(1)] = self._side
        elif depths:
            self._job["depth_levels"] = {label: float(share) for label, share in _DEPTH.findall(depths.group(1))}
        elif _ISSUED_2.match(line) or _ISSUED_3.match(line):
            _count(self._job, line, self._blocks)
        else:
            return self._side is not None and self._read_latency(self._side, line)
        return True

    def _read_latency(self, side: dict[str, Any], line: str) -> bool:
        latency, percentiles = _LATENCY.match(line), _PERCENTILES.match(line)
        if latency:
            key = "latency_mean_s" if latency.group(1) == "lat" else "completion_latency_mean_s"
            side[key] = float(latency.group(3)) * _SECONDS[latency.group(2)] or None
        elif percentiles:
            self._unit = _SECONDS[percentiles.group(2)]
            # Of completion and total latency, which are both printed on demand, the first counts, as in JSON.
            wanted = percentiles.group(1) in ("clat", "lat") and not side["latency_percentiles_s"]
            self._percentiles = {} if wanted else {"": None}
        elif line.lstrip().startswith("|"):
            if "" not in self._percentiles:
                self._add_percentiles(side, line)
        else:
            return False
        return True

    def _add_percentiles(self, side: dict[str, Any], line: str) -> None:
        for percent, value in _PERCENTILE.findall(line):
            label = percentile_label(float(percent))
            # A client rounds the labels, so that several become "100th": none of them can be told.
            self._percentiles[label] = None if label in self._percentiles else int(value) * self._unit
        known = {label: value for label, value in self._percentiles.items() if value is not None}
        side["latency_percentiles_s"] = known or None

    def _read_disk(self, line: str) -> bool:
        match = _DISK.match(line)
        if not match or not self._groups:
            return False
        name, *numbers, utilization = match.groups()
        keys = ("ios", "sectors", "merges", "ticks_ms")
        disk: dict[str, Any] = {"name": name.strip()}
        for index, key in enumerate(keys):
            for offset, direction in enumerate(("read", "write")):
                number = numbers[2 * index + offset]
                disk[f"{direction}_{key}"] = None if number is None else int(number)
        disk["in_queue_ms"] = int(numbers[-1])
        disk["utilization_percent"] = float(utilization) if re.match(r"[0-9]+(\.[0-9]+)?\Z", utilization) else None
        self._groups[-1][1].append(disk)
        return True


def _count(job: dict[str, Any], line: str, blocks: list[int | None]) -> None:
    for kind, read, write in _COUNTS_2.findall(line) or _COUNTS_3.findall(line):
        key = {"total": "ios", "short": "short_ios"}.get(kind, "dropped_ios")
        if job["mixed"]:
            job["mixed"][key] = int(read) + int(write)
        else:
            job["read"][key], job["write"][key] = int(read), int(write)
    if _COUNTS_3.search(line):
        for name, block in zip(("read", "write"), blocks):
            _sharpen(job[name], block)


def _sharpen(side: dict[str, Any], block: int | None) -> None:
    """Replace rounded numbers by exact ones, where the block size times the number of I/Os fits the printed bytes."""
    ios, duration_s = side["ios"], side["duration_s"]
    # Few I/Os with a partial one among them would be no better than the rounding.
    if block is None or not ios or ios < _ENOUGH_IOS or not duration_s:
        return
    size = ios * block
    if abs(size - side["bytes"]) <= side["bytes"] / 10:
        side.update({"bytes": size, "bandwidth_bytes_per_s": size / duration_s, "iops": ios / duration_s})


def _block_sizes(text: str) -> list[int | None]:
    """The block sizes of reads, writes and trims, None where a job uses several.

    2.17: "4096B-4096B,4096B-4096B,4096B-4096B", later "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B".
    """
    sizes = []
    for match in _BLOCK.finditer(text):
        lowest, highest = match.groups()[:4], match.groups()[4:]
        sizes.append(_bytes(lowest, False) if lowest == highest else None)
    return sizes


def _moved(line: str) -> dict[str, Any]:
    """The first line of a direction: IOPS, rate, bytes, time."""
    moved, iops, bandwidth = _MOVED_3.search(line) or _MOVED_2.search(line), _IOPS.search(line), _BANDWIDTH.search(line)
    if not (moved and iops and bandwidth):
        raise ParseError("a direction in fio's text report lacks its bytes, rate or time")
    old = "io=" in line
    return make_side(
        bytes=_bytes(moved.groups()[:-1], old),
        duration_s=int(moved.groups()[-1]) / 1000,
        ios=None,
        iops=float(iops.group(1)) * 1000 ** _POWERS[iops.group(2)],
        bandwidth_bytes_per_s=_bytes(bandwidth.groups(), old),
    )


def _bytes(amount: tuple[Any, ...], old: bool) -> int:
    """("64.4", "M", "i", "B") -> bytes. Up to 2.16 fio printed binary multiples as KB and MB."""
    number, prefix, binary, unit = amount
    base = 1024 if binary or old else 1000
    value: float = float(number) * base ** _POWERS[prefix]
    return round(value / 8 if unit in ("b", "bit") else value)
