"""Takes a run directory for a session: makes it, or finds out why there is nothing to begin in it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Any

from .child import StopFlag
from .exits import EXIT_BUSY, Refused
from .files import write_json
from .guard import Emit
from .journal import JOURNAL_NAME, LOCK_NAME, is_alive
from .place import one_at_a_time, sync_names
from .plan_format import PlanError, parse_plan, read_plan
from .progress import PROGRESS_NAME
from .run import Run, RunRefused
from .shell_words import shell_word
from .status import LOG_NAME, PLAN_NAME, NoRun, RunLook, look

DYING_LIMIT_S = 10.0
DYING_POLL_S = 0.02


class AlreadyThere(Refused):
    """The very run that was to be begun goes on or is complete."""


def plan_from(name: str) -> dict[str, Any]:
    """The plan in a file, or ``-``: on standard input. Raises Refused."""
    try:
        return parse_plan(sys.stdin.buffer.read()) if name == "-" else read_plan(Path(name))
    except PlanError as error:
        raise Refused(f"{error}.") from error


def begin(plan: dict[str, Any] | None, run_dir: Path, stop: StopFlag, emit: Emit) -> Run:
    """Take the lock of ``run_dir`` for a new run of ``plan``, or (None) to resume what is there.

    Raises Refused, and where that is the very run already, AlreadyThere. No two runs begin side by side.
    """
    if plan is None:
        look(run_dir)  # raises NoRun, before anything is made
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(run_dir.parent):
        found = _find(run_dir)
        if plan is None:
            plan = _plan_to_resume(run_dir, found)
            resume = True
        else:
            _check_new(plan, run_dir, found)
            resume = False
        _refuse_beside(run_dir)
        made = found is None and _make(run_dir, plan)
        try:
            return Run(plan, run_dir, stop, emit, resume)
        except RunRefused as error:
            raise Refused(str(error)) from error
        except BlockingIOError:
            raise AlreadyThere(f"The run {plan['run_id']} goes on already.", EXIT_BUSY) from None
        except OSError:
            if made:
                _unmake(run_dir)
            raise


def _find(run_dir: Path) -> RunLook | None:
    try:
        return look(run_dir)
    except NoRun:
        return None


def _plan_to_resume(run_dir: Path, found: RunLook | None) -> dict[str, Any]:
    if found is None:
        raise NoRun(f"There is no run in {shell_word(str(run_dir))}.")
    if found.running:
        raise AlreadyThere(f"The run {found.run_id} goes on already.", EXIT_BUSY)
    return plan_from(str(run_dir / PLAN_NAME))


def _check_new(plan: dict[str, Any], run_dir: Path, found: RunLook | None) -> None:
    if found is None:
        if run_dir.is_dir() and not {PLAN_NAME + ".new"}.issuperset(os.listdir(str(run_dir))):  # noqa: PTH208 - names only
            raise Refused("The run directory is not empty; nothing in it is overwritten.")
        return
    if found.plan != plan:
        raise Refused(f"The run directory holds another run, {found.run_id}; nothing in it is overwritten.")
    if found.running:
        raise AlreadyThere(f"The run {found.run_id} goes on already.", EXIT_BUSY)
    if found.state == "ended":
        raise AlreadyThere(f"The run {found.run_id} is complete; nothing in it is overwritten.")
    if found.sessions:
        raise Refused(f"The run {found.run_id} was {found.state}; nothing in it is overwritten, and it can be resumed.")


def _refuse_beside(run_dir: Path) -> None:
    """Two runs on one machine would measure each other."""
    for other in sorted(run_dir.parent.iterdir()):
        if other.name != run_dir.name and _goes_on(other):
            sentence = f"The run {other.name} goes on beside this one, and two at once would measure each other."
            raise Refused(sentence, EXIT_BUSY)


def _goes_on(run_dir: Path) -> bool:
    try:
        has_lock = not run_dir.is_symlink() and (run_dir / LOCK_NAME).exists()
        return has_lock and is_alive(run_dir) and look(run_dir).running
    except (Refused, OSError):
        return False  # damaged, or another user's


def _make(run_dir: Path, plan: dict[str, Any]) -> bool:
    """Whether the directory was made by us; one that is there already is filled."""
    try:
        run_dir.mkdir()
        made = True
    except FileExistsError:
        made = False
    try:
        write_json(run_dir / PLAN_NAME, plan)
        sync_names(run_dir.parent)
    except OSError:
        if made:
            _unmake(run_dir)
        raise
    return made


def abandon(run_dir: Path) -> None:
    """Take away what a start has made in vain: on a full disk it would help nobody, and look like a run."""
    with contextlib.suppress(Refused, OSError), one_at_a_time(run_dir.parent):
        found = look(run_dir)
        deadline = time.monotonic() + DYING_LIMIT_S  # a process that was killed lets go of its lock last of all
        while found.running and not found.sessions and time.monotonic() < deadline:
            time.sleep(DYING_POLL_S)
            found = look(run_dir)
        if not found.running and not found.sessions:
            _unmake(run_dir)


def _unmake(run_dir: Path) -> None:
    with contextlib.suppress(OSError):
        for name in (PLAN_NAME, LOCK_NAME, JOURNAL_NAME, LOG_NAME, PROGRESS_NAME):
            with contextlib.suppress(FileNotFoundError):
                (run_dir / name).unlink()
        run_dir.rmdir()
