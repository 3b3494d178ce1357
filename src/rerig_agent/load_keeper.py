"""Keeps processors and the GPU under load until its life line is cut: a program of its own, started by :mod:`.load`.

Its text is given to a new Python, so it imports the standard library alone. The life line is a pipe whose other end its
starter holds: however that one ends, the pipe does too, and then everything that runs below this process is killed. As
their subreaper it also finds what a command for the GPU leaves behind.

Words: the life line's descriptor, the file for its events, the processors ("0,1,5"), the command for the GPU, if any.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAME = "rerig-load"
CORE_NAME = "rerig-load-core"
# SHA-512 in OpenSSL's own machine code: integer work that fits into the first caches and waits for nothing.
CORE = "import hashlib\nblock = bytes(65536)\nwhile True:\n    hashlib.sha512(block).digest()\n"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
POLL_MS = 100
GRACE_S = 4.0
MOST_OUTPUT = 65536  # of what the GPU's command prints; the rest is read and dropped
LIBC = ctypes.CDLL(None, use_errno=True)


class Keeper:
    """The children of one load. ``events``: a file that gets one JSON object a line."""

    def __init__(self, events: str) -> None:
        self._events = events
        self._started_s = time.monotonic()
        self._gpu: subprocess.Popen[bytes] | None = None
        self._kept = 0

    def tell(self, event: str, **data: Any) -> None:
        line = {"event": event, "after_s": round(time.monotonic() - self._started_s, 3), **data}
        # On a full disk the load goes on; whoever measures beside it meets the same disk.
        with contextlib.suppress(OSError), open(self._events, "ab", buffering=0) as file:  # noqa: PTH123 - see docstring
            file.write(json.dumps(line).encode("ascii") + b"\n")

    def load_cores(self, cpus: list[int]) -> None:
        for cpu in cpus:
            argv = [sys.executable, "-I", "-S", "-B", "-c", CORE, CORE_NAME, str(cpu)]
            try:
                child = _start(argv, cpu, subprocess.DEVNULL)
            except (OSError, subprocess.SubprocessError):  # the latter: the processor went offline
                self.tell("core-error", cpu=cpu)
            else:
                self.tell("core", cpu=cpu, pid=child.pid)
                child.returncode = 0  # reaped by collect(), with all the others

    def load_gpu(self, argv: list[str]) -> int | None:
        """Start the GPU's command; the descriptor that its output comes from."""
        try:
            self._gpu = _start(argv, None, subprocess.PIPE)
        except (OSError, ValueError, subprocess.SubprocessError) as error:  # ValueError: a NUL in the words
            self.tell("gpu-error", error=getattr(error, "strerror", None) or "it can't be started")
            return None
        self.tell("gpu", pid=self._gpu.pid)
        return None if self._gpu.stdout is None else self._gpu.stdout.fileno()

    def take_output(self, descriptor: int) -> bool:
        """Keep the beginning of what the GPU's command prints; False at its end."""
        piece = os.read(descriptor, 65536)
        kept = piece[: max(0, MOST_OUTPUT - self._kept)]
        if kept:
            self._kept += len(kept)
            with contextlib.suppress(OSError), open("stdout", "ab", buffering=0) as file:  # noqa: PTH123 - see docstring
                file.write(kept)
        return bool(piece)

    def collect(self) -> None:
        """Reap what has ended, orphans included, and tell of the GPU's command."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                if self._gpu is not None and pid == self._gpu.pid:
                    self._gpu.returncode = code
                    self.tell("gpu-end", status=code)

    def end(self) -> bool:
        """Kill everything below this process, until nothing is left; False: something is stuck in the kernel."""
        deadline = time.monotonic() + GRACE_S
        while True:
            left = descendants(os.getpid())
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self.collect()
            if not left:
                return True
            if time.monotonic() > deadline:
                self.tell("left", pids=left)
                return False
            select.select([], [], [], 0.01)


def descendants(pid: int) -> list[int]:
    """Everything below a process that has not ended, itself left out."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names only
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The second field, the name, may hold blanks and brackets itself.
                fields = Path("/proc", name, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                if fields[0] not in ("Z", "X"):
                    parents[int(name)] = int(fields[1])
    found, border = [], {pid}
    while border:
        border = {child for child, parent in parents.items() if parent in border and child not in found}
        found += sorted(border)
    return found


def _start(argv: list[str], cpu: int | None, output: int) -> subprocess.Popen[bytes]:
    keeper = os.getpid()

    def before() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != keeper:  # it ended in between, and no signal will come
            os._exit(1)
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})

    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, preexec_fn=before, bufsize=0
    )


def main(words: list[str]) -> int:
    """0: ended by its life line, and nothing is left of the load."""
    life_line, events, cpus, gpu = int(words[0]), words[1], words[2], words[3:]
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    keeper = Keeper(events)
    poller = select.poll()
    poller.register(life_line, select.POLLIN | select.POLLHUP)
    clean = False
    try:
        keeper.load_cores([int(cpu) for cpu in cpus.split(",") if cpu])
        output = keeper.load_gpu(gpu) if gpu else None
        if output is not None:
            poller.register(output, select.POLLIN | select.POLLHUP)
        keeper.tell("loaded")
        while True:
            ready = [descriptor for descriptor, _event in poller.poll(POLL_MS)]
            keeper.collect()
            if life_line in ready:
                break
            if output in ready and output is not None and not keeper.take_output(output):
                poller.unregister(output)
    finally:
        clean = keeper.end()
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))  # the first word is its name, for whoever lists processes
