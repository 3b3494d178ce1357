"""The command line on several machines at once, which are folders here: what is printed, kept, noted and returned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hand_machine import SUITE, HandMachine, HandShell
from rerig import cli
from rerig.documents import load_valid_document
from rerig.errors import UserError
from rerig.meeting import Door
from rerig.remote import first_look
from rerig.remote.agent import GOES_ON, RemoteAgent
from rerig_agent.journal import read_journal
from waiting import wait_for

MIB = 2**20
ONE, TWO = "someone@one", "someone@two"


class Lab:
    """Machines by the name that the user types, a suite and a file that all of them have, and rerig in a folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.machines = {name: HandMachine(folder / f"machine {name[-3:]}") for name in (ONE, TWO)}
        self.model = folder / "model.bin"
        self.model.write_bytes(os.urandom(4 * MIB))
        (folder / "by-hand.yml").write_text(SUITE)
        self.agents: list[RemoteAgent] = []
        self._capsys = capsys

    def run(self, *words: str, status: int = 0) -> tuple[str, str]:
        """What rerig prints to stdout and stderr."""
        self._capsys.readouterr()
        found = self._status(["./inv", *words])
        shown, told = self._capsys.readouterr()
        assert found == status, f"{found}\n{shown}\n{told}"
        assert "bug" not in told
        return shown, told

    def _status(self, argv: list[str]) -> int:
        try:
            return cli.main(argv)
        except SystemExit as end:
            return int(str(end.code))

    def rerun(self, *words: str, status: int = 0) -> tuple[str, str]:
        return self.run("rerun", "--suite", "./by-hand.yml", "--path", str(self.model), *words, status=status)

    def results(self) -> list[dict[str, Any]]:
        """The valid results that are here."""
        paths = sorted(self.folder.glob("runs/*/result.json"))
        return [load_valid_document(path, "rerig-result") for path in paths]

    def run_id(self, name: str = ONE) -> str:
        """The only run on a machine."""
        (run_dir,) = self.machines[name].runs.iterdir()
        return run_dir.name

    def interrupted(self, *words: str) -> str:
        """What is told of a rerun that gets Ctrl-C while every machine stands inside a read, and that is known here."""
        for machine in self.machines.values():
            machine.shut(after=2)
        with when(lambda: self._wait_until_all_read(words), ctrl_c):
            return self.rerun(*words, status=130)[1]

    def _wait_until_all_read(self, words: tuple[str, ...]) -> None:
        hosts = [word for word in words if word in self.machines]
        for host in hosts:
            self.machines[host].wait_until_shut()
        wait_for(lambda: [agent._fate for agent in self.agents[-len(hosts) :]] == [GOES_ON] * len(hosts))

    def end(self) -> None:
        for machine in self.machines.values():
            machine.end()


class when:
    """Let another thread wait for something and then do something, while the body of this block runs."""

    def __init__(self, wait: Callable[[], object], act: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=lambda: (wait(), act()))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_error: object) -> None:
        self._thread.join()


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Lab]:
    lab = Lab(tmp_path, capsys)
    prepare_agent = RemoteAgent.__init__

    def note_agent(agent: RemoteAgent, *words: Any) -> None:
        prepare_agent(agent, *words)
        lab.agents.append(agent)

    def connect(door: Any) -> HandShell:
        if door._closed:
            raise UserError("It was closed.")
        if door._unused is None:
            door._unused = lab.machines[door.host.name].connect()
        shell: HandShell = door._unused
        return shell

    def open_shell(door: Any) -> HandShell:
        shell, door._unused = connect(door), None
        return shell

    def close(door: Any) -> None:
        door._closed = True
        lab.machines[door.host.name].lose_connections()

    monkeypatch.setattr(RemoteAgent, "__init__", note_agent)
    monkeypatch.setattr(Door, "connect", connect)
    monkeypatch.setattr(Door, "__call__", open_shell)
    monkeypatch.setattr(Door, "close", close)
    monkeypatch.setattr(first_look, "look", lambda shell, _python: shell.machine.look())
    monkeypatch.chdir(tmp_path)
    yield lab
    lab.end()


