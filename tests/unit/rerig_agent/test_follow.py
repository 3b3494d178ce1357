"""Whoever follows a run hears all of it from where he wants, and how it ended; the run never hears of him."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_program import LIMIT_S, AgentProgram
from hand_made_runs import begun, ended, run_of
from real_mounts import RealMounts
from rerig_agent.journal import Journal
from small_run import MIB, dd_case
from waiting import wait_for


def started(agent: AgentProgram) -> Path:
    agent.start()
    agent.follow()
    return agent.runs / "small"


def names(events: list) -> list:
    return [event["event"] for event in events]


def test_a_follower_hears_every_event_as_it_comes(agent: AgentProgram) -> None:
    agent.started_and_held()
    follower = agent.popen("follow", agent.runs / "small", "--progress", "json")
    assert follower.stdout is not None
    heard = []
    while not heard or heard[-1]["event"] != "repeat-start":
        heard.append(json.loads(follower.stdout.readline()))
    assert heard[-1] == {"event": "repeat-start", "case": "first.t1", "number": 1}
    agent.release()
    out, errors = follower.communicate(timeout=LIMIT_S)
    assert (follower.returncode, errors) == (0, "")
    heard += [json.loads(line) for line in out.splitlines()]
    assert names(heard).count("repeat-done") == 4
    assert heard[-1] == {"event": "run-end", "stopped_by": None}


def test_the_first_events_can_be_left_out(agent: AgentProgram) -> None:
    run_dir = started(agent)
    whole = agent.run("follow", run_dir, "--progress", "json").stdout.splitlines()
    assert len(whole) > 5
    for skip in (0, 3, len(whole), len(whole) + 9):
        done = agent.run("follow", run_dir, "--progress", "json", "--skip", skip)
        assert done.stdout.splitlines() == whole[skip:]
    agent.run("follow", run_dir, "--skip", "-1", status=2)


def test_a_person_is_told_in_words_and_a_script_may_hear_nothing(agent: AgentProgram) -> None:
    run_dir = started(agent)
    told = agent.run("follow", run_dir)
    assert told.stdout == ""
    assert told.stderr.startswith("repeat-done case=first.t1 number=1 ")
    quiet = agent.run("follow", run_dir, "--progress", "none")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_a_damaged_line_is_counted_and_hides_no_other(agent: AgentProgram) -> None:
    run_dir = started(agent)
    progress = run_dir / "progress.jsonl"
    lines = progress.read_bytes().splitlines(keepends=True)
    progress.write_bytes(b"".join([b"\xff{\n", b"[]\n", b'{"even": 7}\n', *lines, b'{"event": "half']))
    assert agent.run("follow", run_dir).stderr.startswith("repeat-done case=first.t1 number=1 ")
    done = agent.run("follow", run_dir, "--progress", "json", "--skip", 3)
    assert done.stdout.encode() == b"".join(lines)


def test_a_run_that_was_killed_is_75_and_a_sentence(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    done = agent.run("follow", run_dir, "--progress", "json", status=75)
    assert names(map(json.loads, done.stdout.splitlines()))[-1] == "repeat-start"
    assert done.stderr == "rerig-agent: The run was killed (by kill -9, or because the memory ran out).\n"


def test_a_follower_notices_that_the_run_is_killed(agent: AgentProgram) -> None:
    pid = agent.started_and_held()["pid"]
    follower = agent.popen("follow", agent.runs / "small", "--progress", "json")
    assert follower.stdout is not None
    follower.stdout.readline()
    os.kill(pid, signal.SIGKILL)
    _out, errors = follower.communicate(timeout=LIMIT_S)
    assert follower.returncode == 75
    assert "was killed" in errors


def test_a_reboot_is_told_from_a_kill(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    journal = run_dir / "journal.jsonl"
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert boot_id in journal.read_text()
    journal.write_text(journal.read_text().replace(boot_id, "5f0c2f4e-0000-4000-8000-000000000001"))
    done = agent.run("follow", run_dir, status=75)
    assert "The machine was started anew while the run went on (a reboot, or a power cut)." in done.stderr
    assert agent.document("status", run_dir)["state"] == "killed"
    agent.run("start", "--resume", "--run-dir", run_dir)
    agent.follow()


def test_a_run_that_never_began_was_killed(agent: AgentProgram) -> None:
    run_dir = agent.runs / "small"
    run_dir.mkdir(parents=True)
    (run_dir / "plan.json").write_bytes(agent.plan().read_bytes())
    assert "was killed" in agent.run("follow", run_dir, status=75).stderr


def test_a_run_of_which_nothing_is_measured_is_1_and_a_sentence(agent: AgentProgram) -> None:
    agent.model.unlink()
    plan = agent.plan("small", cases=[dd_case("first.t1", "t1", 2 * MIB)])
    agent.run("start", "--plan", plan, "--run-dir", agent.runs / "small")
    done = agent.run("follow", agent.runs / "small", "--progress", "none", status=1)
    assert done.stderr == "rerig-agent: Nothing could be measured.\n"
    assert agent.document("status", agent.runs / "small")["state"] == "ended"


def test_an_error_is_told_from_the_log_of_its_session(agent: AgentProgram) -> None:
    run_dir = agent.runs / "x"
    run_dir.mkdir(parents=True)
    run_of(run_dir, begun(), ended("signal", 143), begun(), ended("error", 70))
    assert agent.run("follow", run_dir, status=70).stderr == "rerig-agent: The run broke off with an error.\n"
    (run_dir / "agent.log").write_text("rerig-agent: An earlier sentence.\n")
    (run_dir / "agent-2.log").write_bytes(b"rerig-agent 0.1.0\nTraceback\nrerig-agent: Bug: KeyError.\nodd \xff\n")
    assert agent.run("follow", run_dir, status=70).stderr == "rerig-agent: Bug: KeyError.\n"


def test_where_there_is_no_run_a_sentence_says_so(agent: AgentProgram) -> None:
    for verb in ("follow", "status", "stop", "pack", "clean"):
        done = agent.run(verb, agent.runs / "nothing", status=2)
        assert done.stderr == f"rerig-agent: There is no run in {agent.runs}/nothing.\n"


def test_a_follower_ends_when_nobody_reads_him_and_the_run_goes_on(agent: AgentProgram) -> None:
    agent.started_and_held()
    for progress in ("json", "none"):
        follower = agent.popen("follow", agent.runs / "small", "--progress", progress)
        assert follower.stdout is not None
        follower.stdout.close()
        assert follower.wait(LIMIT_S) == 1
        assert follower.stderr is not None
        assert follower.stderr.read() == ""
        follower.stderr.close()
    assert agent.document("status", agent.runs / "small")["state"] == "running"


def test_a_long_silence_is_broken_by_signs_of_life(agent: AgentProgram) -> None:
    agent.started_and_held()
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from rerig_agent import follow; from pathlib import Path; "
        "follow.ALIVE_S = 0.1; sys.exit(follow.follow(Path(sys.argv[2]), 0, 'json'))"
    )
    argv = [sys.executable, "-I", "-S", "-B", "-c", program, str(agent.archive), str(agent.runs / "small")]
    follower = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8")
    assert follower.stdout is not None
    wait_for(lambda: json.loads(follower.stdout.readline()) == {"event": "alive"})
    agent.release()
    follower.communicate(timeout=LIMIT_S)
    assert follower.returncode == 0


def test_whoever_only_starts_undoing_does_not_look_like_the_run(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    undoing = Journal(run_dir)
    follower = agent.popen("follow", run_dir)
    undoing.close()
    follower.communicate(timeout=LIMIT_S)
    assert follower.returncode == 75


def everything(folder: Path) -> dict:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.root
def test_to_ask_changes_nothing_and_needs_no_right_to_write(agent: AgentProgram) -> None:
    with RealMounts() as mounts:
        disk = mounts.ext4_on_loop(agent.folder / "disk.img", agent.folder / "disk")
        agent.runs = disk / "runs"
        run_dir = started(agent)
        before = everything(disk)
        mounts.make_read_only(disk)
        for verb in ("follow", "status", "pack", "stop"):
            agent.run(verb, run_dir)
        agent.run("list", agent.runs)
        assert everything(disk) == before


def test_a_run_that_is_removed_meanwhile_ends_its_followers(agent: AgentProgram) -> None:
    pid = agent.started_and_held()["pid"]
    follower = agent.popen("follow", agent.runs / "small", "--progress", "json")
    assert follower.stdout is not None
    follower.stdout.readline()
    away = (agent.runs / "small").rename(agent.folder / "away")
    os.kill(pid, signal.SIGKILL)
    _out, errors = follower.communicate(timeout=LIMIT_S)
    assert follower.returncode == 2
    assert errors.startswith("rerig-agent: There is no run in ")
    assert (away / "journal.jsonl").is_file()
