"""Reboots, frozen connections, signals, and kills again and again: the run goes on, or is resumed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kill_outcomes import Document, assert_partial, assert_resumed, assert_undisturbed
from kill_scene import AT_THE_END, BETWEEN, CASES, POINTS, WITHIN, KillScene, Point, end, kill, told_words
from same_document import assert_same, sessions
from ssh_bed import SshBed
from waiting import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow]


@pytest.mark.parametrize(
    ("point", "doubts"),
    [
        pytest.param(POINTS[0], [], id=str(POINTS[0])),
        pytest.param(WITHIN[1], ["the machine was rebooted between session 1 and session 2"], id=str(WITHIN[1])),
        pytest.param(BETWEEN[2], [], id=str(BETWEEN[2])),  # the second session gave no figure
    ],
)
def test_a_machine_that_reboots_is_waited_for_and_its_run_resumed(
    scene: KillScene, undisturbed: Document, point: Point, doubts: list[str]
) -> None:
    command = scene.rerun_until(point)
    scene.host.reboot(empty_tmp=True)
    scene.gates.open()
    _, told = end(command, 75)
    assert "was killed. The machine was started anew while the run went on" in told
    assert_partial(scene, undisturbed, point)
    scene.cli.run(*told_words(told), "--quiet")
    assert_resumed(scene, undisturbed, [point.within], doubts=doubts)
    scene.assert_clean_removes_it()


def test_a_machine_that_rebooted_after_the_end_changes_nothing(scene: KillScene, undisturbed: Document) -> None:
    kill(scene.rerun_until(AT_THE_END))
    scene.host.reboot()
    scene.cli.run("rerun", "--quiet", "--attach", scene.run_id)
    assert_undisturbed(scene, undisturbed)


def test_a_run_that_is_killed_in_every_case_comes_to_its_end(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[0])
    for following in (Point("", "dd", 3, 1), Point("", "fio", 1, 2), None):
        scene.kill_agent()
        scene.gates.open()
        _, told = end(command, 75)
        if following is None:
            scene.cli.run(*told_words(told), "--quiet")
        else:
            scene.shut(following)
            command = scene.cli.start(*told_words(told), "--quiet")
            scene.wait_until_reached(command, following.gate)
    assert_resumed(scene, undisturbed, CASES, stops=["killed"] * 3)
    scene.assert_clean_removes_it()


def test_agent_controller_and_sshd_may_be_killed_in_one_run(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[0])
    scene.kill_agent()
    kill(command)
    scene.host.kill_sshd()
    scene.host.restart_sshd()
    scene.gates.open()
    scene.shut(Point("", "fio", 1, 2))
    command = scene.cli.start("rerun", "--quiet", "--resume", scene.run_id)
    scene.wait_until_reached(command, "fio")
    scene.host.kill_sshd()
    kill(command)
    scene.host.restart_sshd()
    scene.gates.open()
    scene.cli.run("rerun", "--quiet", "--attach", scene.run_id)
    assert_resumed(scene, undisturbed, [CASES[0]])


def test_a_run_whose_agent_was_killed_unseen_is_told_of_by_whoever_attaches(
    scene: KillScene, undisturbed: Document
) -> None:
    kill(scene.rerun_until(WITHIN[1]))
    scene.kill_agent()
    scene.gates.open()
    told = scene.cli.run("rerun", "--quiet", "--attach", scene.run_id, status=75).stderr
    assert_partial(scene, undisturbed, WITHIN[1])
    scene.cli.run(*told_words(told), "--quiet")
    assert_resumed(scene, undisturbed, [WITHIN[1].within])


def test_a_run_can_be_brought_home_to_another_folder_that_knows_nothing_of_it(
    scene: KillScene, undisturbed: Document
) -> None:
    kill(scene.rerun_until(WITHIN[1]))
    run_id, earlier = scene.run_id, scene.out
    scene.gates.open()
    scene.out = scene.out.with_name("elsewhere")
    scene.cli.run("rerun", "--quiet", "--host", "box", "--out", "elsewhere", "--attach", run_id)
    assert_undisturbed(scene, undisturbed)
    scene.cli.run("runs.clean", "--out", "elsewhere", run_id)
    assert [path.name for path in earlier.iterdir()] == [".remote"]
    assert f"The run {run_id} was no longer on box." in scene.cli.run("runs.clean", run_id).stdout
    assert list(earlier.iterdir()) == []


def test_a_killed_run_that_is_removed_leaves_no_scratch_file(scene: KillScene) -> None:
    command = scene.rerun_until(WITHIN[1])
    assert len(scene.scratch_files()) == 2
    scene.kill_agent()
    scene.gates.open()
    end(command, 75)
    assert len(scene.scratch_files()) == 2
    scene.assert_clean_removes_it()
    assert scene.scratch_files() == []


def test_what_a_killed_run_left_is_removed_by_the_next(scene: KillScene) -> None:
    command = scene.rerun_until(WITHIN[1])
    scene.kill_agent()
    scene.gates.open()
    end(command, 75)
    assert len(scene.scratch_files()) == 2
    end(scene.rerun(), 0)
    assert scene.scratch_files() == []


def test_a_connection_that_freezes_for_a_while_is_kept(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[1])
    wait_for(scene.followers)
    scene.host.freeze()
    scene.gates.open()
    wait_for(lambda: not scene.agents(), 120)
    scene.host.thaw()
    end(command, 0)
    assert scene.logins() == 1
    assert_undisturbed(scene, undisturbed)


def test_a_connection_that_stays_frozen_is_given_up_for_another(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[1])
    wait_for(scene.followers)
    (first,) = scene.clients()
    scene.host.freeze()
    wait_for(lambda: scene.clients() - {first} or command.poll() is not None, 180)
    scene.host.thaw()
    scene.gates.open()
    end(command, 0)
    assert scene.logins() > 1
    assert_undisturbed(scene, undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM), pytest.param(signal.SIGHUP)])
def test_a_controller_that_is_asked_to_stop_leaves_the_run_and_says_how_to_get_it(
    scene: KillScene, undisturbed: Document, number: signal.Signals
) -> None:
    command = scene.rerun_until(WITHIN[1])
    wait_for(scene.followers)
    command.send_signal(number)
    _, told = end(command, 128 + number)
    word = scene.run_id
    assert told == (
        f"The run on box goes on: ./inv rerun --attach {word} brings it home, ./inv runs.stop {word} stops it.\n"
    )
    assert scene.agents()
    second = scene.cli.start(*told_words(told), "--quiet")
    wait_for(lambda: len(scene.followers()) == 1 or second.poll() is not None)
    scene.gates.open()
    end(second, 0)
    assert_undisturbed(scene, undisturbed)


def test_a_run_that_was_stopped_from_elsewhere_is_resumed(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[1])
    wait_for(scene.followers)
    assert f"--resume {scene.run_id} continues it" in scene.cli.run("runs.stop", scene.run_id).stdout
    scene.gates.open()
    _, told = end(command, 128 + signal.SIGTERM)
    assert "The run on box was stopped." in told
    assert_partial(scene, undisturbed, WITHIN[1], stopped_by="signal")
    scene.cli.run(*told_words(told), "--quiet")
    assert_resumed(scene, undisturbed, [WITHIN[1].within], stops=["signal"])


def test_two_controllers_may_follow_one_run(scene: KillScene, undisturbed: Document) -> None:
    first = scene.rerun_until(WITHIN[1])
    second = scene.cli.start("rerun", "--quiet", "--attach", scene.run_id)
    wait_for(lambda: len(scene.followers()) == 2 or second.poll() is not None)
    scene.gates.open()
    end(first, 0)
    end(second, 0)
    assert_undisturbed(scene, undisturbed)


def test_two_that_resume_at_once_begin_one_session(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(WITHIN[1])
    scene.kill_agent()
    scene.gates.open()
    end(command, 75)
    scene.gates.shut_command("start")
    both = [scene.cli.start("rerun", "--quiet", "--resume", scene.run_id) for _ in range(2)]
    wait_for(lambda: len(scene.waiting("start")) == 2 or any(one.poll() is not None for one in both))
    scene.gates.open()
    for one in both:
        end(one, 0)
    assert_resumed(scene, undisturbed, [WITHIN[1].within])


AHEAD = """\
format: rerig-suite
format_version: "1.0"
name: ahead
version: "1.0"
title: A read with a read-ahead of its own
scratch_bytes: 16777216
cases:
  - name: ahead
    kind: dd_read
    direct: false
    block_bytes: 1048576
    read_bytes: {default: 16777216}
    repeats: 2
    evict: true
    read_ahead_kb: 1536
