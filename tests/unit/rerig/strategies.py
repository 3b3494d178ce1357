"""Hypothesis strategies for documents as a correct builder would make them: each is valid and survives JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

Document = dict[str, Any]

# Printable and without a slash: what is left of a file's name after escaping.
NAMES = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters="/"), min_size=1, max_size=40
)
TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=60)
PYTHONS = st.from_regex(r"3\.[0-9]{1,2}\.[0-9]{1,2}", fullmatch=True)
CODES = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
SENTENCES = st.from_regex(r"[A-Za-z][A-Za-z ,]{0,40}", fullmatch=True)
SHA256 = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
COUNTS = st.integers(0, 2**53 - 1)
SIZES = st.integers(1, 2**53 - 1)
SECONDS = st.floats(0, 1e9)
SHARES = st.floats(0, 1)
RATIOS = st.floats(0, 1e6)
INSTANTS = st.datetimes(min_value=datetime(1000, 1, 1)).map(lambda time: time.isoformat() + "+00:00")
MEDIA = {
    "local_disk": "block",
    "vm_disk": "block",
    "loop": "block",
    "nfs": "network",
    "smb": "network",
    "iscsi": "network",
    "9p": "host_share",
    "virtiofs": "host_share",
    "fuse": "other",
    "other": "other",
}


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def raw_files(name: str) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries({"name": st.just(name), "sha256": SHA256})


ISSUES = st.fixed_dictionaries(
    {
        "code": CODES,
        "what": SENTENCES,
        "expected": maybe(st.floats(-1e18, 1e18) | SENTENCES),
        "actual": maybe(COUNTS | SENTENCES),
        "repeat": maybe(st.integers(1, 100)),
    }
)
REASONS = st.fixed_dictionaries({"code": CODES, "sentence": SENTENCES})
DEVICES = st.fixed_dictionaries(
    {
        "name": st.from_regex(r"[a-z][a-z0-9-]{0,10}", fullmatch=True),
        "partition_of": maybe(st.just("nvme0n1")),
        "slaves": st.lists(st.just("dm-1"), max_size=2),
        "size_bytes": maybe(COUNTS),
        "rotational": maybe(st.booleans()),
        "logical_block_bytes": maybe(COUNTS),
        "model": maybe(st.just("EXAMPLE SSD 1 (A/B)")),
        "transport": st.sampled_from([None, "nvme", "usb", "dm"]),
        "dm_kind": st.sampled_from([None, "lvm", "crypt"]),
        "md_level": maybe(st.just("raid0")),
        "read_ahead_kb": maybe(COUNTS),
        "scheduler": maybe(st.just("mq-deadline")),
        "max_sectors_kb": maybe(COUNTS),
        "pcie": maybe(
            st.fixed_dictionaries(
                {
                    "speed": maybe(st.just("8.0 GT/s PCIe")),
                    "width": maybe(COUNTS),
                    "max_speed": maybe(st.just("Unknown")),
                    "max_width": maybe(COUNTS),
                }
            )
        ),
    }
)
NFS = st.fixed_dictionaries(
    {
        "version": maybe(st.just("4.1")),
        "rsize": maybe(COUNTS),
        "wsize": maybe(COUNTS),
        "proto": maybe(st.just("tcp")),
        "hard": maybe(st.booleans()),
        "nconnect": maybe(COUNTS),
        "timeo": maybe(COUNTS),
        "retrans": maybe(COUNTS),
    }
)
SMB = st.fixed_dictionaries(
    {
        "version": maybe(st.just("3.1.1")),
        "cache": maybe(st.just("strict")),
        "rsize": maybe(COUNTS),
        "wsize": maybe(COUNTS),
        "hard": maybe(st.booleans()),
        "channels": maybe(COUNTS),
    }
)
BOARD_STATES = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from(["not_super", "partly", "unknown", "no_super_mode"]),
        "code": st.sampled_from(["firmware_behind", "caps_not_applied", "mode_unreadable", "agx", "other"]),
        "cause": st.sampled_from(
            ["Nothing here is Super, and the GPU's table ends at 624.75 MHz.", "The mode is 25W."]
        ),
        "name": st.sampled_from([None, "Orin Nano 8GB", "Orin NX 16GB", "AGX Orin"]),
        "release": maybe(st.from_regex(r"[0-9]{2}\.[0-9]\.[0-9]", fullmatch=True)),
        "mode": st.sampled_from([None, "MAXN_SUPER", "25W", "7W_AI", "MODE_30W", "other"]),
        "layers": st.fixed_dictionaries(
            dict.fromkeys(("device_tree", "nvpmodel", "firmware"), st.sampled_from(["super", "not_super", "unknown"]))
        ),
        **dict.fromkeys(("gpu_last_hz", "gpu_max_hz", "cpu_max_khz", "emc_max_hz"), maybe(COUNTS)),
    }
)
MACHINE_STATES = st.fixed_dictionaries(
    {
        "kernel_release": maybe(st.from_regex(r"[1-9]\.[0-9]{1,3}\.[0-9]{1,3}(-[0-9]{1,3}-generic)?", fullmatch=True)),
        "architecture": maybe(st.from_regex(r"[a-z0-9_]{1,16}", fullmatch=True)),
        "os_id": maybe(st.from_regex(r"[a-z0-9_-]{1,32}", fullmatch=True)),
        "os_version": maybe(st.from_regex(r"[vVp]?[0-9]{1,4}([.][0-9]{1,4}){0,2}[a-z]{0,9}", fullmatch=True)),
        "python": maybe(PYTHONS),
        "hypervisor_kind": st.sampled_from([None, "kvm", "cloud"]),
        **dict.fromkeys(("board_model", "cpu_model"), maybe(st.just("Example CPU (R) @ 3.00GHz"))),
        **dict.fromkeys(
            (
                "cores",
                "page_bytes",
                "memory_bytes",
                "memory_available_bytes",
                "swap_bytes",
                "swap_used_bytes",
                "cpu_khz_lowest",
                "cpu_khz_highest",
                "uptime_s",
            ),
            maybe(COUNTS),
        ),
        **dict.fromkeys(("load_1m", "load_5m", "load_15m"), maybe(RATIOS)),
        **dict.fromkeys(("io_pressure_avg10", "memory_pressure_avg10"), maybe(st.floats(0, 100))),
        "hypervisor": st.booleans(),
        "swap_on_zram": maybe(st.booleans()),
        "governors": st.lists(st.sampled_from(["performance", "schedutil"]), max_size=2),
        "temperature_highest_c": maybe(st.floats(-50, 200)),
        "board_state": maybe(BOARD_STATES),
    }
)


@st.composite
def targets(draw: st.DrawFn, number: int) -> Document:
    start = {"id": f"t{number}", "label": draw(NAMES), "origin": draw(st.sampled_from(["user", "scratch"]))}
    if draw(st.integers(0, 4)) == 0:
        return {**start, "refusal": draw(REASONS)}
    storage = draw(st.sampled_from(sorted(MEDIA)))
    source = draw(st.sampled_from(["block", "nfs", "none"]))
    return {
        **start,
        "size_bytes": draw(SIZES),
        "storage_class": storage,
        "medium": MEDIA[storage],
        "file_system": {
            "type": draw(st.sampled_from(["ext4", "nfs4", "fuse.sshfs", "9p"])),
            "options": draw(
                st.lists(st.sampled_from(["rw", "vers=4.2", "compress=zstd:3", "rsize=131072"]), max_size=4)
            ),
            "nfs": draw(NFS) if storage == "nfs" else None,
            "smb": draw(SMB) if storage == "smb" else None,
        },
        "devices": draw(st.lists(DEVICES, max_size=3)),
        "link": draw(
            maybe(
                st.fixed_dictionaries(
                    {
                        "speed_mbit": maybe(COUNTS),
                        "mtu": maybe(COUNTS),
                        "kind": st.sampled_from([None, "ethernet", "bond"]),
                    }
                )
            )
        ),
        "unseen_caches": draw(st.lists(CODES, max_size=3)),
        "proof": {"source": source, "reason": draw(CODES) if source == "none" else None},
        "read_ahead_kb": draw(maybe(COUNTS)),
    }


@st.composite
def identities(draw: st.DrawFn, medium: str) -> Document:
    kind = draw(st.sampled_from(["dd_read", "dd_reread", "fio_read"]))
    block_bytes = draw(st.sampled_from([4096, 65536, 8388608]))
    start = {
        "kind": kind,
        "medium": medium,
        "direct": draw(st.booleans()),
        "evict": draw(st.booleans()),
        "block_bytes": block_bytes,
    }
    if kind != "fio_read":
        may_read_ahead = kind == "dd_read" and not start["direct"] and draw(st.booleans())
        read_ahead = {"read_ahead_kb": draw(st.integers(0, 2**20))} if may_read_ahead else {}
        return {**start, "read_bytes": draw(SIZES), **read_ahead}
    return {
        **start,
        "pattern": draw(st.sampled_from(["random", "sequential"])),
        "queue_depth": draw(st.integers(1, 64)),
        "engine": draw(st.sampled_from(["io_uring", "libaio"])),
    }


@st.composite
def proofs(draw: st.DrawFn, size: int) -> Document:
    """The proof of ``size`` bytes, at least a million: up to 4096 more or less are none, then 0.99 and 1.02 count."""
    delivered = draw(st.none() | st.integers(0, 3 * size) | st.integers(size - 4097, size + 4097))
    if delivered is None:
        return {"verdict": "not_decidable", "delivered_bytes": None, "ratio": None}
    verdict = "delivered"
    if abs(delivered - size) > 4096 and not 0.99 <= delivered / size <= 1.02:
        verdict = "served_from_cache" if delivered < size else "extra_traffic"
    return {"verdict": verdict, "delivered_bytes": delivered, "ratio": round(delivered / size, 6)}


def doubts(repeat: Document) -> list[Document]:
    """The issues that a repeat's own figures bring along."""
    if repeat["bytes"] is None:
        return []
    codes = [
        {"delivered": None, "not_decidable": "bytes_not_provable"}.get(verdict := repeat["proof"]["verdict"], verdict)
    ]
    if repeat["fio"] is None and repeat["bytes"] < repeat["asked_bytes"]:
        codes.append("short_read")
    what = {"what": "x", "expected": None, "actual": None, "repeat": repeat["number"]}
    return [{"code": code, **what} for code in codes if code]


