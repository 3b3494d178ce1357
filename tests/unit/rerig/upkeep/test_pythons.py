"""Finding Pythons: what is on PATH, what pyenv has, and what only pretends."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerig.upkeep.pythons import Python, find_pythons


def add(path: Path, says: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n", "utf-8")
    path.chmod(0o755)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))


def test_the_first_of_each_version_is_taken(tmp_path: Path) -> None:
    add(tmp_path / "bin" / "python3", "echo 3.11 /usr/bin/python3.11")
    add(tmp_path / "bin" / "python3.11", "echo 3.11 /opt/python3.11")
    add(tmp_path / "pyenv" / "versions" / "3.8.18" / "bin" / "python3", "echo '3.8 /a b/python3.8'")
    assert find_pythons() == {"3.11": Python("3.11", "/usr/bin/python3.11"), "3.8": Python("3.8", "/a b/python3.8")}


def test_what_fails_or_is_too_old_or_new_is_passed_over(tmp_path: Path) -> None:
    add(tmp_path / "bin" / "python3", "exit 127")
    add(tmp_path / "bin" / "python3.9", "echo 3.7 /usr/bin/python3.7")
    add(tmp_path / "bin" / "python3.12", "echo 3.99 /usr/bin/python3.99")
    add(tmp_path / "bin" / "python3.13", "true")
    assert find_pythons() == {}
