"""Doubts about the run as a whole: a busy machine, swap, and a state that changed in between."""

from __future__ import annotations

from typing import Any

import pytest

from rerig.machine import machine_issues

QUIET = {"load_1m": 0.2, "cores": 2, "kernel_release": "6.1.0", "governors": ["performance"], "swap_used_bytes": 0}
RAW = {"boot_id": "one"}


def codes(before: dict[str, Any], after: dict[str, Any], raw_after: dict[str, Any] = RAW) -> list[str]:
    return [found["code"] for found in machine_issues(RAW, raw_after, before, after)]


def test_a_quiet_steady_machine_raises_no_doubt_although_the_run_itself_is_a_load() -> None:
    assert codes(QUIET, {**QUIET, "load_1m": 3.0}) == []


def test_a_busy_machine_is_a_doubt_by_its_cores() -> None:
    assert codes({**QUIET, "load_1m": 1.1}, QUIET) == ["background_load"]
    assert codes({**QUIET, "load_1m": 1.1, "cores": 8}, QUIET) == []


@pytest.mark.parametrize("change", [{"kernel_release": "6.1.1"}, {"governors": ["powersave"]}])
def test_a_change_of_state_is_a_doubt(change: dict[str, Any]) -> None:
    assert codes(QUIET, {**QUIET, **change}) == ["state_changed"]


def test_a_reboot_and_growing_swap_are_doubts() -> None:
    assert codes(QUIET, QUIET, {"boot_id": "two"}) == ["state_changed"]
    assert codes(QUIET, {**QUIET, "swap_used_bytes": 2**30}) == ["swap_grew"]
    assert codes(QUIET, {**QUIET, "swap_used_bytes": 2**20}) == []


def test_what_is_not_known_is_no_doubt() -> None:
    assert machine_issues(None, None, None, None) == []
    assert codes({"load_1m": None, "cores": None}, {}) == []
