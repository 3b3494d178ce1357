"""Words that the role measure refuses before anything is put anywhere, each on a host of its own in one play."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_plays import LOCAL, Controller, Played
from command_line import path_without_fio

NO_SUITE = "There is no suite {} on the controller; known are power-budget, queue-depth, storage "
NO_SUITE += "(or give a path to a .yml file)."
NUMBERS = "measure_repeats must be 0 (as the suite says) to 100, measure_poll_s and measure_limit_s more than 0."
ABSOLUTE = "measure_paths and measure_scratch must be absolute paths on the host."
WORDS = (
    "measure_size must look like 1G, a label's key be a lower-case word and its text have 1 to 200 characters, "
    "measure_resume be a run's id, and measure_out a directory."
)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no-suite": ({"measure_suites": ["storage", "nas"]}, NO_SUITE.format("nas")),
    "no-suite-file": ({"measure_suites": ["./none.yml"]}, NO_SUITE.format("./none.yml")),
    "suite-folder": ({"measure_suites": ["/etc/"]}, NO_SUITE.format("/etc/")),
    "relative-path": ({"measure_paths": ["/a", "b/c"]}, ABSOLUTE),
    "home-path": ({"measure_paths": ["~/model.bin"]}, ABSOLUTE),
    "relative-scratch": ({"measure_scratch": "scratch"}, ABSOLUTE),
    "repeats-below": ({"measure_repeats": -1}, NUMBERS),
    "repeats-above": ({"measure_repeats": 101}, NUMBERS),
    "no-poll": ({"measure_poll_s": 0}, NUMBERS),
    "no-limit": ({"measure_limit_s": 0}, NUMBERS),
    "size": ({"measure_size": "1G of it"}, WORDS),
    "label-key": ({"measure_labels": {"NAS": "x"}}, WORDS),
    "label-empty": ({"measure_labels": {"nas": ""}}, WORDS),
    "label-long": ({"measure_labels": {"nas": "x" * 201}}, WORDS),
    "run-id": ({"measure_resume": "../../etc"}, WORDS),
    "no-out": ({"measure_out": ""}, WORDS),
    # Ansible's own words
    "type-of-repeats": ({"measure_repeats": "many"}, "measure_repeats"),
    "type-of-labels": ({"measure_labels": ["nas=x"]}, "measure_labels"),
    "type-of-suites": ({"measure_suites": {"storage": 1}}, "measure_suites"),
}


@dataclass
class Refusals:
    """The play, and the folder with a place for each host."""

    played: Played
    controller: Controller
    places: Path


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Refusals:
    folder = tmp_path_factory.mktemp("refusals")
    controller = Controller(folder / "controller", path_without_fio())
    places = folder / "places"
    places.mkdir()
    for name, (variables, _) in REFUSED.items():
        own = {"measure_suites": ["storage"], **variables}
        controller.hosts[name] = {**LOCAL, "place": str(places / name), **own}
    played = controller.play("measure.yml", __measure_places=["{{ place }}"])
    return Refusals(played, controller, places)


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_in_one_sentence(refusals: Refusals, name: str) -> None:
    sentence = REFUSED[name][1]
    said = refusals.played.failure(name)
    assert said == sentence if sentence.endswith(".") else sentence in said
    assert refusals.played.recap(name)["failed"] == 1
    assert refusals.played.recap(name)["changed"] == 0


def test_nothing_is_left_anywhere(refusals: Refusals) -> None:
    assert list(refusals.places.iterdir()) == []
    assert list(refusals.controller.tmp.iterdir()) == []
    assert not (refusals.controller.directory / "runs").exists()


def test_a_python_that_is_too_old_for_the_agent_is_named(controller: Controller, box: dict[str, Any]) -> None:
    """A host's facts may come from a cache, or from an Ansible that still takes such a Python."""
    playbook = controller.directory / "old.yml"
    playbook.write_text(
        "- hosts: all\n"
        "  gather_facts: false\n"
        "  pre_tasks:\n"
        "    - set_fact: {python: {executable: /opt/python3.7, version: {major: 3, minor: 7}}, cacheable: true}\n"
        "  roles: [measure]\n",
        "utf-8",
    )
    box["measure_suites"] = ["storage"]
    played = controller.play(playbook)
    assert played.failure() == (
        "The host needs Python 3.9 or newer for Ansible, and 3.8 or newer for the agent; "
        "/opt/python3.7 is an older one."
    )


def test_ansible_refuses_a_python_that_is_too_old_for_it(controller: Controller, box: dict[str, Any]) -> None:
    old = controller.directory / "old.py"
    old.write_text(
        "import sys\n"
        "sys.version_info = type('Version', (tuple,), {'major': 3, 'minor': 6})((3, 6, 15, 'final', 0))\n"
        "sys.argv.pop(0)\n"
        "exec(compile(sys.stdin.read(), 'module', 'exec'), {'__name__': '__main__'})\n",
        "utf-8",
    )
    python = controller.directory / "python3"
    # No interpreter line of its own: the path of this Python may hold a space.
    python.write_text(f"#!/bin/sh\nexec '{LOCAL['ansible_python_interpreter']}' '{old}' \"$@\"\n", "utf-8")
    python.chmod(0o755)
    box |= {"measure_suites": ["storage"], "ansible_python_interpreter": str(python)}
    played = controller.play("measure.yml")
    assert "minimum of Python" in " ".join(played.output.split())
    assert played.recap()["failed"] == 1
    assert not Path(box["place"]).exists()
