"""A run that was started goes on by itself, once, whatever becomes of whoever started it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from agent_program import LIMIT_S, AgentProgram
from real_mounts import RealMounts
from rerig_agent.identity import read_pid_start
from rerig_agent.journal import Journal, read_journal
from waiting import wait_for


def starts(run_dir: Path) -> list:
    return [event for event in read_journal(run_dir) if event["event"] == "run-start"]


def begun(agent: AgentProgram, run_id: str = "small") -> bool:
    return bool(starts(agent.runs / run_id))


def plan_words(agent: AgentProgram, run_id: str = "small") -> tuple:
    return ("start", "--plan", agent.plan(run_id), "--run-dir", agent.runs / run_id)


def test_a_started_run_goes_on_and_says_so(agent: AgentProgram) -> None:
    started = agent.started_and_held()
    assert {name: started[name] for name in ("run_id", "suite", "state", "exit_status", "sessions", "run_dir")} == {
        "run_id": "small",
        "suite": "small",
        "state": "running",
        "exit_status": None,
        "sessions": 1,
        "run_dir": str(agent.runs / "small"),
    }
    (begin,) = starts(agent.runs / "small")
    assert (begin["pid"], begin["pid_start"]) == (started["pid"], read_pid_start(started["pid"]))
    agent.release()
    assert agent.follow()[-1] == {"event": "run-end", "stopped_by": None}
    assert agent.document("status", agent.runs / "small")["state"] == "ended"
    assert list(agent.scratch.iterdir()) == []


def test_a_started_run_is_nobodys_child_and_holds_nothing_of_its_parent(agent: AgentProgram) -> None:
    reader, writer = os.pipe()
    agent.hold()
    # Both pipes of standard output and error end with the command, although the run goes on.
    process = agent.popen(*plan_words(agent), cwd=str(agent.folder), pass_fds=[writer], start_new_session=True)
    os.close(writer)
    out, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, errors) == (0, "")
    pid = json.loads(out)["pid"]
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert os.getsid(pid) not in (process.pid, os.getsid(0), pid)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert [os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)] == [
        os.devnull,
        os.devnull,
        str(agent.runs / "small" / "agent.log"),
    ]


def test_a_run_begins_although_its_starter_is_killed_before_that(agent: AgentProgram) -> None:
    agent.hold("version")
    process = agent.popen(*plan_words(agent), start_new_session=True)
    agent.wait_until_held("version")
    os.killpg(process.pid, signal.SIGHUP)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)
    assert not begun(agent)
    agent.release("version")
    wait_for(lambda: begun(agent))
    agent.follow()


def close_streams() -> None:
    for number in range(3):
        os.close(number)


def ignore_everything() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])


@pytest.mark.parametrize("ancestor", [close_streams, ignore_everything])
def test_a_run_begins_and_can_be_stopped_whatever_it_inherits(
    agent: AgentProgram, ancestor: Callable[[], None]
) -> None:
    agent.hold()
    process = agent.popen(*plan_words(agent), preexec_fn=ancestor)
    process.communicate(timeout=LIMIT_S)
    wait_for(lambda: begun(agent))
    agent.wait_until_held()
    (begin,) = starts(agent.runs / "small")
    os.kill(begin["pid"], signal.SIGHUP)
    assert agent.document("stop", agent.runs / "small")["state"] == "stopped"
    agent.follow(status=128 + signal.SIGTERM)


def test_what_a_run_with_closed_streams_says_is_in_its_log(agent: AgentProgram) -> None:
    run_dir = agent.runs / "small"
    agent.hold()
    process = agent.popen(*plan_words(agent), preexec_fn=close_streams)
    process.communicate(timeout=LIMIT_S)
    agent.wait_until_held()
    (run_dir / "conditions-after.json.new").mkdir()
    agent.release()
    done = agent.run("follow", run_dir, "--progress", "none", status=74)
    assert done.stderr == "rerig-agent: Is a directory (conditions-after.json.new).\n"
    assert (run_dir / "agent.log").read_text().endswith(done.stderr)


def test_two_starts_at_once_begin_one_run(agent: AgentProgram) -> None:
    agent.hold("version")
    processes = [agent.popen(*plan_words(agent)) for _ in range(4)]
    agent.wait_until_held("version")
    agent.release("version")
    answers = [process.communicate(timeout=LIMIT_S) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, answers
    assert len({json.loads(out)["started_at"] for out, _errors in answers}) == 1
    agent.follow()
    assert len(starts(agent.runs / "small")) == 1


def test_two_resumes_at_once_begin_one_session(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    agent.hold()
    processes = [agent.popen("start", "--resume", "--run-dir", run_dir) for _ in range(4)]
    answers = [process.communicate(timeout=LIMIT_S) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, answers
    assert len({json.loads(out)["pid"] for out, _errors in answers}) == 1
    agent.release()
    agent.follow()
    assert len(starts(run_dir)) == 2


def test_of_two_runs_that_are_started_at_once_one_is_refused(agent: AgentProgram) -> None:
    agent.hold("version")
    agent.hold()
    processes = [agent.popen(*plan_words(agent, name)) for name in ("one", "two")]
    agent.wait_until_held("version")
    agent.release("version")
    answers = [process.communicate(timeout=LIMIT_S) for process in processes]
    assert sorted(process.returncode for process in processes) == [0, 69]
    ((_out, errors),) = [answer for answer, process in zip(answers, processes) if process.returncode == 69]
    assert errors.startswith("rerig-agent: The run ")
    assert errors.endswith(" goes on beside this one, and two at once would measure each other.\n")
    assert len(list(agent.runs.iterdir())) == 1


@pytest.mark.parametrize("command", ["run", "start"])
def test_no_run_begins_beside_one_that_goes_on(agent: AgentProgram, command: str) -> None:
    agent.started_and_held("one")
    words = ("--plan", agent.plan("two"), "--run-dir", agent.runs / "two")
    assert "The run one goes on beside" in agent.run(command, *words, status=69).stderr
    assert not (agent.runs / "two").exists()
    agent.release()
    agent.follow("one")
    agent.run(command, *words)


def test_runs_beside_that_are_over_or_can_not_be_read_hinder_nobody(agent: AgentProgram) -> None:
    agent.killed("one")
    (agent.runs / "small").mkdir()
    (agent.runs / "link").symlink_to(agent.runs / "small")
    damaged = Journal((agent.runs / "one").rename(agent.runs / "damaged"))
    (agent.runs / "damaged" / "plan.json").write_text("[]")
    agent.start()
    agent.follow()
    damaged.close()


def test_to_start_a_run_again_changes_nothing(agent: AgentProgram) -> None:
    running = agent.started_and_held()
    assert agent.start() == running
    assert agent.document("start", "--resume", "--run-dir", agent.runs / "small") == running
    agent.release()
    agent.follow()
    before = (agent.runs / "small" / "journal.jsonl").read_bytes()
    assert agent.start()["state"] == "ended"
    assert (agent.runs / "small" / "journal.jsonl").read_bytes() == before


def test_another_plan_does_not_begin_in_the_directory_of_a_run(agent: AgentProgram) -> None:
    agent.started_and_held()
    done = agent.run("start", "--plan", agent.plan("other"), "--run-dir", agent.runs / "small", status=2)
    assert done.stderr == "rerig-agent: The run directory holds another run, small; nothing in it is overwritten.\n"


def test_a_killed_run_is_gone_on_with_only_when_that_is_asked_for(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    assert "The run small was killed; nothing in it is overwritten" in agent.run(*plan_words(agent), status=2).stderr
    assert agent.document("start", "--resume", "--run-dir", run_dir)["sessions"] == 2
    events = agent.follow()
    assert [event["event"] for event in events].count("repeat-start") == 5  # one of them was killed
    document = agent.document("status", run_dir)
    assert (document["state"], document["cases_done"], document["cases_total"]) == ("ended", 3, 3)
    assert (run_dir / "agent-2.log").is_file()
    refused = agent.run("start", "--resume", "--run-dir", run_dir, status=2)
    assert refused.stderr == "rerig-agent: The run small is complete; there is nothing to resume.\n"


def test_what_a_later_start_undoes_does_not_make_a_killed_run_seem_to_go_on(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    undoing = Journal(run_dir)
    process = agent.popen("start", "--resume", "--run-dir", run_dir)
    undoing.close()
    out, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, errors) == (0, "")
    assert json.loads(out)["sessions"] == 2
    agent.follow()


def test_there_is_nothing_to_resume_where_no_run_is(agent: AgentProgram) -> None:
    done = agent.run("start", "--resume", "--run-dir", agent.folder / "no" / "run", status=2)
    assert done.stderr.startswith("rerig-agent: There is no run in ")
    assert not (agent.folder / "no").exists()


def test_a_run_that_was_made_and_never_begun_is_begun(agent: AgentProgram) -> None:
    run_dir = agent.runs / "small"
    run_dir.mkdir(parents=True)
    (run_dir / "plan.json.new").write_text('{"form')
    agent.start()
    agent.follow()
    run_dir.rename(agent.runs / "earlier")
    run_dir.mkdir()
    (run_dir / "plan.json").write_bytes(agent.plan().read_bytes())
    assert agent.document("status", run_dir)["state"] == "killed"
    agent.start()
    agent.follow()


def test_nothing_is_begun_in_a_directory_that_holds_anything_else(agent: AgentProgram) -> None:
    (agent.runs / "small").mkdir(parents=True)
    (agent.runs / "small" / "letter.txt").write_text("Dear")
    done = agent.run(*plan_words(agent), status=2)
    assert done.stderr == "rerig-agent: The run directory is not empty; nothing in it is overwritten.\n"
    assert [path.name for path in (agent.runs / "small").iterdir()] == ["letter.txt"]


def test_the_plan_may_come_through_standard_input(agent: AgentProgram) -> None:
    words = ("--plan", "-", "--run-dir", agent.runs / "small")
    assert agent.document("start", *words, input=" " + agent.plan().read_text())["run_id"] == "small"
    agent.follow()
    assert len(agent.run("commands", "--plan", "-", input=agent.plan().read_text()).stdout.splitlines()) == 4


@pytest.mark.parametrize("text", ["", "[]", '{"format": "rerig-plan", "format_number": 1}', "\0"])
def test_what_is_no_plan_is_one_sentence_and_nothing_is_made(agent: AgentProgram, text: str) -> None:
    done = agent.run("start", "--plan", "-", "--run-dir", agent.runs / "small", input=text, status=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("rerig-agent: Th")
    assert line.endswith(".")
    assert not agent.runs.exists()


def test_a_relative_run_directory_counts_from_where_the_agent_was_started(agent: AgentProgram) -> None:
    agent.run("start", "--plan", agent.plan(), "--run-dir", "runs/small", cwd=str(agent.folder))
    agent.follow()


def test_a_run_goes_on_when_its_archive_is_removed(agent: AgentProgram) -> None:
    agent.started_and_held()
    copy = agent.archive.read_bytes()
    agent.archive.unlink()
    agent.release()
    wait_for(lambda: read_journal(agent.runs / "small")[-1]["event"] == "run-end")
    agent.archive.write_bytes(copy)
    agent.follow()


def full(disk: Path) -> Path:
    """A file that takes all that is free."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    return filler


