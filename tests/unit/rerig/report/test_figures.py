"""What a case is called in the tables."""

from __future__ import annotations

from typing import Any

import pytest

from raw_power import power_case
from raw_runs import dd_case, fio_case
from rerig.report.figures import case_name, target_text


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (dd_case(), "sequential 1 GiB (dd, 8 MiB)"),
        (dd_case(direct=False), "sequential 1 GiB (dd, 8 MiB, page cache allowed)"),
        (dd_case(direct=False, evict=True), "sequential 1 GiB (dd, 8 MiB, page cache allowed, evicted first)"),
        (
            dd_case(direct=False, evict=True, read_ahead_kb=4096),
            "sequential 1 GiB (dd, 8 MiB, page cache allowed, evicted first, read-ahead 4,096 KiB)",
        ),
        (dd_case(kind="dd_reread", evict=True), "the same 1 GiB again and again (dd, 8 MiB, evicted first)"),
        (fio_case(), "random 64 KiB, QD4 (fio, io_uring)"),
        (fio_case(evict=True), "random 64 KiB, QD4 (fio, io_uring, evicted first)"),
        (power_case(), "90 s of load on every processor and the GPU"),
        (power_case(gpu=False, load_s=10), "10 s of load on every processor"),
    ],
)
def test_a_case_is_named_with_what_the_page_cache_may_do(case: dict[str, Any], name: str) -> None:
    assert case_name(case) == name


def test_a_power_budgets_target_is_this_machine() -> None:
    assert target_text({"id": "t1", "label": "this machine", "origin": "machine"}) == "t1  this machine"
