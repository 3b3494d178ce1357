"""To stop a run keeps all that it has; to remove one takes it alone, and all that it left."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agent_program import LIMIT_S, AgentProgram
from hand_made_runs import begun, myself, run_of
from real_mounts import RealMounts
from rerig_agent import clean as clean_module
from rerig_agent import stop as stop_module
from rerig_agent.journal import Journal, read_journal
from rerig_agent.undo import SCRATCH_PREFIX, pending


def test_a_stopped_run_tidies_up_and_is_gone_on_with(agent: AgentProgram) -> None:
    agent.started_and_held()
    run_dir = agent.runs / "small"
    document = agent.document("stop", run_dir)
    assert (document["state"], document["exit_status"]) == ("stopped", 128 + signal.SIGTERM)
    assert list(agent.scratch.iterdir()) == []
    assert agent.document("stop", run_dir) == document
    agent.release()
    agent.run("start", "--resume", "--run-dir", run_dir)
    agent.follow()
    assert agent.document("stop", run_dir)["state"] == "ended"


def test_a_run_that_is_about_to_begin_is_stopped_as_well(agent: AgentProgram) -> None:
    agent.hold("version")
    starting = agent.popen("start", "--plan", agent.plan(), "--run-dir", agent.runs / "small")
    agent.wait_until_held("version")
    stopping = agent.popen("stop", agent.runs / "small")
    agent.hold()
    agent.release("version")
    out, errors = stopping.communicate(timeout=LIMIT_S)
    assert (stopping.returncode, errors) == (0, "")
    assert json.loads(out)["state"] == "stopped"
    starting.communicate(timeout=LIMIT_S)


def test_only_the_process_of_the_run_is_told_to_stop(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    holder = Journal(run_of(tmp_path, begun(os.getpid(), 1)))  # our number, and another process's start
    assert stop_module.stop(tmp_path, limit_s=0) == 74
    assert capsys.readouterr().err == "rerig-agent: The run x goes on in a process that can't be seen from here.\n"
    holder.close()


def test_a_run_that_does_not_end_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list = []
    monkeypatch.setattr(stop_module.os, "kill", lambda pid, number: told.append((pid, number)))
    holder = Journal(run_of(tmp_path, myself()))
    assert stop_module.stop(tmp_path, limit_s=0.3) == 74
    holder.close()
    assert "was asked to stop and has not ended after 0.3 s" in capsys.readouterr().err
    assert told == [(os.getpid(), signal.SIGTERM)]


def test_a_run_that_goes_on_is_not_removed_and_hinders_no_other(agent: AgentProgram) -> None:
    agent.start("one")
    agent.follow("one")
    agent.started_and_held("two")
    done = agent.run("clean", agent.runs / "two", agent.runs / "one", status=2)
    assert done.stderr == "rerig-agent: The run two goes on; stop it first.\n"
    assert done.stdout == f"removed {agent.runs}/one\n"
    assert [path.name for path in agent.runs.iterdir()] == ["two"]
    agent.release()
    agent.follow("two")


def test_what_a_killed_run_left_goes_with_it(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    (left,) = agent.scratch.iterdir()
    assert left.name.startswith(SCRATCH_PREFIX)
    agent.run("clean", run_dir)
    assert list(agent.scratch.iterdir()) == []
    assert list(agent.runs.iterdir()) == []


def test_undo_says_what_it_has_undone(agent: AgentProgram) -> None:
    run_dir = agent.killed()
    assert agent.run("undo", "--runs", agent.runs).stdout == (
        "small: removed the scratch file that a killed run had left\n"
    )
    assert list(agent.scratch.iterdir()) == []
    assert pending(read_journal(run_dir)) == []
    assert agent.run("undo", "--runs", agent.runs).stdout == ""


def test_nothing_is_removed_through_a_link(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    run_of(run_dir)
    (tmp_path / "link").symlink_to(run_dir)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "letter.txt").write_text("Dear")
    assert clean_module.clean([tmp_path / "link"]) == 2
    assert run_dir.is_dir()
    (run_dir / "cases").symlink_to(precious)
    (run_dir / "result.json").symlink_to(precious / "letter.txt")
    assert clean_module.clean([run_dir]) == 0
    assert not run_dir.exists()
    assert (precious / "letter.txt").read_text() == "Dear"


def test_what_is_no_run_is_not_removed(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "plan.json").write_text('{"format": "rerig-plan", "run_id": "x", "cases": []}')
    (home / "letter.txt").write_text("Dear")
    assert clean_module.clean([home, tmp_path, tmp_path / "none", home / "letter.txt", Path("/")]) == 2
    assert (home / "letter.txt").exists()
    assert len(capsys.readouterr().err.splitlines()) == 5


def test_a_run_that_was_removed_half_can_be_removed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    run_of(run_dir)
    (run_dir / "cases" / "a" / "r1").mkdir(parents=True)
    (run_dir / "conditions-before.json").write_text("{}")
    real, count = Path.unlink, 0

    def dies_after(number: int) -> None:
        def unlink(path: Path, **words: bool) -> None:
            nonlocal count
            count += 1
            if count > number:
                raise KeyboardInterrupt
            real(path, **words)

        monkeypatch.setattr(Path, "unlink", unlink)

    for number in range(3):
        count = 0
        dies_after(number)
        with pytest.raises(KeyboardInterrupt):
            clean_module.clean([run_dir])
    monkeypatch.undo()
    assert (run_dir / "plan.json").exists()
    assert clean_module.clean([run_dir]) == 0
    assert not run_dir.exists()


@pytest.mark.root
def test_a_run_whose_scratch_file_can_not_be_removed_now_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rerig_agent.undo.REMOVE_LIMIT_S", 0.2)
    with RealMounts() as mounts:
        left = mounts.dead_fuse(tmp_path / "dead") / (SCRATCH_PREFIX + "y.bin")
        run_dir = tmp_path / "run"
        run_dir.mkdir()
        run_of(run_dir, begun(), {"event": "undo-add", "action": "remove_file", "path": str(left)})
        assert clean_module.clean([run_dir]) == 74
    said = "rerig-agent: The run is kept, since what it left can't be undone now: rerig-scratch-y.bin.\n"
    assert capsys.readouterr().err == said
    assert (run_dir / "journal.jsonl").is_file()


@pytest.mark.root
def test_root_obeys_no_journal_that_others_may_write_and_keeps_it(
    public_path: Path, capsys: pytest.CaptureFixture
) -> None:
    left = public_path / (SCRATCH_PREFIX + "x.bin")
    left.write_bytes(b"x")
    run_dir = public_path / "run"
    run_dir.mkdir()
    run_of(run_dir, begun(), {"event": "undo-add", "action": "remove_file", "path": str(left)})
    (run_dir / "journal.jsonl").chmod(0o666)
    assert clean_module.clean([run_dir]) == 74
    assert left.exists()
    assert left.name in capsys.readouterr().err


@pytest.mark.root
def test_a_run_is_removed_from_a_full_disk(tmp_path: Path) -> None:
    left = tmp_path / (SCRATCH_PREFIX + "x.bin")
    left.write_bytes(b"x")
    with RealMounts() as mounts:
        disk = mounts.mount("tmpfs", "tmpfs", tmp_path / "small-disk", "size=64k")
        (disk / "run").mkdir()
        run_of(disk / "run", begun(), {"event": "undo-add", "action": "remove_file", "path": str(left)})
        with pytest.raises(OSError, match="No space left"), (disk / "filler").open("wb") as file:
            file.write(bytes(2**20))
        assert clean_module.clean([disk / "run"]) == 0
        assert not (disk / "run").exists()
    assert not left.exists()
