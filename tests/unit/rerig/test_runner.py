"""The agent on this machine, played by a script: what its ends mean, and what a signal from another thread does."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.outcome import KILLED
from rerig.runner import LocalAgent
from waiting import wait_for

PLAN: dict[str, Any] = {"run_id": "r1"}


def agent(folder: Path, script: str) -> LocalAgent:
    """An agent whose whole program is ``script``."""
    path = folder / "agent.py"
    path.write_text("import json, os, signal, sys, time\n" + script)
    return LocalAgent(path, "1.0", "0" * 64)


@pytest.mark.parametrize(
    ("ending", "status", "sentence"),
    [
        ("sys.exit(0)", 0, None),
        ("sys.exit(1)", 1, None),
        ("sys.exit(143)", 143, "The run was stopped. What it had measured is kept: ./inv rerun --resume "),
        ("os.kill(os.getpid(), 9)", KILLED, "The agent was killed by signal 9. What it had measured is kept: "),
        ("sys.exit('rerig-agent: no space left')", 1, None),
        ("sys.stderr.write('rerig-agent: No space.\\n'); sys.exit(74)", 1, "The agent failed: No space. What it had"),
    ],
)
def test_an_ending_is_told_as_what_it_means(tmp_path: Path, ending: str, status: int, sentence: str | None) -> None:
    outcome = agent(tmp_path, ending).run(PLAN, tmp_path / "runs" / "r1", lambda _event: None)
    assert outcome.status == status
    assert (outcome.sentence is None) == (sentence is None)
    assert (outcome.sentence or "").startswith(sentence or "")


def test_the_sentence_can_be_typed_as_it_is(tmp_path: Path) -> None:
    run_dir = tmp_path / "my runs" / "r1"
    outcome = agent(tmp_path, "sys.exit(130)").run(PLAN, run_dir, lambda _event: None)
    assert f"./inv rerun --resume '{run_dir}' continues it." in str(outcome.sentence)


@pytest.mark.parametrize("status", [2, 69])
def test_where_nothing_was_begun_nothing_is_left(tmp_path: Path, status: int) -> None:
    refusing = agent(tmp_path, f"sys.stderr.write('rerig-agent: Another run goes on.\\n'); sys.exit({status})")
    with pytest.raises(UserError, match=r"^Another run goes on\.$") as caught:
        refusing.run(PLAN, tmp_path / "runs" / "r1", lambda _event: None)
    assert caught.value.exit_status == status
    assert list((tmp_path / "runs").iterdir()) == []


def test_events_are_told_as_they_come_and_noise_is_not(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    told = agent(tmp_path, "print('noise'); print(json.dumps({'event': 'x'}))")
    told.resume(tmp_path, events.append)
    assert events == [{"event": "x"}]


WAITING = """
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
print(json.dumps({"event": "begun"}), flush=True)
while True:
    time.sleep(60)
"""


def test_a_signal_from_another_thread_reaches_the_agent(tmp_path: Path) -> None:
    begun = threading.Event()
    outcomes = []
    waiting = agent(tmp_path, WAITING)

    def follow() -> None:
        outcomes.append(waiting.resume(tmp_path, lambda _event: begun.set()))

    thread = threading.Thread(target=follow)
    thread.start()
    assert begun.wait(60)
    waiting.interrupt(signal.SIGTERM)
    wait_for(lambda: outcomes)
    thread.join()
    assert outcomes[0].status == 143


def test_an_agent_that_is_interrupted_before_it_is_started_never_is(tmp_path: Path) -> None:
    marked = agent(tmp_path, f"open({str(tmp_path / 'mark')!r}, 'w')")
    marked.interrupt(signal.SIGINT)
    with pytest.raises(UserError) as caught:
        marked.run(PLAN, tmp_path / "runs" / "r1", lambda _event: None)
    assert caught.value.exit_status == 130
    assert not (tmp_path / "mark").exists()
    assert list((tmp_path / "runs").iterdir()) == []


def test_an_event_that_breaks_its_hearer_ends_the_agent(tmp_path: Path) -> None:
    def break_down(_event: dict[str, Any]) -> None:
        raise KeyError("bug")

    waiting = agent(tmp_path, WAITING)
    with pytest.raises(KeyError):
        waiting.resume(tmp_path, break_down)
    assert waiting._child is not None
    assert waiting._child.returncode is not None


def test_what_is_asked_of_a_run_is_its_document_or_one_sentence(tmp_path: Path) -> None:
    answering = agent(tmp_path, "print(json.dumps({'argv': sys.argv[1:]}))")
    assert answering.status(tmp_path) == {"argv": ["status", str(tmp_path)]}
    assert answering.stop(tmp_path) == {"argv": ["stop", str(tmp_path)]}
    answering.clean(tmp_path)
    refusing = agent(tmp_path, "sys.stderr.write('rerig-agent: There is no run.\\n'); sys.exit(2)")
    for verb in (refusing.status, refusing.stop, refusing.clean):
        with pytest.raises(UserError, match=r"^There is no run\.$") as caught:
            verb(tmp_path)
        assert caught.value.exit_status == 2


def test_a_folder_that_is_not_there_holds_no_runs(tmp_path: Path) -> None:
    assert agent(tmp_path, "sys.exit(9)").list_runs(tmp_path / "missing") == ([], "")


def test_runs_are_listed_although_some_are_damaged(tmp_path: Path) -> None:
    script = "sys.stderr.write('rerig-agent: One is damaged.\\n'); print('[{}]'); sys.exit(2)"
    assert agent(tmp_path, script).list_runs(tmp_path) == ([{}], "rerig-agent: One is damaged.")
