"""Writes the lock files: every version and hash of what pyproject.toml asks for, for every Python and machine."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.upkeep.environment import tool

# A lock says what is installed, never where from: neither an address nor a folder of the machine that wrote it.
PLACE = re.compile(r"[a-z]+://|^-|(?:^|\s)--(?!hash=sha256:)|(?:^|[\s=])/", re.MULTILINE)


class Lock(NamedTuple):
    """One lock file: its name, the oldest Python that it serves, and what goes into it (arguments of uv)."""

    name: str
    python: str
    sources: tuple[str, ...]


LOCKS = (
    Lock("requirements.lock", "3.10", ("pyproject.toml",)),
    # The developers' environment holds the users' one, in the same versions.
    Lock("requirements-dev.lock", "3.10", ("pyproject.toml", "--group", "dev", "--constraints", "requirements.lock")),
    Lock("requirements-agent-tests.lock", "3.8", ("--group", "pyproject.toml:agent-tests")),
)


def write_locks(upgrade: bool = False, root: Path = ROOT) -> list[str]:
    """Write all locks below ``root``, keeping today's versions unless ``upgrade``; the names of those that changed."""
    return [lock.name for lock in LOCKS if _write(lock, upgrade, root)]


def compile_arguments(lock: Lock, upgrade: bool) -> list[str]:
    """uv's arguments for one lock: universal, hashed, wheels only, free of addresses."""
    options = ["--universal", "--python-version", lock.python, "--generate-hashes", "--only-binary", ":all:"]
    quiet = ["--no-emit-index-url", "--no-annotate", "--custom-compile-command", "./inv relock", "--quiet"]
    fresh = ["--upgrade"] if upgrade else []
    return ["pip", "compile", *options, *quiet, *fresh, "--output-file", lock.name, *lock.sources]


def find_place(text: str) -> str | None:
    """The first line of a lock that names an address, a folder or an option of the machine that wrote it."""
    match = PLACE.search(text)
    return text[: match.end()].splitlines()[-1].strip() if match else None


def locking_environment(environment: dict[str, str]) -> dict[str, str]:
    """``environment`` without what bends a resolution (find-links, constraints); a mirror of the index may stay."""
    kept = ("UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_CACHE_DIR", "UV_NATIVE_TLS", "UV_OFFLINE")
    return {name: value for name, value in environment.items() if name in kept or not name.startswith(("PIP_", "UV_"))}


def _write(lock: Lock, upgrade: bool, root: Path) -> bool:
    path = root / lock.name
    before = path.read_text("utf-8") if path.exists() else ""
    command = [tool("uv"), *compile_arguments(lock, upgrade)]
    if subprocess.run(command, cwd=root, env=locking_environment(dict(os.environ)), check=False).returncode:
        raise UserError(f"{lock.name} could not be written; uv says why above.")
    after = path.read_text("utf-8")
    if place := find_place(after):
        path.write_text(before, "utf-8")
        raise UserError(f"{lock.name} would name a place ({place}); it was left as it was.")
    return after != before
