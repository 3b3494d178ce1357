"""How the agent tells what goes on: JSON lines for the controller, plain lines for a person, a file, or nothing."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable

PROGRESS_NAME = "progress.jsonl"
QUIET_EVENTS = {"tick", "scratch", "repeat-start"}
_MANY = ("tick", "scratch")
_THINNED_S = 1.0


def emitter(kind: str) -> Callable[..., None]:
    """A function ``emit(event, **data)``; ``kind``: ``json``, ``text`` or ``none``. A reader that left is no error."""

    def emit_json(event: str, **data: Any) -> None:
        _write(sys.stdout, json.dumps({"event": event, **data}) + "\n")

    def emit_text(event: str, **data: Any) -> None:
        if event not in QUIET_EVENTS:
            shown = " ".join(f"{k}={v}" for k, v in data.items() if v is not None)
            _write(sys.stderr, f"{event} {shown}\n")

    def emit_nothing(event: str, **data: Any) -> None:
        return None

    return {"json": emit_json, "text": emit_text, "none": emit_nothing}[kind]


def _write(stream: Any, line: str) -> None:
    try:
        stream.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))
        stream.flush()
    except (OSError, ValueError):
        pass  # the controller is gone; the run goes on, its journal tells the rest


class ProgressFile:
    """Appends events to ``path``, one whole line each; of ticks one a second. Opened when first needed.

    Only the holder of the run's lock may write it. A full disk loses events here: the journal tells the rest.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._last_s = {name: float("-inf") for name in _MANY}

    def __call__(self, event: str, **data: Any) -> None:
        """Append one event."""
        if event in self._last_s:
            now_s = time.monotonic()
            if now_s - self._last_s[event] < _THINNED_S and data.get("bytes") != data.get("total", -1):
                return
            self._last_s[event] = now_s
        with contextlib.suppress(OSError):
            self._append(json.dumps({"event": event, **data}).encode("ascii") + b"\n")

    def _append(self, line: bytes) -> None:
        if self._file is None:
            self._file = _open_whole(self._path)
        size = os.fstat(self._file).st_size
        if os.write(self._file, line) != len(line):
            os.ftruncate(self._file, size)  # a disk that is full; half a line would spoil the next one


def _open_whole(path: Path) -> int:
    """Opened for appending, without the half line that a killed run may have left."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(str(path), flags, 0o644)
    size = os.fstat(file).st_size
    tail = os.pread(file, 65536, max(0, size - 65536))
    torn = len(tail) - (tail.rfind(b"\n") + 1)
    if torn:
        os.ftruncate(file, size - torn)
    return file
