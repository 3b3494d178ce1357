"""One measured child process: bounded in time, its output in files, its I/O account read before it is reaped."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable

POLL_S = 0.1
KILL_GRACE_S = 4.0  # a read that is under way must end first; after that it is stuck
_PR_SET_PDEATHSIG = 1


class Stopped(BaseException):
    """The user (or the system) asked the agent to stop; ``signal_number`` says how."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class StopFlag:
    """Remembers SIGINT, SIGTERM and SIGHUP until the case loop looks; a second SIGINT changes nothing."""

    def __init__(self) -> None:
        self.signal_number: int | None = None

    def install(self) -> None:
        """Take over the three signals of the calling (main) thread; one that is ignored (nohup does it) stays so."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._remember)
        # Where the parent ignored it, the kernel would throw every child's exit status away.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def _remember(self, number: int, _frame: object) -> None:
        self.signal_number = self.signal_number or number

    def check(self) -> None:
        """Raise :class:`Stopped` if a signal came."""
        if self.signal_number is not None:
            raise Stopped(self.signal_number)


def child_environment() -> dict[str, str]:
    """The agent's environment with the C locale; LANGUAGE goes, since GNU tools obey it even under C.UTF-8."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k != "LANGUAGE"}
    environment.update(LC_ALL="C", LANG="C")
    return environment


def die_with_parent() -> None:
    """Let the kernel kill the calling process when its parent dies.

    A dd, or a writer of scratch files, that outlived a killed agent would disturb whatever is measured next.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


_LIBC = ctypes.CDLL(None, use_errno=True)


class _ExitWatch(threading.Thread):
    """Waits for the exit without reaping, so that /proc/PID/io can still be read."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.exited = threading.Event()
        self.ended_s = 0.0
        self.io_text: str | None = None

    def run(self) -> None:
        os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        self.ended_s = time.monotonic()
        self.io_text = read_process_io(self._pid)
        self.exited.set()


def read_process_io(pid: int) -> str | None:
    """The text of ``/proc/PID/io``, or None where the kernel or the owner forbids it."""
    try:
        return Path(f"/proc/{pid}/io").read_text(encoding="ascii")
    except OSError:
        return None


def run_child(
    argv: list[str],
    directory: Path,
    limit_s: float,
    stop: StopFlag,
    stall_s: float | None = None,
    tick: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Run ``argv`` in ``directory`` (its ``stdout`` and ``stderr`` go to files of these names) for ``limit_s`` at most.

    ``stall_s``: end it sooner when its read count stands still for so long (a hung server). ``tick`` is called a few
    times a second with the seconds since the start.

    Returns ``wall_s``, ``exit_status``, ``signal``, ``timed_out``, ``unkillable``, ``error``, ``child_io`` (text of
    /proc/PID/io, root only: a child that has ended is root's) and ``child_read_bytes`` (bytes that it read from disks).
    Raises :class:`Stopped` after ending the child when the user asks to stop.
    """
    outcome: dict[str, Any] = {
        "wall_s": 0.0,
        "exit_status": None,
        "signal": None,
        "timed_out": False,
        "unkillable": False,
        "child_io": None,
        "child_read_bytes": None,
        "error": None,
    }
    started_s = time.monotonic()
    with (directory / "stdout").open("wb") as stdout, (directory / "stderr").open("wb") as stderr:
        try:
            child = subprocess.Popen(
                argv,
                cwd=str(directory),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=child_environment(),
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            outcome["error"] = error.strerror or str(error)
            return outcome
    watch = _ExitWatch(child.pid)
    watch.start()
    try:
        outcome["timed_out"] = not _wait(watch, child.pid, started_s, limit_s, stall_s, stop, tick)
    finally:
        if watch.exited.is_set() or _end(child.pid, watch):
            outcome["child_read_bytes"] = _reap(child)
        else:
            outcome["unkillable"] = True
            child.returncode = 0  # not ours to reap any more: without this its destructor would warn
    if outcome["unkillable"]:
        outcome["wall_s"] = time.monotonic() - started_s
        return outcome
    outcome["wall_s"] = watch.ended_s - started_s
    outcome["child_io"] = watch.io_text
    status = child.returncode
    if status < 0:
        outcome["signal"] = -status
    else:
        outcome["exit_status"] = status
    return outcome


def _reap(child: subprocess.Popen[bytes]) -> int:
    """Reap the ended child; bytes that it and its own children read from block devices (getrusage(2), ru_inblock)."""
    _pid, status, usage = os.wait4(child.pid, 0)
    child.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return usage.ru_inblock * 512


def _wait(
    watch: _ExitWatch,
    pid: int,
    started_s: float,
    limit_s: float,
    stall_s: float | None,
    stop: StopFlag,
    tick: Callable[[float], None] | None,
) -> bool:
    """True when the child ended by itself, False when its time was over."""
    last_io, last_change_s = None, started_s
    while not watch.exited.wait(POLL_S):
        stop.check()
        now_s = time.monotonic()
        if tick is not None:
            tick(now_s - started_s)
        if now_s - started_s > limit_s:
            return False
        if stall_s is not None:
            io_text = read_process_io(pid)
            if io_text is None or io_text != last_io:
                last_io, last_change_s = io_text, now_s
            elif now_s - last_change_s > stall_s:
                return False
    return True


def _end(pid: int, watch: _ExitWatch) -> bool:
    """Kill the child's whole session group; False when it is stuck in the kernel and can't be killed."""
    # Not SIGTERM first: a reader has nothing to tidy, and a fio that is cut off writes a report that nobody reads.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return watch.exited.wait(KILL_GRACE_S)
