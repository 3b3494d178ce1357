"""The shape that every reader of fio's output returns, and the questions about queue depth that it answers."""

from __future__ import annotations

from typing import Any

from . import ParseError

DEPTH_BUCKETS = (1, 2, 4, 8, 16, 32, 64)  # lower bounds; fio's io_u.c (io_u_mark_depth)
_LABELS = (*(str(bound) for bound in DEPTH_BUCKETS[:-1]), ">=64")


def make_report(kind: str, version: str | None, major: int, jobs: list[dict[str, Any]], **rest: Any) -> dict[str, Any]:
    """A whole report; what ``rest`` lacks is empty."""
    report: dict[str, Any] = {
        "format": kind,
        "version": version,
        "major": major,
        "log": "",
        "jobs": jobs,
        "totals_job": None,
        "totals": None,
        "disk_util": [],
        "errors": [],
    }
    report.update(rest)
    return report


def make_job(name: str, **rest: Any) -> dict[str, Any]:
    """One job; what ``rest`` lacks is unknown."""
    job: dict[str, Any] = {
        "name": name,
        "group": None,
        "error": 0,
        "total_errors": None,
        "engine": None,
        "asked_depth": None,
        "read": make_side(),
        "write": make_side(),
        "mixed": None,
        "depth_levels": {},
    }
    job.update(rest)
    return job


def make_side(**known: Any) -> dict[str, Any]:
    """One direction of a job: nothing moved, but for what ``known`` says."""
    side: dict[str, Any] = {
        "bytes": 0,
        "duration_s": 0.0,
        "ios": 0,
        "bandwidth_bytes_per_s": 0,
        "iops": 0.0,
        "latency_mean_s": None,
        "completion_latency_mean_s": None,
        "latency_percentiles_s": None,
        "short_ios": None,
        "dropped_ios": None,
    }
    side.update(known)
    return side


def percentile_label(percent: float) -> str:
    """As newer fio writes them: "99.900000"."""
    return f"{percent:.6f}"


def version_of(text: str) -> tuple[str | None, int | None]:
    """ "fio-3.33-5-gabc", "fio 2.0" or "2.0.8" -> ("3.33-5-gabc", 3), …; (None, None) where there is no number."""
    version = text.strip()
    for prefix in ("fio-", "fio "):
        if version.startswith(prefix):
            version = version[len(prefix) :]
    major = version.partition(".")[0]
    if not version or not major.isdecimal() or len(major) > 3:
        return version or None, None
    return version, int(major)


def rate_unit(rate: float, size: int, duration_s: float) -> int:
    """1024, or 1000 where only that fits the bytes and seconds: the oldest versions divided bytes by milliseconds."""
    if duration_s <= 0 or size <= 0:
        return 1024
    true = size / duration_s
    return 1000 if abs(rate * 1000 - true) <= 1000 and abs(rate * 1024 - true) > 2048 + true / 100 else 1024


def achieved_depth(job: dict[str, Any]) -> float | None:
    """The mean of the depths at which I/O was issued, every bucket of fio's counted with its lower bound.

    So 8 in flight all the time is 8.0 and 12 is 8.0 too. fio prints shares under 0.1 % as 0.1 and the shares of many
    clients as a sum, so shares are of their sum. None where fio issued nothing.
    """
    shares = _shares(job)
    if shares is None:
        return None
    return sum(bound * share for bound, share in zip(DEPTH_BUCKETS, shares))


def depth_share(job: dict[str, Any], depth: int) -> float:
    """The share (0 to 1) of I/O that was issued at a depth in the bucket that holds ``depth``; 0.0 where none was."""
    if depth < 1:
        raise ParseError("a queue depth is at least 1")
    shares = _shares(job)
    bucket = sum(1 for bound in DEPTH_BUCKETS if bound <= depth) - 1
    return 0.0 if shares is None else shares[bucket]


def _shares(job: dict[str, Any]) -> list[float] | None:
    levels = [max(0.0, job["depth_levels"].get(label) or 0.0) for label in _LABELS]
    total = sum(levels)
    return [level / total for level in levels] if total > 0 else None
