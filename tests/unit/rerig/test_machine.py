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


LAYERS = {"device_tree": "super", "nvpmodel": "super", "firmware": "super"}
SUPER = {
    "verdict": "super",
    "code": "all_super",
    "cause": "All three layers are Super and MAXN_SUPER is in force: the GPU's table ends at 1020 MHz.",
    "name": "Orin Nano 8GB",
    "release": "36.4.7",
    "mode": "MAXN_SUPER",
    "layers": LAYERS,
    "gpu_last_hz": 1_020_000_000,
    "gpu_max_hz": 1_020_000_000,
    "cpu_max_khz": 1_728_000,
    "emc_max_hz": None,
}
IN_25W = {
    **SUPER,
    "verdict": "partly",
    "code": "mode_not_maxn",
    "cause": "All three layers are Super, but the mode is 25W, which holds the GPU at 918 MHz.",
    "mode": "25W",
    "gpu_max_hz": 918_000_000,
}
NANO = {"jetson": {"device_tree": {"compatible": {"text": "nvidia,p3768-0000+p3767-0005-super\0nvidia,tegra234\0"}}}}


def on_board(state: dict[str, Any] | None, session: int = 1, **raw: Any) -> Look:
    return Look(session, "before", {**RAW, **NANO, **raw}, {**QUIET, "board_state": state})


def test_a_board_that_is_super_at_every_look_raises_no_doubt() -> None:
    assert machine_issues([on_board(SUPER), on_board(SUPER)]) == []
    assert machine_issues([on_board(None), on_board(None)]) == []


def test_a_board_that_is_not_super_with_its_mode_in_force_is_one_doubt_of_the_run() -> None:
    (found,) = machine_issues([on_board(IN_25W), on_board(IN_25W)])
    assert found == {
        "code": "power_mode",
        "what": "the board was not shown to be in Super mode before the run: All three layers are Super, but the mode "
        "is 25W, which holds the GPU at 918 MHz",
        "expected": "MAXN_SUPER, GPU up to 1020 MHz",
        "actual": "25W, GPU up to 918 MHz",
        "repeat": None,
    }
    behind = {**SUPER, "verdict": "not_super", "code": "firmware_behind", "gpu_last_hz": 624_750_000}
    assert machine_issues([on_board(behind)])[0]["actual"] == "MAXN_SUPER, GPU up to 624.75 MHz"
    unread = {**SUPER, "verdict": "unknown", "code": "mode_unreadable", "mode": None, "gpu_max_hz": None}
    dark = {**unread, "code": "table_unreadable", "gpu_last_hz": None}
    assert machine_issues([on_board(unread)])[0]["actual"] == "an unknown mode, GPU up to 1020 MHz"
    assert machine_issues([on_board(dark)])[0]["actual"] == "an unknown mode, GPU up to an unknown clock"


@pytest.mark.parametrize(("verdict", "code"), [("no_super_mode", "agx"), ("unknown", "unknown_board")])
def test_a_board_without_a_super_mode_is_blamed_for_nothing(verdict: str, code: str) -> None:
    assert machine_issues([on_board({**IN_25W, "verdict": verdict, "code": code})]) == []


def test_a_board_whose_mode_or_clocks_change_in_between_is_a_doubt() -> None:
    found = machine_issues([on_board(SUPER, 1), on_board(IN_25W, 2)], sessions=2)
    assert [(one["code"], one["expected"], one["actual"]) for one in found[:3]] == [
        ("state_changed", "MAXN_SUPER", "25W"),
        ("state_changed", "super", "partly"),
        ("state_changed", 1_020_000_000, 918_000_000),
    ]
    assert found[0]["what"] == "the power mode changed between session 1 and session 2"
    assert found[3]["what"].startswith("the board was not shown to be in Super mode before session 2: ")
    assert machine_issues([on_board(SUPER), on_board({**SUPER, "emc_max_hz": 3_199_000_000})]) == []


def test_two_modes_that_owners_made_are_told_apart_by_their_numbers() -> None:
    modes = [
        on_board({**IN_25W, "mode": "other"}, nvpmodel_status="pmode:0003"),
        on_board({**IN_25W, "mode": "other"}, nvpmodel_status="pmode:0004"),
    ]
    found = machine_issues(modes)
    assert (found[0]["expected"], found[0]["actual"]) == ("pmode:0003", "pmode:0004")
    fans = [on_board(SUPER, nvpmodel_status=f"pmode:0002 fmode:{fan}") for fan in ("quiet", "cool")]
    assert machine_issues(fans) == []


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
