"""The run's journal: one JSON object a line, on disk before the agent goes on; and what must be undone afterwards.

Whatever a run makes or changes outside its own directory is journalled *before* it is done (``undo-add``) and marked
when it is undone (``undo-done``). A run that was killed leaves pending entries; the next start undoes them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Iterator

from .facts.hung_guard import run_bounded

JOURNAL_NAME = "journal.jsonl"
LOCK_NAME = "lock"
SCRATCH_PREFIX = "rerig-scratch-"
REMOVE_LIMIT_S = 20.0  # some GiB on a slow card take seconds; a dead server takes for ever


def utc_now() -> str:
    """The time as ISO 8601 in UTC with milliseconds, e.g. ``2026-01-31T08:15:00.123Z``."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Journal:
    """Appends events to ``run_dir/journal.jsonl`` and holds the run's lock while it lives."""

    def __init__(self, run_dir: Path) -> None:
        self._lock = (run_dir / LOCK_NAME).open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file = (run_dir / JOURNAL_NAME).open("a", encoding="utf-8")
        except OSError:
            self._lock.close()
            raise
        self._end_torn_line(run_dir / JOURNAL_NAME)

    def _end_torn_line(self, path: Path) -> None:
        """A crash may have cut the last line short; the next event must not be glued to it."""
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    def append(self, event: str, **data: Any) -> None:
        """Write one event and fsync it. ``data`` must be JSON; odd file names are kept by ASCII escapes."""
        line = {"event": event, "at": utc_now(), "monotonic_s": round(time.monotonic(), 6), **data}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the lock; the journal stays."""
        self._file.close()
        self._lock.close()


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


def pending_removals(events: list[dict[str, Any]]) -> list[str]:
    """Paths of files that the run made and has not removed, newest first."""
    pending: list[str] = []
    for event in events:
        path = event.get("path")
        if not isinstance(path, str):
            continue
        if event["event"] == "undo-add" and event.get("action") == "remove_file":
            pending.append(path)
        elif event["event"] == "undo-done" and path in pending:
            pending.remove(path)
    return pending[::-1]


def is_alive(run_dir: Path) -> bool:
    """True while some agent holds the run's lock, and where this user may not find out."""
    try:
        with (run_dir / LOCK_NAME).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def undo_left_behind(runs_root: Path) -> Iterator[tuple[Path, str]]:
    """Remove what killed runs under ``runs_root`` left; yields (run directory, removed path) for each.

    Only paths that a journal named, only regular files that carry rerig's own scratch name, never a link's target.
    What can't be removed (another user's, a mount that hangs) stays in its journal for a later start.
    """
    for journal_path in sorted(runs_root.glob("*/" + JOURNAL_NAME)):
        run_dir = journal_path.parent
        if is_alive(run_dir):
            continue
        # Another start may get here first, or the directory is not ours to read or write.
        with contextlib.suppress(OSError):
            if pending_removals(read_journal(run_dir)):
                yield from _undo_run(run_dir)


def _undo_run(run_dir: Path) -> Iterator[tuple[Path, str]]:
    with contextlib.closing(Journal(run_dir)) as journal:
        # Read again: now that the lock is ours, nobody else adds to it.
        for path in pending_removals(read_journal(run_dir)):
            with contextlib.suppress(OSError):
                removed = remove_scratch(Path(path))
                journal.append("undo-done", action="remove_file", path=path, by="later start")
                if removed:
                    yield run_dir, path


def remove_scratch(path: Path) -> bool:
    """Unlink one scratch file; True when there was one. Anything not named like our scratch is left alone.

    Raises OSError where it can't be removed; ETIMEDOUT where its file system does not answer.
    """
    if not path.name.startswith(SCRATCH_PREFIX):
        return False
    answer = run_bounded(lambda: _unlink(path), REMOVE_LIMIT_S)
    if answer.timed_out:
        raise TimeoutError(errno.ETIMEDOUT, "the file system does not answer")
    if not isinstance(answer.value, int):
        raise OSError(errno.EIO, answer.error)
    if answer.value not in (0, errno.ENOENT, errno.EINVAL):
        raise OSError(answer.value, os.strerror(answer.value))
    return answer.value == 0


def _unlink(path: Path) -> int:
    """0, or the errno; EINVAL for what is no regular file."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return errno.EINVAL
        path.unlink()
    except OSError as error:
        return error.errno or errno.EIO
    return 0