def test_two_machines_are_measured_and_each_table_is_headed_by_the_name_that_was_typed(lab: Lab) -> None:
    shown, told = lab.rerun("--host", TWO, "--host", ONE)
    assert shown.index(f"== {TWO}\n") < shown.index(f"== {ONE}\n")
    assert shown.count("Result: runs/") == 2
    assert f"{ONE}: 5 runs, about" in told
    assert f"{TWO}: first.t1: 2 × about" in told
    assert [result["run"]["complete"] for result in lab.results()] == [True, True]


def test_no_name_of_a_machine_or_user_comes_into_a_result(lab: Lab) -> None:
    lab.rerun("--host", ONE)
    (result,) = lab.results()
    text = json.dumps(result)
    for word in ("someone", "machine one", str(lab.folder)):
        assert word not in text


def test_of_a_single_machine_no_name_is_printed(lab: Lab) -> None:
    shown, told = lab.rerun("--host", ONE)
    assert ONE not in shown + told
    assert "==" not in shown


def test_a_machine_that_fails_stops_no_other_and_the_worst_status_counts(lab: Lab) -> None:
    lab.machines[TWO].down = True
    shown, told = lab.rerun("--host", TWO, "--host", ONE, status=1)
    assert f"{TWO}: There is no way to the machine.\n" in told
    assert f"== {ONE}\n" in shown
    assert f"== {TWO}\n" not in shown
    assert len(lab.results()) == 1


def test_a_single_machine_that_fails_is_one_sentence(lab: Lab) -> None:
    lab.machines[ONE].down = True
    assert lab.rerun("--host", ONE, status=1) == ("", "./inv: There is no way to the machine.\n")


def test_a_relative_path_is_refused_for_another_machine(lab: Lab) -> None:
    told = lab.run("rerun", "--path", "model.bin", "--host", ONE, status=2)[1]
    assert "model.bin must be an absolute path" in told


def test_json_is_one_document_of_one_machine_and_an_array_of_several(lab: Lab) -> None:
    one = json.loads(lab.rerun("--json", "--quiet", "--host", ONE)[0])
    assert one["format"] == "rerig-result"
    both = json.loads(lab.rerun("--json", "--host", ONE, "--host", TWO)[0])
    assert [document["format"] for document in both] == ["rerig-result"] * 2
    lab.machines[ONE].down = True
    lab.machines[TWO].down = True
    assert json.loads(lab.rerun("--json", "--host", ONE, "--host", TWO, status=1)[0]) == []


def test_quiet_prints_where_the_results_are_and_nothing_else(lab: Lab) -> None:
    shown, told = lab.rerun("--quiet", "--host", ONE, "--host", TWO)
    assert told == ""
    assert shown.splitlines() == [f"runs/{lab.run_id(name)}/result.json" for name in (ONE, TWO)]


def test_plan_only_prints_every_machines_commands_and_runs_none(lab: Lab) -> None:
    shown, _told = lab.rerun("--plan-only", "--host", ONE, "--host", TWO)
    assert f"# {ONE}\n" in shown
    assert f"# {TWO}\n" in shown
    assert shown.count("dd if=") + shown.count("dd 'if=") == 10
    assert [list(machine.runs.iterdir()) for machine in lab.machines.values()] == [[], []]
    plans = json.loads(lab.rerun("--plan-only", "--json", "--host", ONE, "--host", TWO)[0])
    assert [plan["format"] for plan in plans] == ["rerig-plan"] * 2


