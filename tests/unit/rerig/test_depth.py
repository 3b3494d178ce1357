"""The achieved queue depth, by fio's levels and by the device's clock."""

from __future__ import annotations

from typing import Any

import pytest

from raw_runs import block_classified, nfs_classified, record, snapshot
from rerig.depth import depth_issues, device_depth


def fio(**changes: Any) -> dict[str, Any]:
    return {
        "depth_by_levels": 4.0,
        "share_at_depth": 1.0,
        "depth_by_device": 4.0,
        "device_requests_per_io": 1.0,
        **changes,
    }


def codes(asked: int, **changes: Any) -> list[str]:
    return [found["code"] for found in depth_issues(asked, fio(**changes), 1)]


def test_the_device_held_as_many_reads_as_its_clock_says() -> None:
    # 10 s, 40 s of read time in all: four at a time (Little's law).
    what = record(snapshot(reads=5, ticks_ms=100), snapshot(reads=16389, ticks_ms=40100))
    assert device_depth(block_classified(), what, ios=16384, duration_s=10.0) == (4.0, 1.0)


def test_reads_that_the_kernel_splits_are_told() -> None:
    what = record(snapshot(), snapshot(reads=4000, ticks_ms=1000))
    assert device_depth(block_classified(), what, ios=1000, duration_s=1.0) == (1.0, 4.0)


def test_where_no_device_is_counted_the_depth_is_unknown() -> None:
    classified = block_classified(proof={"source": "none", "device": None, "reason": "RAID"})
    assert device_depth(classified, record(snapshot(), snapshot()), 10, 1.0) == (None, None)
    assert device_depth(nfs_classified(), record(snapshot(), snapshot()), 10, 1.0) == (None, None)


def test_the_asked_depth_is_no_doubt() -> None:
    assert codes(4) == []
    assert codes(4, depth_by_device=3.7) == []
    assert codes(4, depth_by_device=4.3) == []
    assert codes(4, share_at_depth=0.91) == []


@pytest.mark.parametrize("depth", [3.59, 4.41, 1.0])
def test_a_device_depth_over_10_percent_off_is_a_doubt(depth: float) -> None:
    assert codes(4, depth_by_device=depth) == ["depth_device_off"]


def test_a_synchronous_engine_is_found_by_its_levels() -> None:
    assert codes(32, share_at_depth=0.0, depth_by_levels=1.0, depth_by_device=1.0) == [
        "depth_levels_off",
        "depth_device_off",
    ]


def test_split_reads_do_not_accuse_the_device() -> None:
    assert codes(4, depth_by_device=16.0, device_requests_per_io=4.0) == []


def test_what_was_not_measured_is_no_doubt() -> None:
    assert codes(4, share_at_depth=None, depth_by_device=None, device_requests_per_io=None) == []
