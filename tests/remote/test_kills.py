"""What is killed while a run goes on elsewhere changes nothing in its result but times, and a gap that is recorded."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kill_outcomes import Document, assert_partial, assert_resumed, assert_undisturbed
from kill_scene import AT_THE_END, BETWEEN, CASES, POINTS, WITHIN, KillScene, Point, case_hashes, end, kill, told_words
from same_document import sessions
from waiting import wait_for

pytestmark = pytest.mark.root


def some_are_slow(quick: list[Point], points: list[Point] = POINTS) -> list[Any]:
    """All points; without the slow tests, those of ``quick``."""
    return [point if point in quick else pytest.param(point, marks=pytest.mark.slow) for point in points]


def test_an_undisturbed_run_is_what_the_others_are_measured_by(undisturbed: Document) -> None:
    assert sessions(undisturbed) == [None]
    assert undisturbed["run"]["complete"]
    assert [case["id"] for case in undisturbed["cases"]] == CASES
    assert {case["status"] for case in undisturbed["cases"]} == {"measured"}
    assert [len(case["repeats"]) for case in undisturbed["cases"]] == [2, 2, 2]


@pytest.mark.parametrize("point", some_are_slow([WITHIN[1]]), ids=str)
def test_a_killed_agent_is_told_and_its_run_resumed(scene: KillScene, undisturbed: Document, point: Point) -> None:
    command = scene.rerun_until(point)
    kept = case_hashes(scene.there, point.done)
    assert len(kept) >= 6 * point.done
    scene.kill_agent()
    scene.gates.open()
    _, told = end(command, 75)
    assert re.fullmatch(
        r"The agent on box was killed\. The run was killed \(by kill -9, or because the memory ran out\)\. "
        r"What it had measured is kept: \./inv rerun --resume \S+ continues it\.\n",
        told,
    )
    assert_partial(scene, undisturbed, point)
    assert case_hashes(scene.run_dir, point.done) == kept
    scene.cli.run(*told_words(told), "--quiet")
    assert case_hashes(scene.there, point.done) == kept
    assert case_hashes(scene.run_dir, point.done) == kept
    assert_resumed(scene, undisturbed, [point.within])


@pytest.mark.slow
def test_an_agent_killed_as_it_ends_has_measured_all(scene: KillScene, undisturbed: Document) -> None:
    command = scene.rerun_until(AT_THE_END)
    scene.kill_agent()
    end(command, 0)
    assert_undisturbed(scene, undisturbed)


@pytest.mark.parametrize("point", some_are_slow([BETWEEN[0]], [*POINTS, AT_THE_END]), ids=str)
def test_a_killed_controller_leaves_a_run_that_another_attaches_to(
    scene: KillScene, undisturbed: Document, point: Point
) -> None:
    kill(scene.rerun_until(point))
    assert scene.agents()
    second = scene.cli.start("rerun", "--quiet", "--attach", scene.run_id)
    wait_for(lambda: scene.followers() or second.poll() is not None)
    scene.gates.open()
    end(second, 0)
    assert_undisturbed(scene, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("point", [POINTS[0], WITHIN[1], AT_THE_END], ids=str)
def test_a_run_that_ended_without_a_controller_is_brought_home(
    scene: KillScene, undisturbed: Document, point: Point
) -> None:
    kill(scene.rerun_until(point))
    scene.gates.open()
    wait_for(lambda: not scene.agents(), 120)
    scene.cli.run("rerun", "--quiet", "--attach", scene.run_id)
    assert_undisturbed(scene, undisturbed)
    scene.assert_clean_removes_it()


@pytest.mark.slow
@pytest.mark.parametrize("point", [*POINTS, AT_THE_END], ids=str)
def test_a_controller_whose_sshd_is_killed_and_restarted_goes_on(
    scene: KillScene, undisturbed: Document, point: Point
) -> None:
    command = scene.rerun_until(point)
    scene.host.kill_sshd()
    scene.host.restart_sshd()
    scene.gates.open()
    end(command, 0)
    assert scene.logins() == 2
    assert_undisturbed(scene, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("point", [POINTS[0], WITHIN[1], BETWEEN[1], AT_THE_END], ids=str)
def test_a_controller_whose_session_is_killed_goes_on(scene: KillScene, undisturbed: Document, point: Point) -> None:
    command = scene.rerun_until(point)
    scene.host.kill_sessions()
    scene.gates.open()
    end(command, 0)
    assert scene.logins() == 2
    assert_undisturbed(scene, undisturbed)
