"""The agent on another machine with its real archive, over connections that break wherever a test wants them to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hand_machine import SUITE, HandMachine
from rerig.build import build_result
from rerig.errors import UserError
from rerig.hosts import Host
from rerig.outcome import KILLED, Outcome
from rerig.remote import archive, first_look, ledger
from rerig.remote.agent import RemoteAgent
from rerig.remote.steady import SteadyShell
from rerig.rerun import Request, make_plan
from rerig.rundir import read_run
from rerig.zipapp import Agent, build_agent
from small_run import kept_bytes

pytestmark = pytest.mark.slow

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


# A new controller finds the agent, starts the run, follows it, and packs it.
@pytest.mark.parametrize(
    ("number", "moment"),
    [(2, "before"), (2, "after"), (3, "within"), (4, "within")]
    + [(number, moment) for number in (1, 3, 4) for moment in ("before", "after")],
)
def test_a_connection_that_breaks_anywhere_changes_nothing(
    machine: HandMachine, built: Agent, plan: dict[str, Any], out: Path, number: int, moment: str
) -> None:
    events: list[Event] = []
    machine.cut[number] = moment
    agent = agent_of(machine, built, out)
    assert agent.run(plan, out / plan["run_id"], events.append).status == 0
    assert machine.cut == {}, "the connection did break"
    assert len(machine.connections) == 3
    assert summary(out / plan["run_id"]) == WHOLE
    seen = [json.dumps(event) for event in events if event["event"] == "repeat-done"]
    assert len(seen) == len(set(seen)) == 5, "no event is told twice, and none is lost"


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_connection_that_breaks_while_the_machine_is_looked_at_is_made_again(
    agent: RemoteAgent, machine: HandMachine, number: int, moment: str
) -> None:
    machine.cut[number] = moment
    probe = agent.probe([str(machine.model)], None)
    assert [target["path"] for target in probe["targets"]] == [str(machine.model)]
    assert machine.cut == {}


def test_the_agent_is_sent_once(agent: RemoteAgent, machine: HandMachine, built: Agent, out: Path) -> None:
    agent.probe([], "/")
    sent = len(machine.exchanges)
    agent_of(machine, built, out).probe([], "/")
    assert len(machine.exchanges) - sent == sent - 1
    assert len(list((machine.state / "agents").iterdir())) == 1


def follow_in_background(work: Callable[[], Any]) -> Callable[[], Any]:
    """Start ``work`` in a thread; what is returned waits for its answer, or raises what it raised."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return lambda: future.result(120)


def test_a_run_goes_on_without_a_connection_and_is_picked_up_by_another_controller(
    machine: HandMachine, built: Agent, plan: dict[str, Any], out: Path
) -> None:
    machine.shut(after=2)
    run_dir = out / plan["run_id"]
    first = agent_of(machine, built, out)
    answer = follow_in_background(lambda: first.run(plan, run_dir, lambda _event: None))
    machine.wait_until_shut()
    assert "./inv rerun --attach" in str(first.going_on())
    machine.down = True
    machine.lose_connections()
    with pytest.raises(UserError, match=r"the run goes on there: ./inv rerun --attach .* brings it home"):
        answer()
    assert not run_dir.exists()
    machine.down = False
    events: list[Event] = []
    second = agent_of(machine, built, out)
    answer = follow_in_background(lambda: second.attach(run_dir, events.append))
    machine.open()
    assert answer().status == 0
    assert summary(run_dir) == WHOLE
    assert len([event for event in events if event["event"] == "repeat-done"]) == 5


def test_a_run_that_has_ended_is_brought_home_as_well(
    agent: RemoteAgent, machine: HandMachine, built: Agent, plan: dict[str, Any], out: Path, tmp_path: Path
) -> None:
    agent.run(plan, out / plan["run_id"], lambda _event: None)
    elsewhere = tmp_path / "elsewhere" / plan["run_id"]
    other = agent_of(machine, built, elsewhere.parent)
    assert other.attach(elsewhere, lambda _event: None).status == 0
    assert summary(elsewhere) == WHOLE
    assert ledger.read_entry(elsewhere.parent, plan["run_id"]) is not None


def killed(machine: HandMachine, agent: RemoteAgent, plan: dict[str, Any], run_dir: Path, after: int) -> Outcome:
    """What is said of a run whose agent is killed once ``after`` reads are done."""
    machine.shut(after)
    answer = follow_in_background(lambda: agent.run(plan, run_dir, lambda _event: None))
    machine.wait_until_shut()
    machine.kill_agent()
    machine.open()
    outcome: Outcome = answer()
    return outcome


@pytest.mark.parametrize("after", range(5))
def test_a_killed_agent_is_said_and_the_run_resumes_at_the_first_unfinished_case(
    agent: RemoteAgent, machine: HandMachine, built: Agent, plan: dict[str, Any], out: Path, after: int
) -> None:
    run_dir = out / plan["run_id"]
    outcome = killed(machine, agent, plan, run_dir, after)
    assert outcome.status == KILLED
    assert "user@box was killed" in str(outcome.sentence)
    assert "./inv rerun --resume" in str(outcome.sentence)
    kept = kept_bytes(run_dir)
    assert len(kept) == after // 2 * 6
    assert not summary(run_dir)[0]
    events: list[Event] = []
    outcome = agent_of(machine, built, out).resume(run_dir, events.append)
    assert (outcome.status, outcome.sentence) == (0, None)
    assert summary(run_dir) == [True, 2, *WHOLE[2:]]
    assert {name: (run_dir / name).read_bytes() for name in kept} == kept
    (gap,) = [session["gap_before_s"] for session in build_result(read_run(run_dir))["run"]["sessions"][1:]]
    assert gap >= 0


