"""What the directory of a run tells of its state, and what is no run at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_program import AgentProgram
from hand_made_runs import PLAN, begun, ended, myself, run_of
from rerig_agent.exits import Refused
from rerig_agent.identity import read_pid_start
from rerig_agent.journal import Journal
from rerig_agent.status import NoRun, look


@pytest.mark.parametrize(
    ("events", "state", "exit_status", "resumable"),
    [
        ([], "killed", None, True),
        ([begun()], "killed", None, True),
        ([myself()], "killed", None, True),
        ([begun(), ended(None, 0)], "ended", 0, False),
        ([begun(), ended(None, 1)], "ended", 1, False),
        ([begun(), ended("signal", 143)], "stopped", 143, True),
        ([begun(), ended("error", 74)], "stopped", 74, True),
        ([begun(), ended(7, "odd")], "stopped", 70, True),
        ([begun(), ended("signal", 143), begun()], "killed", None, True),
        ([begun(), begun(), ended(None, 0)], "ended", 0, False),
    ],
)
def test_a_run_that_nobody_holds_is_as_its_last_session_ended(
    tmp_path: Path, events: list, state: str, exit_status: object, resumable: bool
) -> None:
    document = look(run_of(tmp_path, *events)).document()
    assert (document["state"], document["exit_status"], document["resumable"]) == (state, exit_status, resumable)
    assert document["pid"] is None
    assert document["sessions"] == sum(event["event"] == "run-start" for event in events)
    assert bool(document["started_at"]) == bool(events)


def test_a_run_goes_on_as_long_as_somebody_holds_its_lock(tmp_path: Path) -> None:
    holder = Journal(run_of(tmp_path))
    assert look(tmp_path).state == "running"  # about to begin
    holder.append(**myself())
    assert (look(tmp_path).state, look(tmp_path).pid()) == ("running", os.getpid())
    holder.append(**ended(None, 0))
    assert (look(tmp_path).state, look(tmp_path).exit_status) == ("running", None)
    holder.close()
    assert (look(tmp_path).state, look(tmp_path).exit_status) == ("ended", 0)


def test_a_number_that_another_process_has_now_is_not_the_runs(tmp_path: Path) -> None:
    holder = Journal(run_of(tmp_path, begun(os.getpid(), 1)))
    assert look(tmp_path).document()["pid"] is None
    holder.append(**begun(os.getpid(), read_pid_start(os.getpid()), "another-boot"))
    assert look(tmp_path).document()["pid"] is None
    holder.close()


def test_the_document_has_what_callers_need(tmp_path: Path) -> None:
    events = [begun(), {"event": "case-start", "case": "a"}, {"event": "case-done", "case": "a"}]
    document = look(run_of(tmp_path, *events, suite={"name": "storage"})).document()
    assert list(document) == [
        "run_id",
        "suite",
        "state",
        "exit_status",
        "started_at",
        "sessions",
        "cases_done",
        "cases_total",
        "pid",
        "resumable",
        "run_dir",
    ]
    assert (document["suite"], document["cases_done"], document["cases_total"]) == ("storage", 1, 1)
    assert document["run_dir"] == str(tmp_path)


ODD_PLANS = ["", "[]", "7", '{"format": "other"}', '{"format": "rerig-plan", "run_id": 7, "cases": []}', "[" * 9999]


@pytest.mark.parametrize("text", [*ODD_PLANS, "\xff"])
def test_what_is_no_plan_makes_no_run(tmp_path: Path, text: str) -> None:
    run_of(tmp_path)
    (tmp_path / "plan.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(Refused) as caught:
        look(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_plan_that_lies_about_somewhere_makes_no_run(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    assert look(tmp_path).state == "killed"
    (tmp_path / "letter.txt").write_text("Dear")
    with pytest.raises(NoRun, match=r"it has a plan and no journal\.$"):
        look(tmp_path)


def test_a_plan_behind_a_link_makes_no_run(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    run_of(tmp_path / "elsewhere")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "plan.json").symlink_to(tmp_path / "elsewhere" / "plan.json")
    with pytest.raises(Refused, match="can't be read"):
        look(tmp_path / "run")


@pytest.mark.root
def test_another_users_run_with_a_closed_lock_is_judged_by_its_process(public_path: Path) -> None:
    run_of(public_path, begun())
    (public_path / "lock").chmod(0o600)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setuid(65534)
            status = 0 if look(public_path).state == "killed" else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_all_runs_are_listed_and_a_damaged_one_hides_no_other(agent: AgentProgram) -> None:
    agent.start("one")
    agent.follow("one")
    agent.start("two")
    agent.follow("two")
    damaged = agent.runs / "damaged"
    damaged.mkdir()
    (damaged / "plan.json").write_text("{")
    (agent.runs / "file").write_text("x")
    (agent.runs / ".hidden").mkdir()
    run_of(agent.runs / ".hidden")
    (agent.folder / "other").mkdir()
    run_of(agent.folder / "other")
    done = agent.run("list", "--json", agent.runs, agent.folder)
    documents = json.loads(done.stdout)
    assert [(document["run_id"], document["state"]) for document in documents] == [
        ("one", "ended"),
        ("two", "ended"),
        ("x", "killed"),
    ]
    assert documents[0] == agent.document("status", agent.runs / "one")
    assert done.stderr == f"rerig-agent: The run in {damaged} is damaged: its plan.json is no JSON.\n"
    lines = agent.run("list", agent.runs).stdout.splitlines()
    assert [line.split()[:4] for line in lines] == [["one", "ended", "3/3", "small"], ["two", "ended", "3/3", "small"]]


def test_a_directory_that_can_not_be_listed_hides_no_other(agent: AgentProgram) -> None:
    agent.start("one")
    agent.follow("one")
    done = agent.run("list", "--json", agent.folder / "nothing", agent.runs, status=2)
    assert [document["run_id"] for document in json.loads(done.stdout)] == ["one"]
    assert done.stderr == f"rerig-agent: {agent.folder}/nothing can't be read: No such file or directory.\n"