def test_serial_measures_one_machine_after_the_other(lab: Lab) -> None:
    lab.rerun("--serial", "--quiet", "--host", TWO, "--host", ONE)
    two, one = (read_journal(lab.machines[name].runs / lab.run_id(name)) for name in (TWO, ONE))
    assert two[-1]["event"] == "run-end"
    assert two[-1]["monotonic_s"] <= one[0]["monotonic_s"]


def test_this_machine_can_be_one_of_several(lab: Lab) -> None:
    (lab.folder / "lab.yml").write_text("all: {hosts: {here: {ansible_connection: local}}}\n")
    shown, _told = lab.rerun("--inventory", "lab.yml", "--host", "here", "--host", ONE)
    assert "== here\n" in shown
    assert f"== {ONE}\n" in shown
    assert [result["run"]["complete"] for result in lab.results()] == [True, True]


def test_ctrl_c_leaves_the_runs_going_and_says_how_to_get_them(lab: Lab) -> None:
    told = lab.interrupted("--host", ONE, "--host", TWO)
    for name in (ONE, TWO):
        run = lab.run_id(name)
        assert (
            f"The run on {name} goes on: ./inv rerun --attach {run} brings it home, ./inv runs.stop {run} stops it."
        ) in told
    assert lab.results() == []
    for machine in lab.machines.values():
        machine.open()
    runs = [word for name in (ONE, TWO) for word in ("--attach", lab.run_id(name))]
    shown, _told = lab.run("rerun", *runs)
    assert f"== {ONE}\n" in shown
    assert f"== {TWO}\n" in shown
    assert [(result["run"]["complete"], len(result["run"]["sessions"])) for result in lab.results()] == [(True, 1)] * 2


