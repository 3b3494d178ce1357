"""Runs of this machine that were stopped, killed or left alone: listed, resumed, shown and removed."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from hand_machine import SUITE, HandMachine
from rerig.documents import load_valid_document
from rerig_agent.journal import is_alive
from small_run import kept_bytes
from waiting import wait_for


class Bench:
    """rerig in a folder, with a dd that waits when a test wants it to (the gates of a HandMachine are used alone)."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.gates = HandMachine(folder)
        self.cli = Cli(
            cli.directory, {**cli.environment, "PATH": f"{folder / 'bin'}{os.pathsep}{cli.environment['PATH']}"}
        )
        (cli.directory / "by-hand.yml").write_text(SUITE)
        self.words = ["rerun", "--suite", "./by-hand.yml", "--path", str(self.gates.model)]

    @property
    def run_dir(self) -> Path:
        (path,) = self.cli.directory.glob("runs/*")
        return path

    def agent(self) -> int:
        """The process that measures."""
        journal = (self.run_dir / "journal.jsonl").read_text().splitlines()
        pids: list[int] = [json.loads(line)["pid"] for line in journal if '"run-start"' in line]
        return pids[-1]

    def end_badly(self, number: int, after: int, whom: str) -> tuple[int, str]:
        """Send a signal to the agent or its controller once ``after`` reads are done; the controller's end."""
        self.gates.shut(after)
        process = self.cli.start(*self.words)
        self.gates.wait_until_shut()
        os.kill(self.agent() if whom == "agent" else process.pid, number)
        if whom == "agent":
            wait_for(lambda: not is_alive(self.run_dir))
            self.gates.open()
        _shown, told = process.communicate(timeout=120)
        return process.returncode, told

    def result(self) -> dict[str, Any]:
        return load_valid_document(self.run_dir / "result.json", "rerig-result")


@pytest.fixture
def bench(bare_cli: Cli, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(bare_cli, tmp_path / "gates")
    yield bench
    bench.gates.open()
    for run_dir in bench.cli.directory.glob("runs/*"):
        wait_for(lambda: not is_alive(run_dir))  # noqa: B023 - it is called at once


@pytest.mark.parametrize("after", [2, *(pytest.param(number, marks=pytest.mark.slow) for number in (0, 1, 3, 4))])
def test_a_killed_run_is_resumed_at_its_first_unfinished_case_by_the_words_that_were_told(
    bench: Bench, after: int
) -> None:
    status, told = bench.end_badly(signal.SIGKILL, after, "agent")
    assert status == 75
    words = told.splitlines()[-1].partition("./inv ")[2].removesuffix(" continues it.").split()
    kept = kept_bytes(bench.run_dir)
    assert len(kept) == after // 2 * 6
    bench.cli.run(*words)
    result = bench.result()
    assert result["run"]["complete"]
    assert [session["stopped_by"] for session in result["run"]["sessions"]] == ["killed", None]
    assert [len(case["repeats"]) for case in result["cases"]] == [2, 2, 1]
    assert {name: (bench.run_dir / name).read_bytes() for name in kept} == kept


def test_a_stopped_run_is_resumed_and_only_what_is_left_is_told(bench: Bench) -> None:
    bench.gates.shut(after=2)
    process = bench.cli.start(*bench.words)
    bench.gates.wait_until_shut()
    process.send_signal(signal.SIGINT)
    _shown, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"The run was stopped. What it had measured is kept: ./inv rerun --resume runs/{bench.run_dir.name}" in told
    bench.gates.open()
    told = bench.cli.run("rerun", "--resume", bench.run_dir.name).stderr
    assert "first.t1" not in told
    assert "second.t1: 2 × about" in told
    assert bench.result()["run"]["complete"]


def test_a_run_goes_on_when_its_controller_is_killed_and_is_shown_afterwards(bench: Bench) -> None:
    bench.end_badly(signal.SIGKILL, 2, "controller")
    run = bench.run_dir.name
    told = bench.cli.run("rerun", "--attach", run, status=69).stderr
    assert f"The run {run} goes on on this machine" in told
    assert f"./inv runs.stop {run} stops it now." in told
    told = bench.cli.run("rerun", "--resume", run, status=69).stderr
    assert told == f"./inv: The run {run} goes on on this machine already: ./inv runs.stop {run} stops it.\n"
    (row,) = json.loads(bench.cli.run("runs.list", "--json").stdout)
    assert (row["machine"], row["state"], row["cases_done"], row["result"]) == ("this machine", "running", 1, None)
    told = bench.cli.run("runs.clean", run, "--force", status=1).stderr
    assert told == f"./inv: The run {run} goes on: ./inv runs.stop {run} stops it.\n"
    bench.gates.open()
    wait_for(lambda: not is_alive(bench.run_dir))
    assert "Verdict: " in bench.cli.run("rerun", "--attach", run).stdout
    assert bench.result()["run"]["complete"]


@pytest.mark.slow
def test_a_run_without_its_controller_is_stopped_resumed_and_removed(bench: Bench) -> None:
    bench.end_badly(signal.SIGKILL, 3, "controller")
    run = bench.run_dir.name
    shown = bench.cli.run("runs.stop", run).stdout
    assert shown.startswith(f"The run {run} was stopped and keeps what it had measured: ./inv rerun --resume {run} ")
    assert bench.cli.run("runs.stop", run).stdout == shown
    bench.gates.open()
    done = bench.cli.run("rerun", "--attach", run, status=143)
    assert "The run was stopped. What it had measured is kept" in done.stderr
    assert not bench.result()["run"]["complete"]
    bench.cli.run("rerun", "--quiet", "--resume", run)
    assert bench.result()["run"]["complete"]
    told = bench.cli.run("rerun", "--resume", run, status=2).stderr
    assert told == f"./inv: The run {run} is complete: ./inv rerun --attach {run} shows its result.\n"
    told = bench.cli.run("runs.clean", run, status=2).stderr
    assert told == f"./inv: The run {run} is kept here alone: ./inv runs.clean {run} --force removes it.\n"
    assert bench.cli.run("runs.clean", run, "--force").stdout == f"The run {run} is removed.\n"
    assert list(bench.cli.directory.glob("runs/*")) == []


def test_a_second_run_beside_one_that_goes_on_is_refused_and_leaves_nothing(bench: Bench) -> None:
    bench.gates.shut(after=1)
    first = bench.cli.start(*bench.words)
    bench.gates.wait_until_shut()
    told = bench.cli.run(*bench.words, status=69).stderr
    assert "two at once would measure each other" in told
    assert bench.run_dir.is_dir(), "it is the only one"
    bench.gates.open()
    first.communicate(timeout=120)
    assert first.returncode == 0


def test_without_runs_the_next_command_is_told(bare_cli: Cli) -> None:
    assert bare_cli.run("runs.list").stdout.endswith("./inv rerun makes one.\n")
    assert json.loads(bare_cli.run("runs.list", "--json").stdout) == []


def test_a_damaged_run_is_said_and_hides_no_other(bench: Bench) -> None:
    bench.cli.run(*bench.words)
    damaged = bench.run_dir.parent / "damaged"
    shutil.copytree(bench.run_dir, damaged)
    (damaged / "plan.json").write_text("{")
    done = bench.cli.run("runs.list")
    assert "damaged" in done.stderr
    assert "this machine" in done.stdout
    assert len(done.stderr.splitlines()) == 1
