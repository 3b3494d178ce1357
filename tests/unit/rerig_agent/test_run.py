"""One run in several sessions: what is kept, what is set aside, and how each session says that it ended."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import rerig_agent
from real_mounts import RealMounts
from rerig_agent import run as run_module
from rerig_agent.child import StopFlag
from rerig_agent.identity import own_archive_sha256, read_boot_id, read_pid_start
from rerig_agent.journal import Journal, is_alive, read_journal
from rerig_agent.repeat import program_path
from rerig_agent.run import Run, RunRefused
from rerig_agent.sessions import done_cases
from small_run import KILLED, SmallRun, dd_case, die_at


@pytest.fixture
def small(disk_path: Path) -> SmallRun:
    return SmallRun(disk_path)


class Told:
    """Collects what a run tells, and may act on it."""

    def __init__(self) -> None:
        self.events: list = []
        self.stop = StopFlag()
        self.stop_at: tuple = ()

    def emit(self, event: str, **data: Any) -> None:
        self.events.append((event, data))
        if (event, data.get("case")) == self.stop_at:
            self.stop._remember(signal.SIGTERM, None)


def run_here(small: SmallRun, run_dir: Path, told: Told, resume: bool = False) -> int:
    run_dir.mkdir(parents=True, exist_ok=True)
    return Run(small.plan(), run_dir, told.stop, told.emit, resume, small.root).execute()


def ends(run_dir: Path) -> list:
    return [
        (event["stopped_by"], event["exit_status"]) for event in read_journal(run_dir) if event["event"] == "run-end"
    ]


def test_a_whole_run_says_who_it_is_and_how_it_ended(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    assert run_here(small, run_dir, Told()) == 0
    start = read_journal(run_dir)[0]
    assert (start["event"], start["run_id"], start["session"]) == ("run-start", "small", 1)
    assert (start["pid"], start["pid_start"]) == (os.getpid(), read_pid_start(os.getpid()))
    assert start["boot_id"] == read_boot_id()
    assert start["agent_sha256"] is None
    assert ends(run_dir) == [(None, 0)]
    record = json.loads((run_dir / "cases/ahead.t1/r1/record.json").read_text())
    assert record["program"] == program_path("dd")
    assert os.access(record["program"], os.X_OK)
    evicted = [event for event in read_journal(run_dir) if event.get("action") == "evicted"]
    assert [event["path"] for event in evicted] == [str(small.model)] * 2
    other = json.loads((run_dir / "cases/reread.t2/r1/record.json").read_text())
    assert "read_ahead_kb" not in other
    assert not is_alive(run_dir)


def test_a_stopped_run_is_resumed_and_keeps_what_was_done(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    told = Told()
    told.stop_at = ("repeat-start", "reread.t2")
    assert run_here(small, run_dir, told) == 128 + signal.SIGTERM
    assert ends(run_dir) == [("signal", 128 + signal.SIGTERM)]
    assert set(done_cases(read_journal(run_dir))) == {"ahead.t1"}
    assert small.left_over(run_dir) == []
    kept = (run_dir / "cases/ahead.t1/r1/record.json").read_bytes()
    left = sorted(path.name for path in (run_dir / "cases/reread.t2").rglob("*"))
    again = Told()
    assert run_here(small, run_dir, again, resume=True) == 0
    assert (run_dir / "cases/ahead.t1/r1/record.json").read_bytes() == kept
    assert [data["case"] for event, data in again.events if event == "repeat-start"] == ["reread.t2", "scratch.t2"]
    assert sorted(path.name for path in (run_dir / "unfinished/1/reread.t2").rglob("*")) == left
    aside = [event for event in read_journal(run_dir) if event["event"] == "case-set-aside"]
    assert [(event["case"], event["to"]) for event in aside] == [("reread.t2", "unfinished/1/reread.t2")]
    assert json.loads((run_dir / "targets-2.json").read_text()).keys() == {"t1", "t2"}
    for name in ("conditions-before-2.json", "conditions-after-2.json", "conditions-after.json"):
        assert (run_dir / name).is_file()
    assert ends(run_dir)[1:] == [(None, 0)]


def test_a_complete_run_is_not_resumed(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    run_here(small, run_dir, Told())
    before = (run_dir / "journal.jsonl").read_bytes()
    with pytest.raises(RunRefused, match=r"^The run small is complete; there is nothing to resume\.$"):
        run_here(small, run_dir, Told(), resume=True)
    assert (run_dir / "journal.jsonl").read_bytes() == before
    assert not is_alive(run_dir)


def test_a_run_is_not_begun_over_another(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    assert small.start(run_dir, before=die_at(3, True)) == KILLED
    with pytest.raises(RunRefused, match="holds a run already"):
        run_here(small, run_dir, Told())


def test_what_is_called_done_has_reached_the_disk(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = small.folder / "runs" / "run"
    journalled: dict = {}

    def note(folder: Path) -> None:
        journalled[str(folder.relative_to(run_dir))] = [
            (event["event"], event["case"], event.get("number"))
            for event in read_journal(run_dir)
            if event["event"] in ("repeat-done", "case-done")
        ]

    monkeypatch.setattr(run_module, "sync_directory", note)
    run_here(small, run_dir, Told())
    assert journalled["cases/ahead.t1/r1"] == []
    assert journalled["cases/ahead.t1/r2"] == [("repeat-done", "ahead.t1", 1)]
    assert ("case-done", "ahead.t1", None) not in journalled["cases/ahead.t1"]
    assert ("repeat-done", "ahead.t1", 2) in journalled["cases/ahead.t1"]


def test_two_agents_can_not_resume_one_run(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    assert small.start(run_dir, before=die_at(3, True)) == KILLED
    holder = Journal(run_dir)
    with pytest.raises(BlockingIOError):
        run_here(small, run_dir, Told(), resume=True)
    holder.close()


def test_what_a_resumed_run_undoes_of_itself_is_told(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    assert small.start(run_dir, before=die_at(3, True)) == KILLED
    told = Told()
    assert run_here(small, run_dir, told, resume=True) == 0
    assert ("undone", {"run": "run", "sentence": "removed the scratch file that a killed run had left"}) in told.events


@pytest.mark.root
def test_root_resumes_a_run_that_others_may_write_without_obeying_its_journal(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    assert small.start(run_dir, before=die_at(3, True)) == KILLED
    (run_dir / "journal.jsonl").chmod(0o666)
    (left,) = small.scratch.iterdir()
    told = Told()
    assert run_here(small, run_dir, told, resume=True) == 0
    assert left.exists()
    (sentence,) = [data["sentence"] for event, data in told.events if event == "undo-left"]
    assert left.name in sentence


def test_a_full_disk_is_journalled_where_that_can_be_and_the_run_is_resumed(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run_dir = small.folder / "runs" / "run"
    with monkeypatch.context() as patched:
        patched.setattr(run_module, "run_repeat", full)
        with pytest.raises(OSError, match="No space left"):
            run_here(small, run_dir, Told())
    assert ends(run_dir) == [("error", 74)]
    assert small.left_over(run_dir) == []
    assert run_here(small, run_dir, Told(), resume=True) == 0


@pytest.mark.root
@pytest.mark.parametrize("free_blocks", [0, 1, 3])
def test_a_run_on_a_really_full_disk_leaves_nothing_and_is_resumed_when_there_is_space(
    small: SmallRun, free_blocks: int
) -> None:
    with RealMounts() as mounts:
        disk = mounts.ext4_on_loop(small.folder / "small.img", small.folder / "small", 8 * 2**20)
        (disk / "runs" / "run").mkdir(parents=True)
        filler = disk / "filler"
        with filler.open("wb") as file:
            with contextlib.suppress(OSError):
                while True:
                    os.write(file.fileno(), bytes(1024))
            os.ftruncate(file.fileno(), max(0, file.tell() - free_blocks * 1024))
        with pytest.raises(OSError, match="No space left"):
            run_here(small, disk / "runs" / "run", Told())
        assert list(small.scratch.iterdir()) == []
        filler.unlink()
        assert run_here(small, disk / "runs" / "run", Told(), resume=True) == 0
        assert small.left_over(disk / "runs" / "run") == []


def test_a_bug_is_journalled_as_one(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError

    run_dir = small.folder / "runs" / "run"
    monkeypatch.setattr(run_module, "run_repeat", fail)
    with pytest.raises(ZeroDivisionError):
        run_here(small, run_dir, Told())
    assert ends(run_dir) == [("error", 70)]
    assert small.left_over(run_dir) == []


def test_evidence_that_can_not_be_written_at_the_end_makes_the_end_an_error(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = run_module.write_json

    def full(path: Path, data: Any) -> None:
        if path.name == "conditions-after.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, data)

    run_dir = small.folder / "runs" / "run"
    monkeypatch.setattr(run_module, "write_json", full)
    with pytest.raises(OSError, match="No space left"):
        run_here(small, run_dir, Told())
    assert ends(run_dir) == [("error", 74)]


def test_a_run_of_which_nothing_is_measured_ends_with_1(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    plan = small.plan()
    small.model.unlink()
    plan["cases"] = plan["cases"][:1]
    run_dir.mkdir(parents=True)
    assert Run(plan, run_dir, StopFlag(), Told().emit, False, small.root).execute() == 1
    assert ends(run_dir) == [(None, 1)]


def test_a_knob_that_may_not_be_set_fails_its_case_alone(small: SmallRun) -> None:
    for knob in small.knobs:
        knob.unlink()
    run_dir = small.folder / "runs" / "run"
    plan = small.plan()
    plan["cases"][0] = dd_case("ahead.t1", "t1", 2 * 2**20, read_ahead_kb=512)
    run_dir.mkdir(parents=True)
    told = Told()
    assert Run(plan, run_dir, told.stop, told.emit, False, small.root).execute() == 0
    (failed,) = [event for event in read_journal(run_dir) if event["event"] == "case-failed"]
    assert (failed["case"], failed["code"]) == ("ahead.t1", "knob_failed")
    assert failed["sentence"].endswith("the kernel shows none for its file system.")
    assert not (run_dir / "cases/ahead.t1").exists()
    assert set(done_cases(read_journal(run_dir))) == {"reread.t2", "scratch.t2"}


def test_a_scratch_file_is_not_written_again_for_cases_that_are_done(small: SmallRun) -> None:
    run_dir = small.folder / "runs" / "run"
    run_here(small, run_dir, Told())
    journal = run_dir / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))  # killed before its last word
    told = Told()
    assert run_here(small, run_dir, told, resume=True) == 0
    assert [event for event, _data in told.events if event in ("scratch", "repeat-start")] == []
    assert json.loads((run_dir / "targets-2.json").read_text()).keys() == {"t1"}
    assert read_journal(run_dir)[-1]["measured_repeats"] == 4


def test_a_process_is_told_from_a_later_one_with_its_number() -> None:
    child = subprocess.Popen(["sleep", "600"])
    started = read_pid_start(child.pid)
    child.kill()
    child.wait()
    assert started is not None
    assert started >= (read_pid_start(os.getpid()) or 0)
    assert read_pid_start(child.pid) is None


def test_a_process_that_has_ended_is_gone_although_its_parent_has_not_noticed() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert read_pid_start(child.pid) is None
    child.wait()


def test_a_process_may_have_any_name(tmp_path: Path) -> None:
    stat = tmp_path / "proc/7/stat"
    stat.parent.mkdir(parents=True)
    stat.write_text("7 (a) 1 (b) S " + " ".join(str(number) for number in range(4, 53)) + "\n")
    assert read_pid_start(7, tmp_path) == 22


def test_an_agent_knows_the_archive_that_it_runs_from(tmp_path: Path) -> None:
    archive = tmp_path / "agent.pyz"
    source = Path(rerig_agent.__file__).parent
    with zipfile.ZipFile(str(archive), "w") as packed:
        for path in source.rglob("*.py"):
            packed.write(str(path), str(Path("rerig_agent") / path.relative_to(source)))
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from rerig_agent.identity import *; print(own_archive_sha256())"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(archive)], stdout=subprocess.PIPE, check=True, text=True
    )
    assert done.stdout.strip() == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert own_archive_sha256() is None


def test_a_tool_is_named_by_the_program_behind_its_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("dd")
    assert real is not None
    (tmp_path / "dd").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_path("dd") == os.path.realpath(real)
    assert program_path("no-such-tool") is None
