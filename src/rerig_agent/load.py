"""Load on all processors, and on the GPU by the user's own command, that ends whatever happens to the agent.

The processes are children of a keeper (:mod:`.load_keeper`), a Python of its own that ends them all, and what they have
left behind, as soon as the pipe from here is gone: at the end of the ``with`` block, or when the agent is killed.
"""

from __future__ import annotations

import contextlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

from .child import child_environment
from .load_keeper import GRACE_S, NAME

EVENTS_NAME = "load.jsonl"
END_LIMIT_S = GRACE_S + 6.0


class Load:
    """A load that goes on. ``clean``: once it has ended, whether nothing of it was left."""

    def __init__(self, keeper: subprocess.Popen[bytes]) -> None:
        self._keeper = keeper
        self.clean = False

    def is_on(self) -> bool:
        """False where the keeper has ended by itself, or was killed."""
        return self._keeper.poll() is None


@contextlib.contextmanager
def under_load(directory: Path, cpus: list[int], gpu: list[str] | None) -> Iterator[Load]:
    """Load on these processors, and by the command ``gpu`` on the GPU, while the block lasts.

    In ``directory``: ``load.jsonl`` (what was started and what ended by itself), ``stdout`` (the beginning of what the
    command prints), ``stderr`` (the keeper's). Raises OSError where no process can be started.
    """
    reader, writer = os.pipe()
    words = [NAME, str(reader), EVENTS_NAME, ",".join(map(str, cpus)), *(gpu or [])]
    try:
        with (directory / "stderr").open("wb") as stderr:
            keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-", *words],
                cwd=str(directory),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=child_environment(),
                start_new_session=True,
                pass_fds=(reader,),
            )
    except BaseException:
        os.close(writer)
        raise
    finally:
        os.close(reader)
    load = Load(keeper)
    try:
        _feed(keeper)
        yield load
    finally:
        os.close(writer)
        load.clean = _wait(keeper)


def _feed(keeper: subprocess.Popen[bytes]) -> None:
    source = pkgutil.get_data(__name__.rpartition(".")[0], "load_keeper.py")
    assert keeper.stdin is not None  # noqa: S101 - it was asked for
    with contextlib.suppress(BrokenPipeError), keeper.stdin:  # killed already: is_on() will tell
        keeper.stdin.write(source or b"")


def _wait(keeper: subprocess.Popen[bytes]) -> bool:
    try:
        return keeper.wait(END_LIMIT_S) == 0
    except subprocess.TimeoutExpired:
        keeper.kill()  # its own children die with it, by the kernel's hand
        keeper.wait()
        return False
