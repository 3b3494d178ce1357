"""Kills before a run has begun, while it is brought home, and while it is removed."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable

import pytest

from kill_outcomes import Document, assert_undisturbed
from kill_scene import BEFORE_IT_BEGINS, WITHIN, KillScene, end, kill
from waiting import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow]


def held_before(scene: KillScene, command: str) -> subprocess.Popen[str]:
    """rerig, whose first call of this command of the agent waits before it begins."""
    scene.gates.shut_command(command)
    process = scene.rerun()
    scene.wait_until_reached(process, f"command-{command}")
    return process


def attached(scene: KillScene) -> None:
    scene.cli.run("rerun", "--quiet", "--attach", scene.run_id)


def assert_nothing_has_begun(scene: KillScene) -> None:
    """No run is on the machine, and none is noted here."""
    wait_for(lambda: scene.foreign_processes() == [])
    assert scene.runs_there() == []
    assert not scene.out.exists() or list(scene.out.iterdir()) == []


def test_a_controller_killed_while_it_looks_at_the_machine_has_begun_nothing(scene: KillScene) -> None:
    kill(held_before(scene, "probe"))
    scene.gates.open()
    assert_nothing_has_begun(scene)


def test_a_connection_lost_while_the_machine_is_looked_at_is_made_again(
    scene: KillScene, undisturbed: Document
) -> None:
    command = held_before(scene, "probe")
    scene.host.kill_sessions()
    scene.gates.open()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


def test_a_controller_killed_before_its_run_is_there_leaves_an_entry_that_can_be_removed(scene: KillScene) -> None:
    kill(held_before(scene, "start"))
    run_id = scene.run_id
    told = scene.cli.run("rerun", "--attach", run_id, status=2).stderr
    assert told == (
        f"./inv: The run {run_id} is not on box: it never began there, or was removed; ./inv runs.clean {run_id} "
        "forgets it.\n"
    )
    wait_for(lambda: scene.sessions() == 0)
    scene.gates.open()  # there is nobody any more whom the agent could tell that it is there
    wait_for(lambda: scene.foreign_processes() == [])
    assert f"The run {run_id} was no longer on box." in scene.cli.run("runs.clean", run_id).stdout
    assert_nothing_has_begun(scene)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            "start",
            "If the run on box has begun, it goes on: ./inv rerun --attach {0} brings it home, ./inv runs.stop {0} "
            "stops it.\n",
        ),
        ("pack", "The run on box is over: ./inv rerun --attach {0} brings it home.\n"),
    ],
)
def test_a_controller_that_is_interrupted_says_what_it_knows_of_the_run(
    scene: KillScene, command: str, says: str
) -> None:
    process = held_before(scene, command)
    process.send_signal(signal.SIGINT)
    _, told = end(process, 130)
    assert told == says.format(scene.run_id)


def test_a_start_that_is_told_twice_begins_one_run(scene: KillScene, undisturbed: Document) -> None:
    command = held_before(scene, "start")
    scene.host.kill_sessions()
    wait_for(lambda: len(scene.waiting("start")) == 2 or command.poll() is not None)
    scene.gates.open()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


def test_a_controller_killed_before_the_run_has_begun_leaves_one_that_begins(
    scene: KillScene, undisturbed: Document
) -> None:
    kill(scene.rerun_until(BEFORE_IT_BEGINS))
    second = scene.cli.start("rerun", "--quiet", "--attach", scene.run_id)
    wait_for(lambda: scene.followers() or second.poll() is not None)
    scene.gates.open()
    end(second, 0)
    assert_undisturbed(scene, undisturbed)


@pytest.mark.parametrize("victim", ["kill_sshd", "kill_sessions"])
def test_a_connection_lost_before_the_run_has_begun_is_made_again(
    scene: KillScene, undisturbed: Document, victim: str
) -> None:
    command = scene.rerun_until(BEFORE_IT_BEGINS)
    getattr(scene.host, victim)()
    if victim == "kill_sshd":
        scene.host.restart_sshd()
    scene.gates.open()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


def test_an_agent_killed_before_it_has_begun_leaves_no_run(scene: KillScene) -> None:
    command = scene.rerun_until(BEFORE_IT_BEGINS)
    scene.kill_detached()
    _, told = end(command, 75)
    assert told == "./inv: The run was killed before it had begun.\n"
    scene.gates.open()
    assert_nothing_has_begun(scene)


def test_an_agent_killed_with_its_starter_before_it_has_begun_is_started_again(
    scene: KillScene, undisturbed: Document
) -> None:
    command = scene.rerun_until(BEFORE_IT_BEGINS)
    scene.kill_agent()
    scene.gates.open()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


def test_followers_that_are_killed_are_replaced(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[1])
    for _ in range(2):
        wait_for(lambda: scene.followers())
        assert scene.host.signal(signal.SIGKILL, match=" follow ")
    scene.gates.open()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


def test_a_controller_killed_while_the_run_comes_home_is_replaced(scene: KillScene, undisturbed: Document) -> None:
    kill(held_before(scene, "pack"))
    scene.gates.open()
    attached(scene)
    assert_undisturbed(scene, undisturbed)


def kill_sshd(scene: KillScene) -> None:
    scene.host.kill_sshd()
    scene.host.restart_sshd()


def kill_packer(scene: KillScene) -> None:
    assert scene.host.signal(signal.SIGKILL, match=" pack ")


@pytest.mark.parametrize("strike", [kill_sshd, kill_packer])
def test_a_run_that_is_cut_off_on_its_way_home_is_sent_again(
    scene: KillScene, undisturbed: Document, strike: Callable[[KillScene], None]
) -> None:
    command = held_before(scene, "pack")
    strike(scene)
    scene.gates.open()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


@pytest.mark.parametrize("victim", ["controller", "sshd"])
def test_a_removal_that_is_cut_off_is_taken_up_again(scene: KillScene, victim: str) -> None:
    end(scene.rerun(), 0)
    run_dir = scene.run_dir
    scene.gates.shut_command("clean")
    command = scene.cli.start("runs.clean", scene.run_id)
    scene.wait_until_reached(command, "command-clean")
    if victim == "controller":
        kill(command)
    else:
        kill_sshd(scene)
    assert scene.host.signal(signal.SIGKILL, match=" clean ")
    scene.gates.open()
    if victim == "controller":
        assert scene.runs_there() == [scene.run_id]
        scene.cli.run("runs.clean", scene.run_id)
    else:
        end(command, 0)
    assert scene.runs_there() == []
    assert list(scene.out.iterdir()) == [run_dir]
