"""Takes a run directory for a session: makes it, or finds out why there is nothing to begin in it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sys
import time
from pathlib import Path
from typing import Any, Iterator

from .child import StopFlag
from .exits import EXIT_BUSY, Refused
from .files import write_json
from .guard import Emit
from .journal import JOURNAL_NAME, LOCK_NAME, is_alive
from .plan_format import PlanError, parse_plan, read_plan
from .run import Run, RunRefused
from .shell_words import shell_word
from .status import PLAN_NAME, NoRun, RunLook, look

PLACE_LIMIT_S = 30.0
# NFS locks no directories.
_NO_SUCH_LOCK = (errno.EBADF, errno.ENOLCK, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)


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
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    with _place(run_dir.parent):
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
    if run_dir.is_symlink() or not (run_dir / LOCK_NAME).exists() or not is_alive(run_dir):
        return False
    try:
        return look(run_dir).running
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
        _sync(run_dir.parent)
    except OSError:
        if made:
            _unmake(run_dir)
        raise
    return made


def _unmake(run_dir: Path) -> None:
    """Take a directory away in which no run has begun; where the disk is full, it would help nobody."""
    with contextlib.suppress(OSError):
        for name in (PLAN_NAME, LOCK_NAME, JOURNAL_NAME):
            with contextlib.suppress(FileNotFoundError):
                (run_dir / name).unlink()
        run_dir.rmdir()


def _sync(directory: Path) -> None:
    descriptor = os.open(str(directory), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems can't; the directory itself may lie on any
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _place(directory: Path) -> Iterator[None]:
    """One start at a time in ``directory``; it is the directory itself that is locked, so nothing is left in it."""
    descriptor = os.open(str(directory), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + PLACE_LIMIT_S
        while not _taken(descriptor) and time.monotonic() < deadline:  # then the runs' own locks must do
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_SUCH_LOCK
    return True