@st.composite
def repeats(draw: st.DrawFn, case: str, number: int, identity: Document) -> Document:
    by_fio = identity["kind"] == "fio_read"
    figure = draw(st.integers(0, 5)) > 0
    # Rates from 1 B/s to 1 TB/s, whose bytes a document holds exactly.
    size, duration_s = draw(st.integers(10**6, 10**12)), draw(st.floats(1.0, 1e6))
    short = figure and not by_fio and draw(st.integers(0, 5)) == 0
    proof = draw(proofs(size)) if figure else {"verdict": "not_decidable", "delivered_bytes": None, "ratio": None}
    fio = {
        "iops": draw(RATIOS),
        "ios": draw(COUNTS),
        "latency_mean_s": draw(maybe(SECONDS)),
        "depth_by_levels": draw(maybe(RATIOS)),
        "share_at_depth": draw(maybe(SHARES)),
        "depth_by_device": draw(maybe(RATIOS)),
        "device_requests_per_io": draw(maybe(RATIOS)),
    }
    roles = {"record": "record.json", "stdout": "stdout", "stderr": "stderr", **({"fio": "fio.json"} if by_fio else {})}
    return {
        "number": number,
        "started_at": draw(INSTANTS),
        "asked_bytes": draw(COUNTS) if by_fio else size + short,
        "bytes": size if figure else None,
        "duration_s": duration_s if figure else None,
        "bandwidth_bytes_per_s": size / duration_s if figure else None,
        "wall_s": draw(SECONDS),
        "exit_status": 0 if figure else draw(maybe(st.integers(1, 255))),
        "seed": draw(st.integers(0, 2**40)) * 100 + number if by_fio else None,
        "proof": proof,
        "process_read_bytes": draw(maybe(COUNTS)),
        "network_received_bytes": draw(maybe(COUNTS)),
        "resident_before": draw(maybe(SHARES)),
        "resident_after": draw(maybe(SHARES)),
        "read_ahead_kb": identity.get("read_ahead_kb"),
        "fio": fio if by_fio and figure else None,
        "raw": {role: draw(raw_files(f"cases/{case}/r{number}/{name}")) for role, name in roles.items()},
    }


