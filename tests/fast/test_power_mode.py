"""The role power_mode on a board: first told, then done, then nothing to do, read back by others, and put back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansible_plays import Controller, Played
from fast.board import become_board, facts_of, owner_of, play_of, seen
from twin.container import Container
from twin.l4t import shapes
from twin.l4t.personalities import NX_16GB_SUPER, PERSONALITIES, PLAIN
from twin.shell import Shell

pytestmark = pytest.mark.root
FIFTEEN = PERSONALITIES["orin-nano-super-15w"]


@pytest.fixture
def owner(shared_fast_twin: Container, tmp_path: Path) -> Controller:
    return owner_of(shared_fast_twin, tmp_path / "controller")


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    return play_of(tmp_path / "mode.yml", "power_mode")


@pytest.fixture
def restoring(tmp_path: Path) -> Path:
    return play_of(tmp_path / "restore.yml", "power_mode", "restore")


def facts(played: Played) -> tuple[bool, list[str]]:
    return facts_of(played, "power_mode")


def mode(container: Container) -> str:
    return shapes.read_mode(container.shell.script("nvpmodel -q")).name


def test_the_mode_is_set_by_its_name_and_put_back(
    shared_fast_twin: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    become_board(shared_fast_twin, FIFTEEN)
    before = seen(shared_fast_twin)
    told = owner.play(playbook, "--check")
    assert facts(told) == (False, ["power mode 15W → MAXN_SUPER"])
    assert told.recap()["changed"] == 1
    assert seen(shared_fast_twin) == before
    done = owner.play(playbook)
    assert facts(done) == (False, ["power mode 15W → MAXN_SUPER"])
    assert done.recap()["changed"] == 1
    assert mode(shared_fast_twin) == "MAXN_SUPER"
    assert shared_fast_twin.shell.read("/sys/class/devfreq/17000000.gpu/max_freq") == b"1020000000\n"
    again = owner.play(playbook)
    assert facts(again) == (False, [])
    assert again.recap()["changed"] == 0
    assert facts(owner.play(restoring)) == (False, ["power mode MAXN_SUPER → 15W"])
    assert seen(shared_fast_twin) == before


def test_a_mode_that_needs_a_reboot_is_not_asked_for_unasked(
    shared_fast_twin: Container, owner: Controller, playbook: Path
) -> None:
    become_board(shared_fast_twin, PLAIN)
    boot = shared_fast_twin.shell.script("systemctl show --property=UserspaceTimestampMonotonic")
    before = seen(shared_fast_twin)
    played = owner.play(playbook, power_mode_name="7W")
    assert facts(played) == (True, ["power mode 15W stays: 7W needs a reboot, which power_mode_reboot_ok: true allows"])
    assert played.recap()["changed"] == 0
    told = owner.play(playbook, "--check", power_mode_name="7W", power_mode_reboot_ok=True)
    assert (facts(told), told.recap()["changed"]) == ((False, ["power mode 15W → 7W"]), 1)
    assert shared_fast_twin.shell.script("systemctl show --property=UserspaceTimestampMonotonic") == boot
    assert seen(shared_fast_twin) == before


def test_with_leave_to_reboot_such_a_mode_is_in_force_afterwards(fast_twin: Container, tmp_path: Path) -> None:
    become_board(fast_twin, NX_16GB_SUPER)
    owner = owner_of(fast_twin, tmp_path / "controller")
    played = owner.play(play_of(tmp_path / "mode.yml", "power_mode"), power_mode_name="10W", power_mode_reboot_ok=True)
    assert facts(played) == (False, ["power mode MAXN_SUPER → 10W"])
    assert mode(fast_twin) == "10W"


def test_clocks_are_pinned_in_each_mode_and_let_go_at_the_end(
    shared_fast_twin: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    become_board(shared_fast_twin, FIFTEEN)
    shell = shared_fast_twin.shell
    before = seen(shared_fast_twin)
    wanted = {"power_mode_persist_clocks": True, "power_mode_fan_profile": "cool"}
    told = facts(owner.play(playbook, "--check", **wanted))
    assert told == (
        False,
        ["power mode 15W → MAXN_SUPER", "the clocks are pinned at every boot", "fan profile quiet → cool"],
    )
    assert seen(shared_fast_twin) == before
    assert facts(owner.play(playbook, **wanted)) == told
    assert pinned_gpu(shell) == 1_020_000_000
    assert shapes.read_fan(shell.script("nvfancontrol -q")) == "cool"
    assert shell.script("systemctl is-enabled rerig-jetson-clocks.service") == "enabled\n"
    again = owner.play(playbook, **wanted)
    assert (facts(again), again.recap()["changed"]) == ((False, []), 0)
    # A switch of the mode takes back what jetson_clocks has set.
    assert facts(owner.play(playbook, power_mode_name="25W", **wanted)) == (False, ["power mode MAXN_SUPER → 25W"])
    assert pinned_gpu(shell) == 918_000_000
    assert facts(owner.play(restoring)) == (
        False,
        ["the clocks are pinned at no boot any more", "power mode 25W → 15W", "fan profile cool → quiet"],
    )
    assert seen(shared_fast_twin) == before


def pinned_gpu(shell: Shell) -> int:
    """The one clock in Hz that the GPU may have."""
    clocks = shapes.read_clocks(shell.script("jetson_clocks --show"))
    assert clocks.gpu.lowest == clocks.gpu.highest
    return clocks.gpu.highest


@pytest.mark.parametrize(
    ("board", "variables", "sentence"),
    [
        (FIFTEEN, {"power_mode_name": "TURBO"}, "has no mode TURBO, only 15W, 25W, MAXN_SUPER."),
        (replace(FIFTEEN, chroot=True), {}, "nvpmodel takes this for a chroot or a container"),
        (FIFTEEN, {"power_mode_fan_profile": "a b"}, "is a word of /etc/nvfancontrol.conf"),
    ],
)
def test_what_can_t_be_done_is_said(
    board: object,
    variables: dict[str, str],
    sentence: str,
    shared_fast_twin: Container,
    owner: Controller,
    playbook: Path,
) -> None:
    become_board(shared_fast_twin, board)  # type: ignore[arg-type] # a personality of the table above
    assert sentence in owner.play(playbook, **variables).failure()
    # In a chroot nvpmodel notes the mode that it doesn't set: the role takes the note back.
    assert mode(shared_fast_twin) == "15W"
    assert shared_fast_twin.shell.read("/sys/class/devfreq/17000000.gpu/max_freq") == b"612000000\n"


def test_an_error_behind_exit_status_0_and_a_wrong_read_back_are_found(
    shared_fast_twin: Container, owner: Controller, playbook: Path
) -> None:
    become_board(shared_fast_twin, FIFTEEN)
    tool = shared_fast_twin.shell.read("/usr/sbin/nvpmodel")
    for script, sentence in (
        ("echo 'NVPM ERROR: Error writing to file: 22'", "can't be set: nvpmodel failed: Error writing to file: 22."),
        ("echo; [ $1 = -m ] || { echo NV Power Mode: MAXN_SUPER; echo 2; }", "but the mode is 15W."),
    ):
        shared_fast_twin.shell.script(
            f"printf '%s\\n' '#!/bin/sh' \"{script}\" > /usr/sbin/nvpmodel".replace("$1", "\\$1")
        )
        assert sentence in owner.play(playbook).failure()
    shared_fast_twin.shell.put({"/root/tool": tool.decode()})
    shared_fast_twin.shell.script("cat /root/tool > /usr/sbin/nvpmodel; rm /root/tool")


def test_a_machine_that_is_no_jetson_is_refused_or_left_alone(fast_twin: Container, tmp_path: Path) -> None:
    owner = owner_of(fast_twin, tmp_path / "controller")
    playbook = play_of(tmp_path / "mode.yml", "power_mode")
    assert owner.play(playbook).failure().startswith("This is not a Jetson")
    played = owner.play(playbook, power_mode_skip_others=True)
    assert (facts(played), played.recap()["changed"]) == ((False, []), 0)
