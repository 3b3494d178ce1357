"""Finds the Pythons of this machine, and makes a small environment with pytest for each."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.upkeep.environment import BUILD, child_environment, tool

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
LOCK = ROOT / "requirements-agent-tests.lock"
PROBE = "import os, sys; print('%d.%d' % sys.version_info[:2], os.path.realpath(sys.executable))"


class Python(NamedTuple):
    """One interpreter: "3.8" and the real path of its program."""

    version: str
    program: str


def find_pythons() -> dict[str, Python]:
    """One working interpreter for each of VERSIONS that this machine has: on PATH, else among pyenv's."""
    found: dict[str, Python] = {}
    for program in _candidates():
        python = _probe(program)
        if python and python.version in VERSIONS:
            found.setdefault(python.version, python)
    return found


def test_environment(python: Python) -> str:
    """The program of an environment of ``python`` with pytest and hypothesis from the lock, made when it isn't there.

    Kept under build/ by the lock's hash. Raises UserError with uv's reason where it can't be made.
    """
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    home = BUILD / "agent-tests" / f"{python.version}-{lock}"
    program = home / "bin" / "python"
    if program.exists():
        return str(program)
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{home.name}.", dir=home.parent) as aside:
        _uv("venv", "--python", python.program, "--quiet", "--allow-existing", aside)
        install = ("pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", str(LOCK))
        _uv(*install, "--python", str(Path(aside) / "bin" / "python"))
        shutil.rmtree(home, ignore_errors=True)
        Path(aside).rename(home)
        Path(aside).mkdir()  # for the context manager to remove
    return str(program)


def _candidates() -> Iterator[str]:
    for name in ("python3", *(f"python{version}" for version in VERSIONS)):
        if path := shutil.which(name):
            yield path
    for root in _pyenv_roots():
        yield from (str(path) for path in sorted(root.glob("versions/3.*/bin/python3")))


def _pyenv_roots() -> list[Path]:
    """Where pyenv may be: as it is told, at home, or beside the shims on PATH (a test run may have another home)."""
    told = os.environ.get("PYENV_ROOT")
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    shims = [folder.parent for folder in folders if folder.name == "shims"]
    return [Path(told) if told else Path.home() / ".pyenv", *shims]


def _probe(program: str) -> Python | None:
    """None for a program that doesn't run: a pyenv shim may exist and fail."""
    try:
        done = subprocess.run([program, "-I", "-c", PROBE], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version, _, path = done.stdout.strip().partition(" ")
    return Python(version, path) if done.returncode == 0 and path else None


def _uv(*arguments: str) -> None:
    done = subprocess.run(
        [tool("uv"), *arguments], env=child_environment(), capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1].strip()
        raise UserError(f"uv {arguments[0]} failed: {last}")
