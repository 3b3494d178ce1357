"""Tells a run's progress as it comes, by its files alone, until the run has ended; nothing in them is changed."""

from __future__ import annotations

import json
import select
import sys
import time
from pathlib import Path
from typing import Iterator

from .exits import EXIT_KILLED, complain
from .files import open_plain
from .journal import is_alive
from .last_words import last_words
from .progress import PROGRESS_NAME, emitter
from .status import look

POLL_S = 0.25
ALIVE_S = 9.0  # the controller takes a run that is silent for much longer for a lost connection
LOOK_S = 5.0  # the lock alone, which costs least, is asked more often


def follow(run_dir: Path, skip: int, progress: str) -> int:
    """Print the events from number ``skip`` (from 0) on; the exit status of the run, and a sentence where it failed.

    Raises NoRun, and BrokenPipeError as soon as nobody reads standard output any more.
    """
    output = _Output(progress)
    lines = _Lines(run_dir / PROGRESS_NAME, skip)
    while True:
        found, looked_s = look(run_dir), time.monotonic()
        while True:
            for line in lines.read_new():
                output.tell(line)
            if not found.running:
                sentence = last_words(found)
                if sentence is not None:
                    complain(sentence)
                return EXIT_KILLED if found.exit_status is None else found.exit_status
            output.wait()
            if not is_alive(run_dir) or time.monotonic() - looked_s > LOOK_S:
                break


class _Lines:
    """The whole lines of a file that grows."""

    def __init__(self, path: Path, skip: int) -> None:
        self._path = path
        self._skip = skip
        self._offset = 0

    def read_new(self) -> Iterator[bytes]:
        """Those that came since the last call."""
        try:
            with open_plain(self._path) as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return
        end = data.rfind(b"\n") + 1  # half a line may be taken back by its writer
        self._offset += end
        for line in data[:end].split(b"\n")[:-1]:
            if self._skip:
                self._skip -= 1
            else:
                yield line


class _Output:
    """Standard output, which somebody may leave."""

    def __init__(self, progress: str) -> None:
        self._progress = progress
        self._emit = emitter(progress)
        self._told_s = time.monotonic()
        self._poller = select.poll()
        self._poller.register(sys.stdout.fileno(), 0)

    def tell(self, line: bytes) -> None:
        """Print one event."""
        if self._progress == "json":
            self._write(line)
            return
        try:
            event = json.loads(line)
            self._emit(str(event.pop("event")), **event)
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
            pass  # a line that was damaged by a crash

    def wait(self) -> None:
        """Wait for a moment; a sign of life where nothing was printed for long."""
        if self._poller.poll(POLL_S * 1000):  # POLLERR: the other end is closed
            raise BrokenPipeError
        if self._progress == "json" and time.monotonic() - self._told_s > ALIVE_S:
            self._write(b'{"event": "alive"}')

    def _write(self, line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
        self._told_s = time.monotonic()