"""


@pytest.mark.parametrize("then", ["resume", "clean"])
def test_a_read_ahead_that_a_killed_agent_had_set_is_put_back(bed: SshBed, tmp_path: Path, then: str) -> None:
    words = ["--scratch", "/srv/disk"]
    scene = KillScene(bed, tmp_path, AHEAD, words, disks={"/srv/disk": 320 * 2**20})
    bed.add_alias("box", Port=scene.host.port, User="root")
    device = scene.host.run(["mountpoint", "-d", "/srv/disk"]).decode().strip()
    knob = Path("/sys/class/bdi") / device / "read_ahead_kb"  # of a loop device of the test's own
    earlier = knob.read_text()
    end(scene.rerun(), 0)
    assert knob.read_text() == earlier
    undisturbed = scene.document()
    assert [repeat["read_ahead_kb"] for repeat in undisturbed["cases"][0]["repeats"]] == [1536, 1536]
    scene.cli.run("runs.clean", scene.run_id)
    command = scene.rerun_until(Point("", "dd", 1, 0))
    assert knob.read_text() == "1536\n"
    scene.kill_agent()
    scene.gates.open()
    _, told = end(command, 75)
    assert knob.read_text() == "1536\n"
    if then == "resume":
        scene.cli.run(*told_words(told), "--quiet")
        assert_same(scene.document(), undisturbed)
        assert sessions(scene.document()) == ["killed", None]
    else:
        scene.cli.run("runs.clean", scene.run_id)
    assert knob.read_text() == earlier