@st.composite
def cases(draw: st.DrawFn, number: int, target: Document) -> Document:
    identity = draw(identities(target.get("medium") or draw(st.sampled_from(["block", "network"]))))
    case_id = f"case-{number}.{target['id']}"
    status = "skipped" if "refusal" in target else draw(st.sampled_from(["measured", "skipped", "failed", "not_run"]))
    count = {"measured": draw(st.integers(1, 4)), "failed": draw(st.integers(0, 2))}.get(status, 0)
    numbers = range(1, count + 1)
    found = [draw(repeats(case_id, repeat, identity)) for repeat in numbers]
    issues = [issue for repeat in found for issue in doubts(repeat)]
    if found and draw(st.booleans()):
        issues += draw(st.lists(ISSUES, min_size=1, max_size=3))
    verdict = draw(st.sampled_from(["doubtful", "invalid"])) if issues else "valid" if found else "not_measured"
    return {
        "id": case_id,
        "target": target["id"],
        "identity": identity,
        "extent": draw(st.sampled_from(["whole_file", "first_blocks", "one_pass", "time_limited"])),
        "status": status,
        "reason": None if status == "measured" else draw(REASONS),
        "repeats": found,
        "validity": {"verdict": verdict, "issues": issues},
    }


@st.composite
def sessions(draw: st.DrawFn, complete: bool) -> list[Document]:
    """The sessions of a run; times are known or not, and a gap is known where nothing contradicts it."""
    count = draw(st.integers(1, 3))
    found: list[Document] = []
    for number in range(1, count + 1):
        # From one list, so that a session ends where it started at the earliest.
        started, ended = sorted(draw(st.lists(INSTANTS, min_size=2, max_size=2)))
        ends = number == count and complete
        stopped_by = None if ends else draw(st.sampled_from([None, "signal", "error", "killed"]))
        after_killed = bool(found) and found[-1]["ended_at"] is None
        found.append(
            {
                "number": number,
                "started_at": draw(maybe(st.just(started))),
                "ended_at": None if stopped_by == "killed" else ended if ends else draw(maybe(st.just(ended))),
                "stopped_by": stopped_by,
                "gap_before_s": draw(maybe(SECONDS)) if after_killed else None,
            }
        )
    return found


