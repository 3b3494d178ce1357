"""Asks a run to stop, and waits until it has: what it had measured is kept, and it can be resumed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from .exits import EXIT_IO_ERROR, complain
from .status import look, print_status

LIMIT_S = 60.0
POLL_S = 0.1


def stop(run_dir: Path, limit_s: float = LIMIT_S) -> int:
    """Stop the run and print how it is; one that doesn't go on stays as it is. Raises NoRun, OSError."""
    deadline = time.monotonic() + limit_s
    told = None
    while True:
        found = look(run_dir)
        if not found.running:
            return print_status(found)
        pid = found.pid()  # none while it is about to begin
        if pid is not None and pid != told:
            told = pid
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        if time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    if told is None:
        complain(f"The run {found.run_id} goes on in a process that can't be seen from here.")
    else:
        complain(
            f"The run {found.run_id} was asked to stop and has not ended after {limit_s:g} s: a file may not answer."
        )
    return EXIT_IO_ERROR
