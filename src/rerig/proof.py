"""Where the bytes of one read came from: what the tool got against what the device or server delivered. Pure."""

from __future__ import annotations

from typing import Any

from rerig.doubts import CACHE_RATIO, EXTRA_RATIO
from rerig_agent.parse import ParseError
from rerig_agent.parse.diskstats import SECTOR_BYTES, parse_stat, stat_delta
from rerig_agent.parse.mountstats import parse_mountstats

PAGE_SLACK_BYTES = 4096  # a direct read of an odd size is rounded up to the block size


def prove_bytes(read_bytes: int, classified: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """``{"verdict", "delivered_bytes", "ratio"}`` for one repeat that read ``read_bytes``.

    Below 0.99 of what was read: ``served_from_cache``; above 1.02: ``extra_traffic``; a difference within one page
    counts as none. ``not_decidable`` where nothing here counts the bytes (compressed and RAID file systems, 9p, fuse).
    """
    delivered = delivered_bytes(classified, record["counters_before"], record["counters_after"])
    if delivered is None or read_bytes <= 0:
        return {"verdict": "not_decidable", "delivered_bytes": delivered, "ratio": None}
    ratio = delivered / read_bytes
    verdict = "delivered"
    if abs(delivered - read_bytes) > PAGE_SLACK_BYTES:
        if ratio < CACHE_RATIO:
            verdict = "served_from_cache"
        elif ratio > EXTRA_RATIO:
            verdict = "extra_traffic"
    return {"verdict": verdict, "delivered_bytes": delivered, "ratio": round(ratio, 6)}


def delivered_bytes(classified: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> int | None:
    """Bytes that the proving counter gained between two snapshots, or None where there is none or it went back."""
    source = classified["proof"]["source"]
    try:
        if source == "block":
            delta = device_delta(classified["proof"]["device"], before, after)
            return None if delta is None else int(delta["read_sectors"]) * SECTOR_BYTES
        if source == "nfs":
            gained = _server_read(after) - _server_read(before)
            return gained if gained >= 0 else None  # a remount starts counting anew
    except (ParseError, KeyError, TypeError):
        return None
    return None


def device_delta(device: str, before: dict[str, Any], after: dict[str, Any]) -> dict[str, int] | None:
    """What ``/sys/class/block/DEVICE/stat`` gained, or None where a snapshot lacks it."""
    try:
        return dict(stat_delta(parse_stat(before["block"][device]), parse_stat(after["block"][device])))
    except (ParseError, KeyError, TypeError):
        return None


def nfs_read_milliseconds(before: dict[str, Any], after: dict[str, Any]) -> tuple[int, int] | None:
    """(READs, milliseconds that they took in all, queueing included) between two snapshots of an NFS mount."""
    try:
        first, last = _nfs(before)["operations"]["READ"], _nfs(after)["operations"]["READ"]
        return last["ops"] - first["ops"], last["execute_ms"] - first["execute_ms"]
    except (ParseError, KeyError, TypeError, IndexError):
        return None


def _nfs(snapshot: dict[str, Any]) -> dict[str, Any]:
    text = snapshot["mountstats"]
    if text is None:
        raise ParseError("this mount has no statistics")
    return dict(parse_mountstats(text)[0])


def _server_read(snapshot: dict[str, Any]) -> int:
    return int(_nfs(snapshot)["bytes"]["server_read"])
