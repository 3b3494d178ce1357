"""Putting a run directory that was unpacked aside in its place, while other processes may do the same."""

from __future__ import annotations

import contextlib
import fcntl
import filecmp
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from rerig.errors import UserError

OWN_NAMES = {"result.json"}  # what is made here of a run, and no machine sends
LOCK_LIMIT_S = 300.0
POLL_S = 0.05


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """One process at a time brings runs home to ``folder``; the folder itself is locked, so nothing is left in it.

    Some network file systems lock no folders; who waits for very long goes on as well. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + LOCK_LIMIT_S
        while not _taken(descriptor) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        yield
    finally:
        os.close(descriptor)


def put_in_place(part: Path, destination: Path) -> None:
    """Rename ``part`` to ``destination``; an earlier copy that holds the very same is left as it is, readers and all.

    Raises UserError where something else is there, OSError.
    """
    earlier = destination.with_name(f".{destination.name}.old")
    if not destination.exists() and not destination.is_symlink():
        part.rename(destination)
        shutil.rmtree(earlier, ignore_errors=True)
        return
    if destination.is_symlink() or not destination.is_dir():
        raise UserError(f"{destination} is there and is no run directory; nothing is overwritten.")
    if _is_same(part, destination):
        return
    shutil.rmtree(earlier, ignore_errors=True)
    destination.rename(earlier)
    try:
        part.rename(destination)
    except OSError:
        earlier.rename(destination)
        raise
    shutil.rmtree(earlier, ignore_errors=True)


def _is_same(part: Path, destination: Path) -> bool:
    names, there = _files(part), _files(destination)
    if names != there - OWN_NAMES:
        return False
    _, different, unreadable = filecmp.cmpfiles(part, destination, sorted(names), shallow=False)
    return not different and not unreadable


def _files(folder: Path) -> set[str]:
    """Everything below a folder that is no folder, by its relative path."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without such locks
    return True
