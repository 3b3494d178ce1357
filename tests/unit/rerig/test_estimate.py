"""The estimate that is shown before a run: assumed by kind of storage."""

from __future__ import annotations

import pytest

from raw_runs import GIB, block_classified, nfs_classified
from rerig import estimate


@pytest.mark.parametrize(
    ("classified", "rate"),
    [
        (block_classified(), 500e6),
        (block_classified(devices=[{"transport": "ata", "rotational": True}]), 150e6),
        (block_classified(devices=[{"transport": "mmc", "rotational": False}]), 40e6),
        (block_classified(storage_class="vm_disk", devices=[{"transport": "virtio", "rotational": True}]), 500e6),
        (nfs_classified(), 117.5e6),
        (nfs_classified(link=None), 117.5e6),
    ],
)
def test_rates_are_those_of_ordinary_hardware(classified: dict[str, object], rate: float) -> None:
    assert estimate.rate_bytes_per_s(classified) == pytest.approx(rate)


def test_a_fio_pass_ends_with_its_time_or_its_file() -> None:
    sequential = {"pattern": "sequential", "runtime_limit_s": 15}
    assert estimate.fio_pass(sequential, GIB, block_classified()) == (2.1, GIB)
    seconds, size_bytes = estimate.fio_pass(sequential, 100 * GIB, block_classified())
    assert seconds == 15
    assert size_bytes == 15 * 500_000_000


def test_the_time_limit_lets_a_slow_disk_finish() -> None:
    # A tenth of the assumed rate is slow, not hung.
    expected_s = estimate.read_seconds(2 * GIB, nfs_classified())
    assert estimate.limit_seconds(expected_s) > 10 * expected_s


def test_a_random_pass_over_a_small_file_ends_long_before_its_limit() -> None:
    random = {"pattern": "random", "runtime_limit_s": 8}
    assert estimate.fio_pass(random, 2**25, block_classified()) == (0.3, 2**25)
    assert estimate.fio_pass(random, 4 * GIB, block_classified())[0] == 8
