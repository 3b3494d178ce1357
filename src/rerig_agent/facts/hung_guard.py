"""Runs one function in a forked child with a time limit, for calls that a dead NFS server can block for ever.

A thread would not do: a process whose thread sleeps in the kernel can't end. A child can be left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
import warnings
from typing import Any, Callable, NamedTuple

__all__ = ["Bounded", "run_bounded"]

_GRACE_S = 0.5
_TICK_S = 0.1


class Bounded(NamedTuple):
    """What came of a bounded call: `value` where `error` is None and it didn't time out."""

    value: Any
    error: str | None
    timed_out: bool
    left_running: bool


def run_bounded(function: Callable[[], Any], limit_s: float, tick: Callable[[], None] | None = None) -> Bounded:
    """Call `function` in a forked child and return what it returned (it must be JSON data).

    After `limit_s` seconds the child is killed. A child that sleeps uninterruptibly in the kernel survives even that;
    it is left behind and `left_running` is True. A failed fork or an exception in the child is `error`.

    `tick` is called in this process, ten times a second while it waits and once at the end. What it raises (the user
    has asked to stop, say) ends the child too, and is all that this function raises.
    """
    try:
        reader, writer = os.pipe()
    except OSError as error:
        return Bounded(None, f"no pipe: {error.strerror}", False, False)
    # The agent's own signal handlers must not run in the child: they undo and remove things.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        child = _fork()
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(reader)
        os.close(writer)
        return Bounded(None, f"no child process: {error.strerror}", False, False)
    if child == 0:
        _answer_and_exit(function, writer)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.close(writer)
    try:
        answer, in_time = _read_until(reader, time.monotonic() + limit_s, tick or (lambda: None))
    finally:
        os.close(reader)
        gone = _end(child)
    if not in_time:
        return Bounded(None, None, True, not gone)
    try:
        message = json.loads(answer.decode("ascii"))
    except ValueError:
        return Bounded(None, "the process that was to do it was killed", False, not gone)
    return Bounded(message.get("value"), message.get("error"), False, not gone)


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns when another thread lives (one that waits for a measured child may). The child below only
        # makes file calls and ends: it takes no lock that a thread of the agent could hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _answer_and_exit(function: Callable[[], Any], writer: int) -> None:
    """The child's whole life. It must not return: two copies of the agent would go on."""
    try:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        # A Ctrl-C at the terminal goes to the whole group: the agent decides, and ends this child when it is time.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        _close_inherited(writer)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        try:
            message: dict[str, Any] = {"value": function(), "error": None}
        except Exception as error:  # noqa: BLE001 - whatever it was, the parent hears of it
            message = {"value": None, "error": f"{type(error).__name__}: {error}"}
        answer = json.dumps(message).encode("ascii")
        while answer:
            answer = answer[os.write(writer, answer) :]
    finally:
        os._exit(0)


def _close_inherited(keep: int) -> None:
    """A child that is left behind must not hold the agent's standard output, or whoever reads it waits for ever."""
    empty = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        if number != keep:
            os.dup2(empty, number)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - only the numbers are wanted
        if int(name) > 2 and int(name) != keep:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _read_until(reader: int, deadline: float, tick: Callable[[], None]) -> tuple[bytes, bool]:
    """Everything up to the end of the pipe, and whether the end came before the deadline."""
    poller = select.poll()
    poller.register(reader, select.POLLIN | select.POLLHUP)
    answer = b""
    while True:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return answer, False
        if not poller.poll(min(left_s, _TICK_S) * 1000):
            tick()
            continue
        piece = os.read(reader, 65536)
        if not piece:
            tick()  # whoever killed the child may have told the agent to stop too: a wish, not a failure
            return answer, True
        answer += piece


def _end(child: int) -> bool:
    """Reap the child, with SIGKILL where it has not ended; False if it outlives that too."""
    deadline = time.monotonic() + _GRACE_S
    killed = False
    while True:
        try:
            if os.waitpid(child, os.WNOHANG)[0] == child:
                return True
        except ChildProcessError:
            return True  # someone ignores SIGCHLD: the kernel reaped it
        if not killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            killed = True
        elif time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.002)
