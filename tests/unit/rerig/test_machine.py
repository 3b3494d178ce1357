"""Doubts about the run as a whole: a busy machine, swap, and a state that changed in between."""

from __future__ import annotations

from typing import Any

import pytest

from rerig.machine import Look, machine_issues

QUIET = {"load_1m": 0.2, "cores": 2, "kernel_release": "6.1.0", "governors": ["performance"], "swap_used_bytes": 0}
RAW = {"boot_id": "one"}


def codes(before: dict[str, Any], after: dict[str, Any], raw_after: dict[str, Any] = RAW) -> list[str]:
    looks = [Look(1, "before", RAW, before), Look(1, "after", raw_after, after)]
    return [found["code"] for found in machine_issues(looks)]


def whats(*looks: Look) -> list[str]:
    return [found["what"] for found in machine_issues(list(looks), sessions=2)]


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
    assert machine_issues([]) == []
    assert codes(QUIET, QUIET, {"boot_id": None}) == []
    assert codes({"load_1m": None, "cores": None}, {}) == []


def test_what_changed_between_two_sessions_is_said_with_both() -> None:
    first, second = Look(1, "before", RAW, QUIET), Look(2, "before", {"boot_id": "two"}, QUIET, 600.0)
    assert whats(first, second) == ["the machine was rebooted between session 1 and session 2"]
    other = Look(2, "before", RAW, {**QUIET, "kernel_release": "6.1.1"}, 600.0)
    assert whats(first, other, Look(2, "after", RAW, QUIET)) == ["the kernel changed between session 1 and session 2"]


def test_a_power_mode_that_changed_is_a_doubt_and_only_a_plain_one_is_shown() -> None:
    modes = [{**RAW, "nvpmodel_status": mode} for mode in ("pmode:0000\n", "pmode:0002\n", "made by a person\n")]
    first, second, third = (Look(2, "before", mode, QUIET) for mode in modes)
    assert whats(first, Look(2, "after", RAW, QUIET)) == []
    (found,) = machine_issues([first, second], sessions=2)
    assert (found["what"], found["expected"], found["actual"]) == (
        "the power mode changed during session 2",
        "pmode:0000",
        "pmode:0002",
    )
    assert machine_issues([first, third])[0]["actual"] is None


def test_a_session_soon_after_another_is_not_blamed_for_the_load_of_that_one() -> None:
    busy = {**QUIET, "load_1m": 1.5}
    assert whats(Look(2, "before", RAW, busy, 20.0)) == []
    assert whats(Look(2, "before", RAW, busy, 600.0)) == ["the load average was 1.5 on 2 cores before session 2"]
    assert len(whats(Look(2, "before", RAW, busy, None))) == 1


def test_swap_is_counted_anew_after_a_reboot() -> None:
    swapped = {**QUIET, "swap_used_bytes": 2**30}
    first, rebooted = Look(1, "before", RAW, QUIET), Look(2, "before", {"boot_id": "two"}, swapped, 600.0)
    assert not any("swap" in what for what in whats(first, rebooted))
    assert whats(first, Look(2, "before", RAW, swapped, 600.0)) == ["swap was used during the run"]
