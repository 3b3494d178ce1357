"""Achieved queue depth of one fio repeat, from fio's own levels and from the device's or server's clock. Pure.

By Little's law the mean number of reads in flight is the time that all of them took divided by the time that passed
(Documentation/block/stat.rst: read ticks; mountstats: execute milliseconds).
"""

from __future__ import annotations

from typing import Any

from rerig.doubts import DEPTH_TOLERANCE, issue
from rerig.proof import device_delta, nfs_read_milliseconds

# A read that the kernel splits (or merges) counts as several in the device's clock: then it can't be compared.
UNSPLIT = (0.95, 1.05)


def device_depth(
    classified: dict[str, Any], record: dict[str, Any], ios: int, duration_s: float
) -> tuple[float | None, float | None]:
    """(reads in flight as the device saw them, device reads per read of the tool), each None where unknown."""
    before, after = record["counters_before"], record["counters_after"]
    source = classified["proof"]["source"]
    if ios <= 0 or duration_s <= 0:
        return None, None
    reads_and_ms: tuple[int, int] | None = None
    if source == "block":
        delta = device_delta(classified["proof"]["device"], before, after)
        if delta is not None:
            reads_and_ms = int(delta["reads"]), int(delta["read_ticks_ms"])
    elif source == "nfs":
        reads_and_ms = nfs_read_milliseconds(before, after)
    if reads_and_ms is None:
        return None, None
    reads, milliseconds = reads_and_ms
    if reads < 0 or milliseconds < 0:  # a remount starts counting anew
        return None, None
    return round(milliseconds / 1000 / duration_s, 3), round(reads / ios, 4)


def depth_issues(asked: int, fio: dict[str, Any], repeat: int) -> list[dict[str, Any]]:
    """Doubts about the depth of one repeat; ``fio`` is the result's own ``fio`` block."""
    issues = []
    share = fio["share_at_depth"]
    if share is not None and share < 1 - DEPTH_TOLERANCE:
        issues.append(
            issue(
                "depth_levels_off",
                f"only {share:.0%} of the reads were issued at depth {asked}",
                asked,
                fio["depth_by_levels"],
                repeat,
            )
        )
    by_device, per_io = fio["depth_by_device"], fio["device_requests_per_io"]
    comparable = per_io is not None and UNSPLIT[0] <= per_io <= UNSPLIT[1]
    if by_device is not None and comparable and abs(by_device - asked) > DEPTH_TOLERANCE * asked:
        issues.append(
            issue(
                "depth_device_off",
                f"the device held {by_device:.2f} reads in flight on average; {asked} asked for",
                asked,
                by_device,
                repeat,
            )
        )
    return issues
