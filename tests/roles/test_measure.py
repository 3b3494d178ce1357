"""The role measure on this machine, from check mode to a second run: its results are those of ./inv rerun."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_plays import LOCAL, Controller, Played, path_before
from command_line import Cli, environment, path_without_fio
from rerig.documents import load_valid_document
from same_document import sessions, timeless

SUITE = """\
format: rerig-suite
format_version: "1.0"
name: {name}
version: "1.0"
title: a short read by each tool
scratch_bytes: 8388608
cases:
  - {{name: dd, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {{default: 8388608}}, repeats: 2}}
  - {{name: fio, kind: fio_read, direct: true, block_bytes: 65536, pattern: random, queue_depth: 4,
     engines: [io_uring, libaio], runtime_limit_s: 20, repeats: 1}}
"""
LABELS = {"nas": "4-bay, 10GbE: \"x\" = {a} [1] 'q' \\n 한글 %s $HOME", "raid-level": 5, "json": '{"a": [1, null]}'}
HOST = "kitchen-orin"


@dataclass
class Tour:
    """One host through its life, and what each play came to."""

    controller: Controller
    folder: Path
    place: Path
    check: Played
    left_by_check: list[Path]
    first: Played
    again: Played
    rerun: dict[str, Any]

    def document(self, path: Path) -> dict[str, Any]:
        return load_valid_document(path, "rerig-result")


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory, real_fio: Path) -> Tour:
    """Check, apply, apply again with two suites; and ./inv rerun with the same words as the first."""
    folder = tmp_path_factory.mktemp("tour")
    path = path_before(real_fio, path_without_fio())
    controller = Controller(folder / "a controller", path)
    place = folder / "host's own" / "rerig"
    controller.hosts[HOST] = {**LOCAL, "place": str(place)}
    (folder / "suites").mkdir()
    for name in ("one", "two"):
        (folder / "suites" / f"{name}.yml").write_text(SUITE.format(name=name), "utf-8")

    def play(*flags: str, **extra: Any) -> Played:
        """A relative suite and a relative folder, as users give them."""
        words = {"measure_suites": ["../suites/one.yml"], "measure_out": "out dir/결과", "measure_poll_s": 1, **extra}
        return controller.play("measure.yml", *flags, __measure_places=["{{ place }}"], **words)

    check = play("--check", measure_labels=LABELS)
    left = [
        *controller.tmp.iterdir(),
        *(one for one in (place.parent, controller.directory / "out dir") if one.exists()),
    ]
    first = play(measure_labels=LABELS)
    again = play(measure_suites=["../suites/two.yml", str(folder / "suites" / "one.yml")])
    cli = Cli(controller.directory, environment(path))
    labels = [f"--label={key}={value}" for key, value in LABELS.items()]
    rerun = cli.result("--suite", str(folder / "suites" / "one.yml"), "--scratch", str(place), *labels)
    return Tour(controller, folder, place, check, left, first, again, rerun)


def test_check_mode_says_what_would_be_measured_and_leaves_nothing_anywhere(tour: Tour) -> None:
    assert tour.check.status == 0, tour.check.output
    assert {name: tour.check.recap(HOST)[name] for name in ("changed", "failed")} == {"changed": 1, "failed": 0}
    said = " ".join(str(tour.check.said("changed", HOST)[0]["msg"]).split())
    assert said == (
        "Would measure the suite ../suites/one.yml on a scratch file in the role's own folder and keep the result in "
        f"{tour.controller.directory}/out dir/결과."
    )
    assert tour.left_by_check == []


def test_the_result_is_valid_and_the_very_document_of_rerun(tour: Tour) -> None:
    assert tour.first.status == 0, tour.first.output
    (path,) = tour.first.results(HOST)
    document = tour.document(path)
    assert path.parent.parent == tour.controller.directory / "out dir" / "결과"
    assert timeless(document) == timeless(tour.rerun)
    assert {case["status"] for case in document["cases"]} == {"measured"}
    assert document["run"]["complete"]
    assert sessions(document) == [None]
    assert document["labels"] == {key: str(value) for key, value in LABELS.items()}


def test_a_change_is_the_agent_that_is_put_there_and_each_run_and_each_result(tour: Tour) -> None:
    assert tour.first.recap(HOST)["changed"] == 3
    assert tour.again.recap(HOST)["changed"] == 4


def test_a_second_play_measures_again_and_its_suites_results_are_in_their_order(tour: Tour) -> None:
    assert tour.again.status == 0, tour.again.output
    paths = tour.again.results(HOST)
    assert [tour.document(path)["suite"]["name"] for path in paths] == ["two", "one"]
    runs = [*tour.first.results(HOST), *paths]
    assert len({tour.document(path)["run"]["id"] for path in runs}) == 3
    assert [tour.document(path)["labels"] for path in paths] == [{}, {}]


def test_nothing_is_left_but_the_runs_and_one_agent(tour: Tour) -> None:
    runs = sorted(path.parent.name for path in [*tour.first.results(HOST), *tour.again.results(HOST)])
    assert sorted(path.name for path in tour.place.iterdir()) == ["agents", "runs"]
    assert sorted(path.name for path in (tour.place / "runs").iterdir()) == runs
    assert len(list((tour.place / "agents").iterdir())) == 1
    assert sorted(path.name for path in (tour.controller.directory / "out dir" / "결과").iterdir()) == runs
    assert list(tour.controller.tmp.iterdir()) == []


def test_no_document_knows_the_hosts_name(tour: Tour) -> None:
    for path in [*tour.first.results(HOST), *tour.again.results(HOST)]:
        kept = [file.read_bytes() for file in path.parent.rglob("*") if file.is_file()]
        assert not any(HOST.encode() in data for data in kept)
        assert str(tour.folder) not in path.read_text("utf-8")
