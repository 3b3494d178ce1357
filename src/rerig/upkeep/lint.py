"""Every static check of the project, as a list of commands."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from rerig.checkout import ROOT
from rerig.upkeep.environment import child_environment, tool

SHELL_SCRIPTS = ("inv", ".ci/run", "tests/twin/guest/nfs-server")
CHECKS: dict[str, tuple[str, ...]] = {
    "ansible-lint": ("ansible-lint", "--offline", "--strict", "-q", "playbooks", "roles", "inventory", "--nocolor"),
    "mypy": ("mypy", "--no-incremental"),  # its cache keeps believing that a new module is missing
    "yamllint": ("yamllint", "--strict", "."),
    "shellcheck": ("shellcheck", *SHELL_SCRIPTS),
    "ruff check": ("ruff", "check", "--quiet", "."),
    "ruff format": ("ruff", "format", "--check", "--quiet", "."),
}


class Outcome(NamedTuple):
    """One check: its name, whether it found nothing, what it printed, how long it took in seconds."""

    name: str
    ok: bool
    output: str
    duration_s: float


def run_checks() -> list[Outcome]:
    """Run every check, two at a time, the slow ones first."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(_run, CHECKS))


def report(outcome: Outcome) -> str:
    """One line for a clean check; its whole output as well for the others."""
    line = f"{'ok' if outcome.ok else 'FAILED':6} {outcome.name} ({outcome.duration_s:.1f} s)"
    return line if outcome.ok else f"{line}\n{outcome.output.rstrip()}"


def _run(name: str) -> Outcome:
    program, *rest = CHECKS[name]
    start = time.monotonic()
    done = subprocess.run(
        [tool(program), *rest],
        cwd=ROOT,
        env=child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Outcome(name, done.returncode == 0, done.stdout, time.monotonic() - start)