@pytest.mark.root
def test_a_disk_that_is_full_is_one_sentence_and_keeps_no_run(agent: AgentProgram) -> None:
    with RealMounts() as mounts:
        agent.runs = mounts.mount("tmpfs", "tmpfs", agent.folder / "small-disk", "size=1m") / "runs"
        agent.runs.mkdir()
        filler = full(agent.runs.parent)
        done = agent.run(*plan_words(agent), status=74)
        assert done.stderr.startswith("rerig-agent: No space left on device")
        assert list(agent.runs.iterdir()) == []
        filler.unlink()
        agent.start()
        agent.follow()


@pytest.mark.root
def test_a_disk_that_fills_while_the_run_is_about_to_begin_keeps_no_run(agent: AgentProgram) -> None:
    with RealMounts() as mounts:
        agent.runs = mounts.mount("tmpfs", "tmpfs", agent.folder / "small-disk", "size=1m") / "runs"
        agent.runs.mkdir()
        agent.hold("version")
        process = agent.popen(*plan_words(agent))
        agent.wait_until_held("version")
        full(agent.runs.parent)
        agent.release("version")
        _out, errors = process.communicate(timeout=LIMIT_S)
        assert (process.returncode, errors) == (74, "rerig-agent: No space left on device.\n")
        assert list(agent.runs.iterdir()) == []