def test_a_complete_run_is_not_resumed_and_the_sentence_says_what_to_do(
    agent: RemoteAgent, plan: dict[str, Any], out: Path
) -> None:
    run_dir = out / plan["run_id"]
    agent.run(plan, run_dir, lambda _event: None)
    with pytest.raises(UserError, match=r"is complete: ./inv rerun --attach .* brings it home") as caught:
        agent.resume(run_dir, lambda _event: None)
    assert caught.value.exit_status == 2


def test_a_second_run_on_the_machine_is_refused_and_not_noted(
    machine: HandMachine, agent: RemoteAgent, built: Agent, plan: dict[str, Any], out: Path
) -> None:
    machine.shut()
    answer = follow_in_background(lambda: agent.run(plan, out / plan["run_id"], lambda _event: None))
    machine.wait_until_shut()
    other = {**plan, "run_id": "20260101T000000Z-000000"}
    with pytest.raises(UserError, match="two at once would measure each other") as caught:
        agent_of(machine, built, out).run(other, out / other["run_id"], lambda _event: None)
    assert caught.value.exit_status == 69
    assert ledger.read_entry(out, other["run_id"]) is None
    machine.open()
    assert answer().status == 0


def test_runs_are_listed_stopped_and_cleaned(
    machine: HandMachine, agent: RemoteAgent, built: Agent, plan: dict[str, Any], out: Path
) -> None:
    run_dir = out / plan["run_id"]
    machine.shut(after=3)
    answer = follow_in_background(lambda: agent.run(plan, run_dir, lambda _event: None))
    machine.wait_until_shut()
    other = agent_of(machine, built, out)
    (status,) = other.list_runs()[0]
    assert (status["run_id"], status["state"], status["cases_done"]) == (plan["run_id"], "running", 1)
    with pytest.raises(UserError, match="goes on; stop it first"):
        other.clean(plan["run_id"])
    assert other.stop(plan["run_id"])["state"] == "stopped"
    outcome = answer()
    assert outcome.status == 143
    assert "was stopped. What it had measured is kept: ./inv rerun --resume" in outcome.sentence
    other.clean(plan["run_id"])
    assert other.list_runs() == ([], "")
    assert ledger.read_entry(out, plan["run_id"]) is None
    assert run_dir.is_dir(), "the copy stays"
    with pytest.raises(UserError, match=r"There is no run .* on user@box: ./inv runs.list --host user@box shows which"):
        other.attach(run_dir, lambda _event: None)


def test_a_run_that_vanished_there_is_forgotten_and_one_that_can_not_be_read_is_not(
    machine: HandMachine, agent: RemoteAgent, plan: dict[str, Any], out: Path
) -> None:
    agent.run(plan, out / plan["run_id"], lambda _event: None)
    there = machine.runs / plan["run_id"]
    whole = (there / "plan.json").read_bytes()
    (there / "plan.json").write_text("{")
    with pytest.raises(UserError, match="damaged"):
        agent.clean(plan["run_id"])
    assert ledger.read_entry(out, plan["run_id"]) is not None
    (there / "plan.json").write_bytes(whole)
    shutil.rmtree(there)
    agent.clean(plan["run_id"])
    assert ledger.read_entry(out, plan["run_id"]) is None


def test_the_plan_of_a_run_can_be_asked_for(agent: RemoteAgent, plan: dict[str, Any], out: Path) -> None:
    agent.run(plan, out / plan["run_id"], lambda _event: None)
    assert agent.plan_of(plan["run_id"]) == plan


def test_a_file_of_the_machine_must_be_named_absolutely(agent: RemoteAgent) -> None:
    with pytest.raises(UserError, match="must be an absolute path") as caught:
        agent.target_path("models/a.bin")
    assert caught.value.exit_status == 2
    with pytest.raises(UserError, match="must be an absolute path"):
        agent.scratch_directory("~/x")


def test_nothing_is_started_where_the_run_could_not_be_noted(
    machine: HandMachine, agent: RemoteAgent, plan: dict[str, Any], out: Path
) -> None:
    out.write_text("a file")
    with pytest.raises(UserError, match="choose --out DIR"):
        agent.run(plan, out / plan["run_id"], lambda _event: None)
    assert list(machine.runs.iterdir()) == []


def test_a_disk_that_is_full_here_leaves_the_run_there(
    machine: HandMachine,
    agent: RemoteAgent,
    built: Agent,
    plan: dict[str, Any],
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_words: object) -> None:
        raise UserError("The run can't be kept in runs: No space left on device.")

    run_dir = out / plan["run_id"]
    with monkeypatch.context() as patched:
        patched.setattr(archive, "unpack", full)
        with pytest.raises(UserError, match=r"No space left on device. It is kept on user@box: ./inv rerun --attach"):
            agent.run(plan, run_dir, lambda _event: None)
    assert agent_of(machine, built, out).attach(run_dir, lambda _event: None).status == 0
    assert summary(run_dir) == WHOLE


def test_a_first_connection_that_does_not_come_about_is_not_tried_again(
    machine: HandMachine, agent: RemoteAgent
) -> None:
    machine.down = True
    with pytest.raises(UserError, match="no way to the machine"):
        agent.probe([], "/")
