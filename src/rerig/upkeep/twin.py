"""Starts the twin, the booted machine of the tests. It lies with them, so it is a child that finds it there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from rerig.checkout import ROOT
from rerig.signals import STOPPING, handling
from rerig.upkeep.environment import child_environment

# -I keeps the current folder and PYTHONPATH out, so the one folder that holds the twin is an argument.
START = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('twin', run_name='__main__', "
    "alter_sys=True)"
)


def twin_command(words: Sequence[str]) -> list[str]:
    """The argv of one command of the twin."""
    return [sys.executable, "-I", "-c", START, str(ROOT / "tests"), *words]


def run_twin(words: Sequence[str]) -> int:
    """One command of the twin, on our own terminal; its exit status, or 128 and the number of the signal that ended it.

    A signal that would end us goes to the child instead, which stops what it started and then ends.
    """
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _frame: Any) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    with handling(STOPPING, pass_on):
        child = subprocess.Popen(twin_command(words), env=child_environment())
        for number in early:
            child.send_signal(number)
        status = child.wait()
    return status if status >= 0 else 128 - status


def missing_for_twin() -> str:
    """Why the twin can't run here, as one sentence with how to get what is missing; empty where it can."""
    done = subprocess.run(
        twin_command(["check"]),
        env=child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    lines = done.stdout.strip().splitlines() or [f"its check ended with status {done.returncode}"]
    return lines[-1].removeprefix("twin: ") if done.returncode else ""
