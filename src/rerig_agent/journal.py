"""The run's journal: one JSON object a line, on disk before the agent goes on; and what must be undone afterwards.

Whatever a run makes or changes outside its own directory is journalled *before* it is done (``undo-add``) and marked
when it is undone (``undo-done``). A run that was killed leaves pending entries; the next start undoes them.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Iterator

JOURNAL_NAME = "journal.jsonl"
LOCK_NAME = "lock"


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
    """All whole events of a run; a last line torn by a crash is left out. No journal: an empty list."""
    events = []
    try:
        lines = (run_dir / JOURNAL_NAME).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def pending_removals(events: list[dict[str, Any]]) -> list[str]:
    """Paths of files that the run made and has not removed, newest first."""
    pending: list[str] = []
    for event in events:
        if event.get("event") == "undo-add" and event.get("action") == "remove_file":
            pending.append(event["path"])
        elif event.get("event") == "undo-done" and event.get("path") in pending:
            pending.remove(event["path"])
    return pending[::-1]


def is_alive(run_dir: Path) -> bool:
    """True while some agent holds the run's lock."""
    try:
        with (run_dir / LOCK_NAME).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def undo_left_behind(runs_root: Path) -> Iterator[tuple[Path, str]]:
    """Remove what killed runs under ``runs_root`` left; yields (run directory, removed path) for each.

    Only paths that a journal named, only regular files that carry rerig's own scratch name, never a link's target.
    """
    for journal_path in sorted(runs_root.glob("*/" + JOURNAL_NAME)):
        run_dir = journal_path.parent
        if is_alive(run_dir):
            continue
        left = pending_removals(read_journal(run_dir))
        if not left:
            continue
        try:
            journal = Journal(run_dir)
        except OSError:
            continue  # another start got here first, or the directory is not ours to write
        try:
            for path in left:
                if remove_scratch(Path(path)):
                    yield run_dir, path
                journal.append("undo-done", action="remove_file", path=path, by="later start")
        finally:
            journal.close()


SCRATCH_PREFIX = "rerig-scratch-"


def remove_scratch(path: Path) -> bool:
    """Unlink one scratch file; True when there was one. Anything not named like our scratch is left alone."""
    if not path.name.startswith(SCRATCH_PREFIX) or path.is_symlink() or not path.is_file():
        return False
    path.unlink()
    return True