@st.composite
def results(draw: st.DrawFn) -> Document:
    """A whole result document."""
    files = [draw(targets(number)) for number in range(1, draw(st.integers(1, 3)) + 1)]
    measured = [draw(cases(number, draw(st.sampled_from(files)))) for number in range(draw(st.integers(0, 4)))]
    complete = draw(st.booleans())
    all_sessions = draw(sessions(complete))
    verdicts = ["doubtful", "invalid", "not_measured"]
    if not any(case["validity"]["issues"] for case in measured):
        verdicts.append("valid")
    verdict = draw(st.sampled_from(verdicts))
    return {
        "format": "rerig-result",
        "format_version": "1.0",
        "run": {
            "id": draw(st.from_regex(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}", fullmatch=True)),
            "started_at": all_sessions[0]["started_at"],
            "finished_at": all_sessions[-1]["ended_at"],
            "complete": complete,
            "stopped_by": all_sessions[-1]["stopped_by"],
            "sessions": all_sessions,
        },
        "suite": {"name": "storage", "version": "1.0", "sha256": draw(SHA256)},
        "agent": {"version": "0.1.0", "sha256": draw(SHA256)},
        "builder": {"version": "0.1.0"},
        "labels": draw(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_-]{0,31}", fullmatch=True), TEXTS, max_size=3)),
        "machine": {
            "before": draw(maybe(MACHINE_STATES)),
            "after": draw(maybe(MACHINE_STATES)),
            "tools": {
                "dd": draw(st.sampled_from([None, "unknown", "coreutils 9.1", "busybox 1.36.1", "dd 0.0.27"])),
                "fio": draw(st.sampled_from([None, "unknown", "3.33", "3.36-18-g1fc5-dirty"])),
                "python": draw(maybe(PYTHONS)),
            },
        },
        "targets": files,
        "cases": measured,
        "validity": {"verdict": verdict, "issues": [] if verdict == "valid" else draw(st.lists(ISSUES, max_size=2))},
        "raw": {"files": [draw(raw_files(name)) for name in ("plan.json", "journal.jsonl")]},
    }
