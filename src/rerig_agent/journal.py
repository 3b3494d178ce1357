"""The run's journal: one JSON object a line, on disk before the agent goes on.

Whatever a run makes or changes outside its own directory is journalled *before* it is done (``undo-add``) and marked
when it is undone (``undo-done``): see :mod:`rerig_agent.guard` and :mod:`rerig_agent.undo`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

JOURNAL_NAME = "journal.jsonl"
LOCK_NAME = "lock"
LOCK_LIMIT_S = 0.3


def utc_now() -> str:
    """The time as ISO 8601 in UTC with milliseconds, e.g. ``2026-01-31T08:15:00.123Z``."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Journal:
    """Appends events to ``run_dir/journal.jsonl`` and holds the run's lock while it lives.

    Raises OSError where another agent holds the lock, or the directory can't be written.
    """

    def __init__(self, run_dir: Path) -> None:
        self._lock = _open_own(run_dir / LOCK_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            _take_lock(self._lock)
            self._file = _open_own(run_dir / JOURNAL_NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError:
            os.close(self._lock)
            raise
        self._closed = False
        # A crash may have cut the last line short; the next event must not be glued to it. Written with that event:
        # on a full disk nothing can be written yet.
        size = os.fstat(self._file).st_size
        self._torn = size > 0 and os.pread(self._file, 1, size - 1) != b"\n"

    def append(self, event: str, **data: Any) -> None:
        """Write one event and fsync it. ``data`` must be JSON; odd file names are kept by ASCII escapes.

        Raises OSError (the disk is full, say); half a line that was written is taken back.
        """
        line = {"event": event, "at": utc_now(), "monotonic_s": round(time.monotonic(), 6), **data}
        text = (b"\n" if self._torn else b"") + json.dumps(line).encode("ascii") + b"\n"
        size = os.fstat(self._file).st_size
        try:
            while text:
                text = text[os.write(self._file, text) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, size)
            raise
        self._torn = False
        os.fsync(self._file)

    def close(self) -> None:
        """Let go of the lock; the journal stays. Closing twice is no error."""
        if not self._closed:
            self._closed = True
            os.close(self._file)
            os.close(self._lock)


def read_journal(run_dir: Path) -> list[dict[str, Any]]:
    """All whole events of a run; a line torn by a crash is left out. No journal: an empty list."""
    events = []
    try:
        text = (run_dir / JOURNAL_NAME).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    for line in text.split("\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            events.append(event)
    return events


def is_alive(run_dir: Path) -> bool:
    """True while some agent holds the run's lock, and where this user may not find out."""
    try:
        lock = _open_own(run_dir / LOCK_NAME, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _take_lock(lock: int) -> None:
    """Raises BlockingIOError where another agent keeps it; who only asks (:func:`is_alive`) has it for a moment."""
    deadline = time.monotonic() + LOCK_LIMIT_S
    while not _locked(lock):
        if time.monotonic() > deadline:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        time.sleep(0.01)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open_own(path: Path, flags: int) -> int:
    """Never through a link, and never waiting for the other end of a pipe: others may have made the directory."""
    return os.open(str(path), flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
