"""The agent on another machine with its real archive, over connections that break wherever a test wants them to."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hand_machine import SUITE, HandMachine, HandShell
from rerig.build import build_result
from rerig.errors import UserError
from rerig.hosts import Host
from rerig.remote import first_look, ledger
from rerig.remote.agent import RemoteAgent
from rerig.remote.steady import SteadyShell
from rerig.rerun import Request, make_plan
from rerig.rundir import read_run
from rerig.zipapp import Agent, build_agent

BOX = Host("user@box", "box", user="user")
Event = dict[str, Any]


class Clock:
    """Time that only passes while somebody waits."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return build_agent(tmp_path_factory.mktemp("agent") / "rerig-agent.pyz")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HandMachine]:
    monkeypatch.setattr(first_look, "look", lambda shell, _python: shell.machine.look())
    machine = HandMachine(tmp_path / "box")
    yield machine
    machine.end()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "runs here"


def agent_of(machine: HandMachine, built: Agent, out: Path) -> RemoteAgent:
    """What a new controller has: no connection yet, and no memory."""
    clock = Clock()
    return RemoteAgent(BOX, SteadyShell(machine.connect, clock.wait, clock), built, out)


@pytest.fixture
def agent(machine: HandMachine, built: Agent, out: Path) -> RemoteAgent:
    return agent_of(machine, built, out)


@pytest.fixture
def plan(agent: RemoteAgent, machine: HandMachine, tmp_path: Path) -> dict[str, Any]:
    suite = tmp_path / "by-hand.yml"
    suite.write_text(SUITE)
    plan = make_plan(agent, Request([str(machine.model)], suite=str(suite))).plan
    machine.exchanges.clear()
    return plan


def summary(run_dir: Path) -> list[Any]:
    """What must be the same however often a connection breaks."""
    result = build_result(read_run(run_dir))
    cases = [
        (case["id"], case["status"], [(r["number"], r["bytes"], r["exit_status"]) for r in case["repeats"]])
        for case in result["cases"]
    ]
    return [result["run"]["complete"], len(result["run"]["sessions"]), *cases]


WHOLE = [
    True,
    1,
    ("first.t1", "measured", [(1, 4194304, 0), (2, 4194304, 0)]),
    ("second.t1", "measured", [(1, 4194304, 0), (2, 4194304, 0)]),
    ("third.t1", "measured", [(1, 4194304, 0)]),
]


def test_a_run_comes_home_whole_and_what_was_told_is_what_happened(
    agent: RemoteAgent, machine: HandMachine, plan: dict[str, Any], out: Path
) -> None:
    events: list[Event] = []
    run_dir = out / plan["run_id"]
    outcome = agent.run(plan, run_dir, events.append)
    assert (outcome.status, outcome.sentence) == (0, None)
    assert summary(run_dir) == WHOLE
    repeats = [(event["case"], event["number"]) for event in events if event["event"] == "repeat-done"]
    assert repeats == [("first.t1", 1), ("first.t1", 2), ("second.t1", 1), ("second.t1", 2), ("third.t1", 1)]
    assert agent.going_on() is None
    assert not (run_dir / "lock").exists()


def test_the_entry_in_the_ledger_says_where_the_run_is_and_is_ours_alone(
    agent: RemoteAgent, machine: HandMachine, plan: dict[str, Any], out: Path
) -> None:
    agent.run(plan, out / plan["run_id"], lambda _event: None)
    entry = ledger.read_entry(out, plan["run_id"])
    assert entry is not None
    assert entry.host() == BOX
    assert entry.run_dir == str(machine.runs / plan["run_id"])
    path = out / ledger.FOLDER / f"{plan['run_id']}.json"
    assert path.stat().st_mode & 0o777 == 0o600


# find the agent, start, follow, pack
@pytest.mark.parametrize("moment", ["before", "within", "after"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_connection_that_breaks_anywhere_changes_nothing(
    agent: RemoteAgent, machine: HandMachine, plan: dict[str, Any], out: Path, number: int, moment: str
) -> None:
    fresh = agent_of(machine, {**agent_built(agent)}, out)
    events: list[Event] = []
    machine.cut[number] = moment
    assert fresh.run(plan, out / plan["run_id"], events.append).status == 0
    assert machine.cut == {}, "the connection did break"
    assert len(machine.connections) == 3
    assert summary(out / plan["run_id"]) == WHOLE
    seen = [json.dumps(event) for event in events if event["event"] == "repeat-done"]
    assert len(seen) == len(set(seen)) == 5, "no event is told twice, and none is lost"
