"""A process of its own that no terminal, connection or parent can take along when it goes."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Callable, NoReturn

from .exits import EXIT_BUG


def open_descriptors() -> set[int]:
    """What is open here besides the three standard streams."""
    return {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2}  # noqa: PTH208 - only the numbers are wanted


def detach(work: Callable[[int], int], log: Path, inherited: set[int]) -> int:
    """Call ``work`` in a process of its own, and return the reading end of a pipe.

    ``work`` is given the writing end and returns an exit status. The process is nobody's child, in a session of its
    own, in ``/``; its stderr goes to ``log``, and it has none of the descriptors ``inherited``. The pipe ends when the
    process does. Raises OSError where no process can be made.
    """
    reader, writer = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    child = _fork()
    if child == 0:
        _leave(work, log, inherited | {reader}, writer)
    os.close(writer)
    if os.waitpid(child, 0)[1]:
        os.close(reader)
        raise OSError(errno.EAGAIN, "no process can be made")
    return reader


def _leave(work: Callable[[int], int], log: Path, inherited: set[int], writer: int) -> NoReturn:
    """The life of the child, which ends at once, and of its own child, which nobody waits for."""
    status = EXIT_BUG
    try:
        os.setsid()
        if _fork():
            status = 0
        else:
            _forget_the_parent(log, inherited)
            status = work(writer)
    finally:
        os._exit(status)


def _forget_the_parent(log: Path, inherited: set[int]) -> None:
    empty = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        said = os.open(str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError:  # a full disk, say: the run's end tells more
        said = empty
    # The last user of a file that stands for a closed stream closes it: before its number is taken, not after.
    sys.stdin = sys.stdout = sys.stderr = None
    for number, source in enumerate((empty, empty, said)):
        os.dup2(source, number)
    for number in inherited:
        with contextlib.suppress(OSError):
            os.close(number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    os.chdir("/")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGINT):  # a parent may have ignored them, and then nothing could stop it
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, where another thread lives: none of ours
        return os.fork()
