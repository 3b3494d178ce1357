"""What is packed of a run, and what never is."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from agent_program import LIMIT_S, AgentProgram
from hand_made_runs import begun, ended, run_of
from rerig_agent import pack as pack_module


def members(data: bytes) -> list:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        return archive.getmembers()


def packed(run_dir: Path, to: Path) -> bytes:
    assert pack_module.pack(run_dir, to) == 0
    return to.read_bytes()


def contents(data: bytes) -> dict:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        return {
            member.name: file.read() for member in archive for file in [archive.extractfile(member)] if file is not None
        }


def test_a_packed_run_is_what_a_run_makes_and_nothing_of_its_owner(agent: AgentProgram) -> None:
    agent.start()
    agent.follow()
    run_dir = agent.runs / "small"
    agent.run("pack", run_dir, "--to", agent.folder / "run.tar")
    data = (agent.folder / "run.tar").read_bytes()
    repeats = ["first.t1/r1", "first.t1/r2", "second.t2/r1", "third.t2/r1"]
    files = [f"cases/{repeat}/{name}" for repeat in repeats for name in ("record.json", "stderr", "stdout")]
    files += ["agent.log", "conditions-after.json", "conditions-before.json", "journal.jsonl", "plan.json"]
    files += ["progress.jsonl", "targets.json"]
    assert sorted(contents(data)) == sorted(files)
    for name, content in contents(data).items():
        assert content == (run_dir / name).read_bytes()
    found = members(data)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in found} == {(0, 0, "", "")}
    assert {(member.isdir(), member.mode) for member in found} == {(True, 0o755), (False, 0o644)}
    assert [member.name.split("/") for member in found] == sorted(member.name.split("/") for member in found)
    assert str(run_dir).encode() not in data.replace((run_dir / "plan.json").read_bytes(), b"")


def test_standard_output_takes_the_same_bytes_behind_the_mark(agent: AgentProgram) -> None:
    agent.start()
    agent.follow()
    run_dir = agent.runs / "small"
    argv = agent.argv("--mark", "rerig-1", "pack", run_dir)
    done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"rerig-1\n" + packed(run_dir, agent.folder / "run.tar")


def test_a_terminal_gets_no_archive(agent: AgentProgram) -> None:
    agent.start()
    agent.follow()
    ours, theirs = os.openpty()
    process = agent.popen("pack", agent.runs / "small", stdout=theirs)
    os.close(theirs)
    _out, errors = process.communicate(timeout=LIMIT_S)
    os.close(ours)
    assert process.returncode == 2
    assert "nothing for a terminal" in errors


def test_locks_links_devices_odd_names_and_halves_are_left_out(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    run_of(run_dir, begun(), ended(None, 0))
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("s3cret")
    (run_dir / "cases").symlink_to(secret)
    (run_dir / "key").symlink_to(secret / "key")
    os.mkfifo(str(run_dir / "pipe"))
    for name in (".hidden", "plan.json.new", "line\nbreak", "backs\\lash", "\udcff"):
        (run_dir / name).write_text("x")
    assert [member.name for member in members(packed(run_dir, tmp_path / "run.tar"))] == ["journal.jsonl", "plan.json"]


def test_of_a_run_that_goes_on_the_journal_tells_of_nothing_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    run_of(run_dir, begun())
    (run_dir / "cases").mkdir()
    journal = run_dir / "journal.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"event": "ha')
    whole = journal.read_bytes().rpartition(b"\n")[0] + b"\n"
    real = pack_module._members

    def members_while_it_goes_on(folder: Path) -> list:
        """All were found; then the run went on, ended a file and began another."""
        found = list(real(folder))
        with journal.open("ab") as file:
            file.write(b'lf"}\n{"event": "repeat-done", "case": "a", "number": 1}\n')
        return [*found, folder / "gone.json"]

    monkeypatch.setattr(pack_module, "_members", members_while_it_goes_on)
    assert contents(packed(run_dir, tmp_path / "run.tar"))["journal.jsonl"] == whole


def test_a_run_is_packed_while_it_goes_on(agent: AgentProgram) -> None:
    agent.started_and_held()
    data = packed(agent.runs / "small", agent.folder / "run.tar")
    events = [json.loads(line)["event"] for line in contents(data)["journal.jsonl"].splitlines()]
    assert events[0] == "run-start"
    assert "run-end" not in events


def test_long_names_are_whole(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    deep = run_dir / "unfinished" / "1" / ("c" * 80) / "r1" / ("f" * 60)
    deep.mkdir(parents=True)
    (deep / "record.json").write_text("{}")
    run_of(run_dir)
    name = (deep / "record.json").relative_to(run_dir).as_posix()
    assert contents(packed(run_dir, tmp_path / "run.tar"))[name] == b"{}"


def test_an_archive_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    run_of(run_dir)
    earlier = packed(run_dir, tmp_path / "run.tar")

    def fail(*_words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pack_module, "_add_file", fail)
    with pytest.raises(OSError, match="No space left"):
        pack_module.pack(run_dir, tmp_path / "run.tar")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run.tar"]
    assert (tmp_path / "run.tar").read_bytes() == earlier
    assert (tmp_path / "run.tar").stat().st_mode & 0o777 == 0o600