@pytest.mark.root
def test_a_disk_that_fills_during_a_run_is_told_and_the_run_is_resumed(agent: AgentProgram) -> None:
    with RealMounts() as mounts:
        agent.runs = mounts.mount("tmpfs", "tmpfs", agent.folder / "small-disk", "size=1m") / "runs"
        agent.started_and_held()
        filler = full(agent.runs.parent)
        agent.release()
        done = agent.run("follow", agent.runs / "small", "--progress", "none", status=None)
        assert done.returncode in (74, 75)  # whether the journal's last block still had room for the end
        assert "No space left on device" in done.stderr
        assert list(agent.scratch.iterdir()) == []
        again = ["start", "--resume", "--run-dir", agent.runs / "small"]
        done = agent.run(*again, status=None)  # it is full still, the log's first block included
        if done.returncode == 0:
            done = agent.run("follow", agent.runs / "small", "--progress", "none", status=None)
        assert done.returncode in (74, 75)
        assert "before it had begun" not in done.stderr
        assert "The disk that holds the run is full" in done.stderr or "No space left on device" in done.stderr
        filler.unlink()
        agent.document(*again)
        agent.follow()


def test_a_mark_comes_before_all_else_that_the_agent_prints(agent: AgentProgram) -> None:
    agent.start()
    agent.follow()
    for words in (["status", agent.runs / "small"], ["pack", agent.runs / "small"], ["--help"], ["nonsense"], []):
        argv = agent.argv("--mark", "rerig-0123", *words)
        noisy = ["sh", "-c", 'echo welcome; printf "rerig"; exec "$@"', "sh", *argv]
        done = subprocess.run(noisy, capture_output=True, timeout=LIMIT_S)
        before, mark, after = done.stdout.partition(b"rerig-0123\n")
        assert (before, mark) == (b"welcome\nrerig", b"rerig-0123\n")
        assert bool(after) == (words not in (["nonsense"], []))
    assert agent.run("--mark=x", "status", agent.runs / "small").stdout.startswith('x\n{"run_id"')
