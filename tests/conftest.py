"""What all tests share. It runs on Python 3.8 too, with nothing but pytest and hypothesis."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

CACHE = Path(__file__).resolve().parents[1] / "build" / "tools-cache"
WRAPPER = """#!/bin/sh
root=${{0%/*}}/..
LD_LIBRARY_PATH={libraries} exec "$root/usr/bin/fio" "$@"
"""

# A busy machine is slow; that is no failure.
settings.register_profile("rerig", deadline=None)
# For the further Pythons of ./inv test.
settings.register_profile("brief", deadline=None, max_examples=15)
settings.load_profile(os.environ.get("RERIG_EXAMPLES", "rerig"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture(scope="session")
def real_fio() -> Path:
    """The folder of a fio that runs: the system's, else one from Debian's package that is unpacked, not installed.

    Put it first on PATH. Where there is none the test is skipped, and fails in CI.
    """
    if system := shutil.which("fio"):
        return Path(system).parent
    folder = CACHE / "fio"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(prefix=".fio.", dir=CACHE) as aside:
                _unpack_fio(Path(aside))
                (Path(aside) / "ready").rename(folder)
    return folder / "bin"


def _unpack_fio(aside: Path) -> None:
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            _give_up(f"there is no fio here, and no {tool} to fetch one with")
    _download_fio(aside)
    ready = aside / "ready"
    for package in sorted((aside / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(ready)], check=True)
    libraries = sorted({f'"$root/{path.parent.relative_to(ready)}"' for path in ready.rglob("*.so*")})
    program = ready / "bin" / "fio"
    program.parent.mkdir(exist_ok=True)
    program.write_text(WRAPPER.format(libraries=":".join(libraries)), "utf-8")
    program.chmod(0o755)
    done = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        _give_up(f"the unpacked fio does not run: {done.stdout.strip()}")


def _download_fio(aside: Path) -> None:
    """fio and what it needs that isn't installed, by the system's package lists or else our own. Needs no root."""
    for folder in ("cache/archives/partial", "lists/partial"):
        (aside / folder).mkdir(parents=True)
    own_cache = [
        "-q",
        "-y",
        "-o",
        f"Dir::Cache={aside / 'cache'}",
        "-o",
        "Debug::NoLocking=1",
        "-o",
        "APT::Sandbox::User=",
    ]
    own_lists = ["-o", f"Dir::State::Lists={aside / 'lists'}"]
    fetch = ["install", "--download-only", "--no-install-recommends", "fio"]
    said = ""
    for arguments in ([*own_cache, *fetch], [*own_cache, *own_lists, "update"], [*own_cache, *own_lists, *fetch]):
        done = subprocess.run(
            ["apt-get", *arguments],
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode == 0 and "fio" in arguments:
            return
        said = done.stdout
    _give_up(f"there is no fio here, and apt-get can't fetch one: {(said.strip().splitlines() or ['no word'])[-1]}")


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
