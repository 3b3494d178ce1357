"""How the agent's commands end: exit statuses, and sentences for people on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

EXIT_NOTHING_MEASURED = 1
EXIT_USAGE = 2
EXIT_BUSY = 69  # EX_UNAVAILABLE of sysexits.h: another run measures here
EXIT_BUG = 70  # EX_SOFTWARE
EXIT_IO_ERROR = 74  # EX_IOERR: the run directory's disk is full, say
EXIT_KILLED = 75  # EX_TEMPFAIL: the run was killed and can be resumed


class Refused(Exception):
    """What was asked for can't be done; the message is one sentence for people."""

    def __init__(self, sentence: str, status: int = EXIT_USAGE) -> None:
        super().__init__(sentence)
        self.status = status


def explain(error: Exception) -> tuple[int, str]:
    """The exit status for an exception that ends a command, and a sentence about it."""
    if isinstance(error, Refused):
        return error.status, str(error)
    if isinstance(error, OSError):
        name = "" if error.filename is None else f" ({Path(os.fsdecode(error.filename)).name})"
        return EXIT_IO_ERROR, f"{error.strerror or error}{name}."
    return EXIT_BUG, f"Bug: {type(error).__name__}: {error} (RERIG_TRACEBACK=1 shows where)."


def complain(sentence: str) -> None:
    """Print a sentence on stderr; somebody who left is no error."""
    words = sentence[:1].upper() + sentence[1:].rstrip(".")
    with contextlib.suppress(OSError, ValueError):
        print(f"rerig-agent: {words}.", file=sys.stderr, flush=True)
