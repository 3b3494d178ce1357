"""Debian's packages, fetched by apt-get and unpacked into a folder; nothing is installed. Python 3.8 reads this too."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

CACHE = Path(__file__).resolve().parents[1] / "build" / "tools-cache"


@contextlib.contextmanager
def missing(name: str) -> Iterator[Path | None]:
    """A folder whose ``ready`` becomes ``CACHE / name`` at the end; None where that is there. One process at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (CACHE / name).exists():
            yield None
            return
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=CACHE) as aside:
            yield Path(aside)
            (Path(aside) / "ready").rename(CACHE / name)


def unpack(packages: list[str], aside: Path) -> Path:
    """``aside / "ready"`` with what is in the packages and in those they need that aren't installed.

    Where they can't be fetched the test is skipped, and fails in CI.
    """
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            give_up(f"there is no {tool} to fetch {' and '.join(packages)} with")
    _download(packages, aside)
    ready = aside / "ready"
    for package in sorted((aside / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(ready)], check=True)
    return ready


def _download(packages: list[str], aside: Path) -> None:
    """By the system's package lists or else our own. Needs no root."""
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
    fetch = ["install", "--download-only", "--no-install-recommends", *packages]
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
        if done.returncode == 0 and "install" in arguments:
            return
        said = done.stdout
    last = (said.strip().splitlines() or ["no word"])[-1]
    give_up(f"{' and '.join(packages)} must be fetched, and apt-get can't: {last}")


def give_up(reason: str) -> NoReturn:
    """Skip the test; in CI, fail."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
