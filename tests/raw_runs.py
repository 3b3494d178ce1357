"""Raw runs as the agent leaves them, for tests of what is built from them. Every number is ours."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rerig.rundir import RawFile, RawRepeat, RawRun
from rerig.sessions import RawSession

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
        "devices": [
            {
                "name": "sda",
                "partition_of": None,
                "slaves": [],
                "size_bytes": 512 * GIB,
                "rotational": False,
                "logical_block_bytes": 512,
                "model": "EXAMPLE SSD",
                "transport": "ata",
                "dm_kind": None,
                "md_level": None,
                "read_ahead_kb": 128,
                "scheduler": "mq-deadline",
                "max_sectors_kb": 1280,
                "pcie": None,
            }
        ],
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


def start(at: str = "10:00:00", session: int = 1, **changes: Any) -> dict[str, Any]:
    """A ``run-start``; ``at`` is a time of the day."""
    return {
        "event": "run-start",
        "at": f"2026-03-01T{at}.000Z",
        "monotonic_s": 1000.0,
        "session": session,
        "agent_sha256": "b" * 64,
        "boot_id": "one",
        "tools": {"dd": {"version": "coreutils 9.1"}, "fio": {"version": "3.33", "engines": ["io_uring"]}},
        **changes,
    }


def end(at: str = "10:01:00", stopped_by: str | None = None, **changes: Any) -> dict[str, Any]:
    """A ``run-end``."""
    return {
        "event": "run-end",
        "at": f"2026-03-01T{at}.000Z",
        "monotonic_s": 1060.0,
        "stopped_by": stopped_by,
        **changes,
    }


def case_events(case_id: str, *numbers: int, done: bool = True, at: str = "10:00:30") -> list[dict[str, Any]]:
    """What a session journals of a case whose repeats ``numbers`` it ran; not ``done``: it was cut off after them."""
    events: list[dict[str, Any]] = [{"event": "case-start", "case": case_id}]
    for number in numbers:
        events.append({"event": "repeat-start", "case": case_id, "number": number})
        events.append({"event": "repeat-done", "case": case_id, "number": number, "exit_status": 0})
    events += [{"event": "case-done", "case": case_id}] if done else []
    return [{**event, "at": f"2026-03-01T{at}.000Z"} for event in events]


def target_evidence(**changes: Any) -> dict[str, Any]:
    """As much of a target's evidence as the builder itself reads; its judge has tests of its own."""
    mount = {"fs_type": "ext4", "source": "/dev/sda1", "mount_point": "/data", "root": "/"}
    return {
        "path": "/data/m.gguf",
        "size_bytes": GIB,
        "modified_ns": 1772359200000000000,
        "read_ahead_kb": 128,
        "mount": mount,
        "data_mounts": [],
        "block_chain": [{"name": "sda1"}, {"name": "sda"}],
        "network": None,
        **changes,
    }


def session(events: list[dict[str, Any]], number: int = 1, **changes: Any) -> RawSession:
    """A session on a quiet machine whose one target is a plain file."""
    parts: dict[str, Any] = {
        "targets": {"t1": target_evidence()},
        "conditions_before": {"boot_id": "one", "loadavg": "0.10 0.1 0.1 1/100 1\n"},
        "conditions_after": {"boot_id": "one", "loadavg": "1.10 0.1 0.1 1/100 1\n"},
    }
    return RawSession(number=number, events=events, **{**parts, **changes})


def raw_run(
    cases: list[dict[str, Any]], repeats: dict[str, list[RawRepeat]], sessions: list[RawSession] | None = None
) -> RawRun:
    """A run of one file of the user's, in one session that came to its end unless others are given."""
    plan = {
        "format": "rerig-plan",
        "format_number": 1,
        "run_id": "20260301T100000Z-abc123",
        "suite": {"name": "storage", "version": "1.0", "sha256": "a" * 64},
        "agent": {"version": "0.1.0", "sha256": "b" * 64},
        "labels": {"nas": "4-bay, 10GbE"},
        "targets": [{"id": "t1", "label": "m.gguf", "origin": "user", "path": "/data/m.gguf"}],
        "cases": cases,
    }
    sessions = [session([start(), end()])] if sessions is None else sessions
    return RawRun(plan=plan, sessions=sessions, repeats=repeats, files=[raw_file("plan.json", "{}")])


SECTORS = GIB // 512


def good_dd(number: int, seconds: float = 2.5, **changes: Any) -> RawRepeat:
    """A repeat of dd over 1 GiB whose bytes the disk counted."""
    what = record(snapshot(), snapshot(reads=8192, sectors=SECTORS, ticks_ms=2000), **changes)
    return raw_repeat(number, what, stdout="", stderr=dd_text(GIB, seconds))


def good_fio(number: int, seconds: float = 4.0, level: str = "4", ticks_ms: int = 16000, **changes: Any) -> RawRepeat:
    """A repeat of fio over 1 GiB at the asked depth."""
    what = record(snapshot(), snapshot(reads=16384, sectors=SECTORS, ticks_ms=ticks_ms))
    return raw_repeat(number, what, stdout="", stderr="", fio=fio_text(16384, 65536, seconds, level, **changes))
