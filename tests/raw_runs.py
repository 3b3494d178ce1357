"""Raw runs as the agent leaves them, for tests of what is built from them. Every number is ours."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rerig.rundir import RawFile, RawRepeat

GIB = 2**30


def block_classified(**changes: Any) -> dict[str, Any]:
    """A file on a plain SSD partition, as ``classify`` tells it."""
    return {
        "storage_class": "local_disk",
        "medium": "block",
        "refusal": None,
        "refusal_code": None,
        "proof": {"source": "block", "device": "sda1", "reason": None},
        "count_devices": ["sda1", "sda"],
        "unseen_caches": ["drive_dram"],
        "file_system": {"type": "ext4", "options": ["rw"], "nfs": None, "smb": None},
        "devices": [{"transport": "ata", "rotational": False}],
        "link": None,
        **changes,
    }


def nfs_classified(**changes: Any) -> dict[str, Any]:
    """A file on an NFS mount over gigabit Ethernet."""
    nfs = {
        "storage_class": "nfs",
        "medium": "network",
        "proof": {"source": "nfs", "device": None, "reason": None},
        "devices": [],
        "link": {"speed_mbit": 1000, "mtu": 1500, "kind": "ethernet"},
    }
    return block_classified(**{**nfs, **changes})


def stat_line(reads: int = 0, sectors: int = 0, ticks_ms: int = 0) -> str:
    """The text of /sys/class/block/X/stat with 17 fields."""
    return f"{reads} 0 {sectors} {ticks_ms} 0 0 0 0 0 0 {ticks_ms} 0 0 0 0 0 0\n"


def snapshot(device: str = "sda1", **counts: int) -> dict[str, Any]:
    """A counter snapshot with one device."""
    return {"monotonic_s": 1.0, "block": {device: stat_line(**counts)}, "mountstats": None, "net_dev": None}


def residency(share: float | None = 0.0, file_bytes: int = GIB) -> dict[str, Any]:
    """What is known about the file's pages in memory."""
    if share is None:
        return {"method": None, "resident_bytes": None, "file_bytes": file_bytes, "reason": "not the owner"}
    return {"method": "cachestat", "resident_bytes": int(share * file_bytes), "file_bytes": file_bytes, "reason": None}


def record(before: dict[str, Any], after: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A record of a repeat that went well."""
    return {
        "argv": ["dd"],
        "started_at": "2026-03-01T10:00:00.000Z",
        "wall_s": 2.5,
        "exit_status": 0,
        "signal": None,
        "timed_out": False,
        "unkillable": False,
        "error": None,
        "child_io": f"rchar: {GIB}\nwchar: 0\nsyscr: 1\nsyscw: 0\nread_bytes: {GIB}\nwrite_bytes: 0\n",
        "counters_before": before,
        "counters_after": after,
        "residency_before": residency(),
        "residency_after": residency(),
        **changes,
    }


def raw_file(name: str, text: str) -> RawFile:
    """A raw file with its hash."""
    return RawFile(name, hashlib.sha256(text.encode()).hexdigest(), text)


def raw_repeat(number: int, what: dict[str, Any], **texts: str) -> RawRepeat:
    """A repeat with its record and the given raw texts (stdout, stderr, fio)."""
    texts = {"record": json.dumps(what), **texts}
    return RawRepeat(number, what, {role: raw_file(f"cases/x/r{number}/{role}", text) for role, text in texts.items()})


def dd_text(size_bytes: int, seconds: float) -> str:
    """GNU dd's summary in the C locale."""
    blocks = size_bytes // 8388608
    partial = int(size_bytes % 8388608 > 0)
    counts = f"{blocks}+{partial} records in\n{blocks}+{partial} records out\n"
    shown = f"({size_bytes / 1e9:.1f} GB, {size_bytes / GIB:.1f} GiB)"
    return counts + f"{size_bytes} bytes {shown} copied, {seconds:g} s, 1.0 GB/s\n"


def fio_text(ios: int, block_bytes: int, seconds: float, level: str = "4", **changes: Any) -> str:
    """fio 3.x JSON of one read job that kept ``level`` reads in flight."""
    size_bytes = ios * block_bytes
    levels = dict.fromkeys(("1", "2", "4", "8", "16", "32", ">=64"), 0.0)
    levels[level] = 100.0
    latency = {"min": 1, "max": 2, "mean": 150000.0, "stddev": 1.0, "N": ios}
    side = {
        "io_bytes": size_bytes,
        "bw_bytes": round(size_bytes / seconds),
        "bw": round(size_bytes / seconds / 1024),
        "iops": ios / seconds,
        "runtime": round(seconds * 1000),
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
        "lat_ns": latency,
        "clat_ns": latency,
    }
    empty = {**side, "io_bytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    job = {
        "jobname": "x",
        "groupid": 0,
        "error": 0,
        "job options": {"ioengine": "io_uring", "iodepth": "4"},
        "read": side,
        "write": empty,
        "iodepth_level": levels,
        **changes,
    }
    return json.dumps({"fio version": "fio-3.33", "jobs": [job], "disk_util": []})


def dd_case(read_bytes: int = GIB, repeats: int = 3, **identity: Any) -> dict[str, Any]:
    """A planned dd case."""
    return {
        "id": "dd-8m.t1",
        "target": "t1",
        "identity": {
            "kind": "dd_read",
            "medium": "block",
            "direct": True,
            "evict": False,
            "block_bytes": 8388608,
            "read_bytes": read_bytes,
            **identity,
        },
        "extent": "whole_file",
        "parameters": {"evict": False},
        "repeats": [{"number": n, "seed": n} for n in range(1, repeats + 1)],
        "limit_s": 100.0,
        "estimate_s": 2.0,
        "estimate_bytes": read_bytes,
        "skip": None,
    }


def fio_case(repeats: int = 3, **identity: Any) -> dict[str, Any]:
    """A planned fio case: random 64 KiB at depth 4 over 1 GiB."""
    return {
        **dd_case(repeats=repeats),
        "id": "rand-64k-qd4.t1",
        "identity": {
            "kind": "fio_read",
            "medium": "block",
            "direct": True,
            "evict": False,
            "block_bytes": 65536,
            "pattern": "random",
            "queue_depth": 4,
            "engine": "io_uring",
            **identity,
        },
        "extent": "one_pass",
        "parameters": {"span_bytes": GIB, "runtime_limit_s": 8, "evict": False},
    }