def test_ctrl_c_stops_what_measures_here_and_leaves_the_others(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    (lab.folder / "lab.yml").write_text("all: {hosts: {here: {ansible_connection: local}}}\n")
    monkeypatch.setenv("PATH", lab.machines[TWO].environment["PATH"])  # so that the dd of here waits as well
    for machine in lab.machines.values():
        machine.shut(after=2)
    with when(lambda: [machine.wait_until_shut() for machine in lab.machines.values()], ctrl_c):
        shown, told = lab.rerun("--inventory", "lab.yml", "--host", "here", "--host", ONE, status=130)
    assert f"The run on {ONE} goes on: " in told
    assert "here: The run was stopped. What it had measured is kept: ./inv rerun --resume runs/" in told
    assert "== here\n" in shown
    (result,) = lab.results()
    assert result["run"]["stopped_by"] == "signal"


@pytest.mark.slow
def test_killed_agents_are_said_and_their_runs_resumed_together(lab: Lab) -> None:
    def kill() -> None:
        for machine in lab.machines.values():
            machine.wait_until_shut()
        for machine in lab.machines.values():
            machine.kill_agent()
            machine.open()

    for machine in lab.machines.values():
        machine.shut(after=3)
    with when(lambda: None, kill):
        shown, told = lab.rerun("--host", ONE, "--host", TWO, status=75)
    assert told.count("was killed.") == 2
    assert f"./inv rerun --resume {lab.run_id(TWO)} continues it." in told
    assert shown.count("Verdict:") == 2
    lab.run("rerun", "--resume", lab.run_id(ONE), "--resume", lab.run_id(TWO))
    assert [(result["run"]["complete"], len(result["run"]["sessions"])) for result in lab.results()] == [(True, 2)] * 2


@pytest.mark.slow
def test_a_run_that_is_complete_is_not_resumed(lab: Lab) -> None:
    lab.rerun("--host", ONE)
    told = lab.run("rerun", "--resume", lab.run_id(), status=2)[1]
    assert told == f"./inv: The run is complete: ./inv rerun --attach {lab.run_id()} brings it home.\n"


def test_runs_are_listed_with_and_without_asking_the_machines(lab: Lab) -> None:
    lab.interrupted("--host", ONE)
    asked = len(lab.machines[ONE].exchanges)
    (row,) = json.loads(lab.run("runs.list", "--json")[0])
    assert (row["run_id"], row["machine"], row["state"]) == (lab.run_id(), ONE, "not asked")
    assert len(lab.machines[ONE].exchanges) == asked
    lab.machines[TWO].down = True
    shown, told = lab.run("runs.list", "--json", "--host", ONE, "--host", TWO, status=1)
    (row,) = json.loads(shown)
    assert (row["state"], row["cases_done"], row["cases_total"], row["result"]) == ("running", 1, 3, None)
    assert told == f"{TWO}: There is no way to the machine.\n"
    assert "running" in lab.run("runs.list", "--host", ONE)[0]


def test_a_run_is_stopped_by_its_id_alone_and_resumed_from_a_path(lab: Lab) -> None:
    lab.interrupted("--host", ONE)
    run = lab.run_id()
    shown, _told = lab.run("runs.stop", run)
    assert shown.startswith(f"The run {run} was stopped and keeps what it had measured: ./inv rerun --resume {run}")
    lab.machines[ONE].open()
    lab.run("rerun", "--resume", f"runs/{run}/")
    assert lab.results()[0]["run"]["complete"]


@pytest.mark.slow
def test_a_run_stays_on_its_machine_until_a_whole_copy_with_its_result_is_here(lab: Lab) -> None:
    lab.interrupted("--host", ONE)
    run = lab.run_id()
    clean = ["runs.clean", run]
    assert f"The run {run} goes on: ./inv runs.stop {run} stops it." in lab.run(*clean, status=1)[1]
    lab.run("runs.stop", run)
    lab.machines[ONE].open()
    assert "since there is no copy of it in runs: ./inv rerun --attach" in lab.run(*clean, status=1)[1]
    lab.run("rerun", "--attach", run, status=143)
    result = lab.folder / "runs" / run / "result.json"
    whole = result.read_bytes()
    result.unlink()
    assert "since its copy has no valid result" in lab.run(*clean, status=1)[1]
    result.write_bytes(whole)
    raw = result.parent / "cases/first.t1/r1/stderr"
    text = raw.read_bytes()
    raw.unlink()
    assert "cases/first.t1/r1/stderr of its copy is missing" in lab.run(*clean, status=1)[1]
    raw.write_bytes(text)
    lab.run("rerun", "--resume", run, "--out", "elsewhere", "--host", ONE)
    assert "since it has gone on since it was brought home" in lab.run(*clean, status=1)[1]
    lab.run("rerun", "--attach", run)
    shown, _told = lab.run(*clean)
    assert shown == f"The run {run} is removed from {ONE}, and its copy stays in runs/{run}.\n"
    assert list(lab.machines[ONE].runs.iterdir()) == []
    assert lab.results()[0]["run"]["complete"]
    assert not (lab.folder / "runs" / ".remote").exists()


@pytest.mark.slow
def test_a_copy_is_only_removed_by_force_and_is_never_resumed_here(lab: Lab) -> None:
    lab.interrupted("--host", ONE)
    run = lab.run_id()
    lab.run("runs.stop", run)
    lab.machines[ONE].open()
    lab.run("rerun", "--attach", run, status=143)
    lab.run("runs.clean", run)
    told = lab.run("rerun", "--resume", run, status=1)[1]
    assert "was measured on another machine and can only go on there" in told
    told = lab.run("runs.clean", run, status=2)[1]
    assert told == f"./inv: The run {run} is kept here alone: ./inv runs.clean {run} --force removes it.\n"
    assert lab.run("runs.clean", run, "--force")[0] == f"The run {run} is removed.\n"
    assert list((lab.folder / "runs").iterdir()) == []


@pytest.mark.slow
def test_force_removes_a_run_that_was_not_brought_home_and_a_failure_stops_no_other(lab: Lab) -> None:
    for name in (ONE, TWO):
        lab.rerun("--host", name)
    one, two = lab.run_id(ONE), lab.run_id(TWO)
    lab.machines[ONE].down = True
    (lab.folder / "runs" / two / "result.json").unlink()
    shown, told = lab.run("runs.clean", one, "--force", "--", two, status=1)
    assert told == f"{one}: There is no way to the machine.\n"
    assert shown == f"The run {two} is removed from {TWO}, and its copy stays in runs/{two}.\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--attach", "x", "--resume", "x"], "Give either --attach or --resume"),
        (
            ["--attach", "x", "--path", "/a", "--plan-only"],
            "--attach takes a run as it was planned: leave out --path, ",
        ),
        (["--resume", "x", "--suite", "nas"], "--resume takes a run as it was planned: leave out --suite."),
        (["--attach", "../x y"], "'x y' is no run: it must look like 20260131T081500Z-1a2b3c (see ./inv runs.list)."),
        (["--attach", "x", "--host", ONE, "--host", TWO], "A run is on one machine, and --host names 2"),
        (["--sudo"], "--sudo is for other machines"),
        (["--inventory", "x"], "--inventory says where hosts are looked up"),
        (["--install-tools", "--host", ONE], "--install-tools is for this machine; on others: ansible-playbook"),
        (["--host", "box;reboot@x y"], "is no host"),
    ],
)
def test_words_that_make_no_sense_together_are_one_sentence(lab: Lab, words: list[str], sentence: str) -> None:
    shown, told = lab.run("rerun", *words, status=2)
    assert shown == ""
    assert sentence in told
    assert len(told.splitlines()) == 1


