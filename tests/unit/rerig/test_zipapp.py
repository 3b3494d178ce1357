"""The agent's archive: the same bytes everywhere, and it runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.upkeep.pythons import find_pythons
from rerig.zipapp import MAIN, SOURCES, agent_bytes, build_agent
from rerig_agent import VERSION

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "import hashlib, sys; sys.path.insert(0, sys.argv[1]); from rerig.zipapp import agent_bytes; "
LARGEST_BYTES = 400_000


def test_it_says_what_was_built(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "agent.pyz"
    agent = build_agent(path)
    assert agent == {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "version": VERSION}


def test_it_runs_by_itself(tmp_path: Path) -> None:
    path = Path(build_agent(tmp_path / "agent.pyz")["path"])
    assert "usage: rerig-agent" in run([sys.executable, str(path), "--help"])
    assert os.access(path, os.X_OK)
    assert path.read_bytes().startswith(b"#!/usr/bin/env python3\n")


def test_a_failing_agent_hands_its_status_on(tmp_path: Path) -> None:
    path = build_agent(tmp_path / "agent.pyz")["path"]
    done = subprocess.run([sys.executable, path, "no-such-command"], capture_output=True, text=True)
    assert done.returncode == 2


def test_the_bytes_depend_on_the_sources_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "rerig_agent"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for number, path in enumerate(sorted(copy.rglob("*.py"))):
        path.chmod(0o600 if number % 2 else 0o777)
        os.utime(path, (number * 10**8, number * 10**8))
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"compiled")
    (copy / "notes.txt").touch()
    (copy / ".unsaved.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Seoul")
    before = os.umask(0o077)
    try:
        again = agent_bytes(copy)
    finally:
        os.umask(before)
    assert again == agent_bytes()


def test_other_sources_make_other_bytes(tmp_path: Path) -> None:
    shutil.copytree(SOURCES, tmp_path / "rerig_agent", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "rerig_agent" / "more.py").touch()
    assert agent_bytes(tmp_path / "rerig_agent") == agent_bytes()  # nothing imports it
    with (tmp_path / "rerig_agent" / "run.py").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert agent_bytes(tmp_path / "rerig_agent") != agent_bytes()


def test_every_module_that_it_imports_is_in_it(tmp_path: Path) -> None:
    """Each is imported from the archive alone: one that was left out would be missed on another machine only."""
    path = build_agent(tmp_path / "agent.pyz")["path"]
    with zipfile.ZipFile(path) as archive:
        names = [name[:-3].replace("/", ".") for name in archive.namelist() if name.startswith("rerig_agent/")]
    modules = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
    program = (
        f"import importlib, sys; sys.path.insert(0, {path!r}); [importlib.import_module(name) for name in {modules!r}]"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rerig_agent.parse.fio" not in modules
    assert "rerig_agent.cases.fio_read" in modules


def test_every_python_of_this_machine_makes_the_same_bytes() -> None:
    program = f"{PROGRAM}print(hashlib.sha256(agent_bytes()).hexdigest())"
    pythons = [python.program for version, python in find_pythons().items() if version not in ("3.8", "3.9")]
    sums = {
        subprocess.run(
            [python, "-I", "-c", program, str(ROOT / "src")], capture_output=True, text=True, check=True
        ).stdout
        for python in [sys.executable, *pythons]
    }
    assert sums == {f"{hashlib.sha256(agent_bytes()).hexdigest()}\n"}


def test_it_is_stored_sorted_and_dateless(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_agent(tmp_path / "agent.pyz")["path"]) as archive:
        entries = archive.infolist()
    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert "__main__.py" in names
    assert all(name == "__main__.py" or name.startswith("rerig_agent/") for name in names)
    assert {(entry.compress_type, entry.date_time, entry.external_attr) for entry in entries} == {
        (zipfile.ZIP_STORED, (1980, 1, 1, 0, 0, 0), 0o100644 << 16)
    }


def test_it_is_small() -> None:
    assert len(agent_bytes()) <= LARGEST_BYTES


def test_an_older_agent_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "agent.pyz"
    path.write_text("older", "utf-8")
    opened = path.open(encoding="utf-8")
    build_agent(path)
    assert opened.read() == "older"
    opened.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["agent.pyz"]


def test_a_place_that_is_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"The agent can't be written to .*: Is a directory\."):
        build_agent(tmp_path)
    assert list(tmp_path.parent.glob(f".{tmp_path.name}*")) == []


def run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_an_old_python_is_told_what_it_lacks() -> None:
    program = "import sys; sys.version_info = (3, 7, 16)\n" + MAIN.decode()
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "rerig-agent: Python 3.8 or newer is needed, and this is 3.7.\n"


def test_the_first_lines_are_plain_enough_for_any_python() -> None:
    assert MAIN.isascii()
    assert b'f"' not in MAIN
