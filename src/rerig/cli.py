"""The entry point: runs tasks.py's namespace, and turns every failure into one sentence and an exit status."""

from __future__ import annotations

import importlib.util
import io
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rerig import VERSION
from rerig.checkout import ROOT
from rerig.errors import UserError

if TYPE_CHECKING:
    from invoke.collection import Collection

INTERRUPTED = 130  # as a shell reports SIGINT
BROKEN_PIPE = 141  # as a shell reports SIGPIPE
BUG = 70  # EX_SOFTWARE of sysexits.h


def main(argv: list[str] | None = None) -> int:
    """Run what ``argv`` (program name first; the process's own by default) asks for; the exit status.

    0 for success, 1 for what the user can mend, 2 for wrong words, 70 for a bug in rerig, 130 after Ctrl-C. Nobody
    sees a traceback unless RERIG_TRACEBACK is set.
    """
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a file name may hold bytes that are no text
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _launch(sys.argv if argv is None else argv)
        sys.stdout.flush()
    except UserError as error:
        return _fail(str(error), error.exit_status)
    except KeyboardInterrupt:
        return _fail("interrupted.", INTERRUPTED)
    except BrokenPipeError as error:
        return _leave_quietly() if _nobody_reads() else _report_bug(error)
    except OSError as error:
        return (
            _report_bug(error) if error.errno is None else _fail(f"{error.filename or 'rerig'}: {error.strerror}.", 1)
        )
    except Exception as error:  # noqa: BLE001 - the last stop: a user gets a sentence, whatever broke
        return _report_bug(error)
    return status


def _replace_closed_streams() -> None:
    """``2>&-`` leaves None behind, and the next file that is opened would get the number 2."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115 - for good


def load_namespace() -> Collection:
    """The namespace that tasks.py composes."""
    spec = importlib.util.spec_from_file_location("tasks", ROOT / "tasks.py")
    if spec is None or spec.loader is None:
        raise UserError("tasks.py is missing from this clone.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    namespace: Collection = module.namespace
    return namespace


def _launch(argv: list[str]) -> int:
    try:
        from rerig.program import Launcher
    except ModuleNotFoundError as error:
        raise UserError(f"The package {error.name} is missing: start rerig as ./inv, which installs it.") from error
    return Launcher(VERSION, load_namespace()).dispatch(argv)


def _fail(sentence: str, status: int) -> int:
    print(f"./inv: {sentence}", file=sys.stderr)
    return status


def _report_bug(error: Exception) -> int:
    if os.environ.get("RERIG_TRACEBACK"):
        _raise(error)
    first = next(iter(str(error).splitlines()), "no message")
    return _fail(f"bug: {type(error).__name__}: {first} (RERIG_TRACEBACK=1 shows where).", BUG)


def _raise(error: Exception) -> NoReturn:
    raise error


def _nobody_reads() -> bool:
    """Whether it is our own output that broke, not a pipe to some child."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLOUT)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _leave_quietly() -> int:
    """Python flushes once more at exit; that must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