def test_the_steps_of_the_role_give_the_same_document_as_rerun(lab: Lab) -> None:
    """As roles/measure/tasks/*.yml: plan here what the agent saw there, start it, pack it, receive it."""
    machine = lab.machines[ONE]
    lab.run("agent.build", "--out", "agent.pyz")

    def agent(*words: str, stdin: bytes = b"") -> bytes:
        argv = [sys.executable, "-I", "-S", "-B", str(lab.folder / "agent.pyz"), *words]
        done = subprocess.run(argv, input=stdin, env=machine.environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    Path("probe.json").write_bytes(agent("probe", f"--path={lab.model}"))
    words = ["--probe", "probe.json", "--out", "plan.json", "--suite", "./by-hand.yml", "--label=nas=a, b"]
    assert lab.run("agent.plan", *words, "--size", "1G", "--repeats", "2") == ("", "")
    run_dir = str(machine.runs / json.loads(Path("plan.json").read_text())["run_id"])
    agent("start", "--plan", "-", "--run-dir", run_dir, stdin=b" " + Path("plan.json").read_bytes())
    agent("follow", run_dir)
    agent("pack", run_dir, "--to", str(lab.folder / "run.tar"))
    shown, told = lab.run("results.receive", "--archive", "run.tar", "--out", "by role")
    assert told == ""
    path = shown.splitlines()[-1]
    assert lab.run("results.validate", "--", path)[0] == f"{path}: valid\n"
    mine = load_valid_document(path, "rerig-result")
    lab.rerun("--host", ONE, "--label", "nas=a, b", "--repeats", "2", "--size", "1G")
    (other,) = lab.results()
    for key in ("format", "format_version", "suite", "agent", "builder", "labels", "targets"):
        assert mine[key] == other[key], key
    assert [case["identity"] for case in mine["cases"]] == [case["identity"] for case in other["cases"]]


def test_a_run_that_nobody_knows_is_one_sentence(lab: Lab) -> None:
    told = lab.run("rerun", "--attach", "20260101T000000Z-000000", status=1)[1]
    assert "There is no run 20260101T000000Z-000000 in runs, and no machine is noted for it" in told
    told = lab.run("rerun", "--attach", "20260101T000000Z-000000", "--host", ONE, status=1)[1]
    assert f"There is no run 20260101T000000Z-000000 on {ONE}: ./inv runs.list --host" in told
