"""What a run has made or changed outside its directory, undone: by the run itself, or by a later start.

A journal is never trusted blindly: only names that the agent itself would use, only numbers, only what still is as the
agent had left it; and as root only journals that nobody else could have written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, NamedTuple

from .facts.hung_guard import run_bounded
from .facts.sysfs import absolute, read_word
from .identity import read_boot_id
from .journal import JOURNAL_NAME, LOCK_NAME, Journal, is_alive, read_journal

SCRATCH_PREFIX = "rerig-scratch-"
CGROUP_PREFIX = "rerig-"
REMOVE_LIMIT_S = 20.0  # some GiB on a slow card take seconds; a dead server takes for ever
BUSY_LIMIT_S = 2.0  # a process that was killed leaves its control group a moment later

# What was added: {"action", "path", …}; its further keys are those of the action.
Entry = Dict[str, Any]

_KNOB_PATH = re.compile(r"/sys/(?:class/bdi/(?!\.)[\w:.-]+|block/(?!\.)[\w:.!-]+/queue)/read_ahead_kb", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_CGROUP_PATH = re.compile(r"/sys/fs/cgroup(?:/[^/\0]+)*/" + CGROUP_PREFIX + r"[\w.-]+", re.ASCII)


class Undone(NamedTuple):
    """One thing that a later start has undone, with a sentence for people (without the run's name)."""

    run_dir: Path
    action: str
    path: str
    sentence: str


_SENTENCES = {
    "remove_file": "removed the scratch file that a killed run had left",
    "restore_text": "put back the read-ahead that a killed run had set",
    "remove_cgroup": "removed the control group that a killed run had left",
}


def pending(events: list[dict[str, Any]]) -> list[Entry]:
    """What a run (or one of its sessions) has made or changed and not undone, newest first."""
    found: list[Entry] = []
    for event in events:
        if not isinstance(event.get("path"), str) or event.get("action") not in list(_ACTIONS):
            continue
        if event["event"] == "undo-add":
            found.insert(0, event)
        elif event["event"] == "undo-done":
            same = (entry for entry in found if (entry["action"], entry["path"]) == (event["action"], event["path"]))
            entry = next(same, None)
            if entry is not None:
                found.remove(entry)
    return found


def undo_entry(entry: Entry, root: Path = Path("/")) -> bool:
    """Undo one entry; True when there was something to undo, False when it is gone, not ours any more or not allowed.

    ``root`` stands for the machine's in paths of /sys and /proc. Raises OSError where it can't be undone now.
    """
    return _ACTIONS[entry["action"]](entry, root)


def is_trusted(run_dir: Path) -> bool:
    """Whether this user should obey the journal in ``run_dir``: root only what nobody else could have written."""
    try:
        directory, journal = run_dir.lstat(), (run_dir / JOURNAL_NAME).lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(directory.st_mode) or not stat.S_ISREG(journal.st_mode):
        return False
    return os.geteuid() != 0 or not (_by_others(directory) or _by_others(journal))


def _by_others(status: os.stat_result) -> bool:
    """Whether anybody but root could have written it."""
    by_group = status.st_mode & stat.S_IWGRP and status.st_gid != 0
    return bool(status.st_uid != 0 or status.st_mode & stat.S_IWOTH or by_group)


def undo_pending(journal: Journal, run_dir: Path, root: Path = Path("/")) -> Iterator[Undone]:
    """Undo all that the journal of ``run_dir``, whose lock ``journal`` holds, has pending; yields what was undone.

    What can't be undone (a mount that hangs, missing rights) stays in the journal for a later start.
    """
    for entry in pending(read_journal(run_dir)):
        with contextlib.suppress(OSError):
            undone = undo_entry(entry, root)
            journal.append("undo-done", action=entry["action"], path=entry["path"], by="later start", undone=undone)
            if undone:
                yield Undone(run_dir, entry["action"], entry["path"], _SENTENCES[entry["action"]])


def undo_run(run_dir: Path, root: Path = Path("/")) -> list[Undone]:
    """Undo what one dead run left; nothing for a living one, and for one whose journal is not to be obeyed."""
    found: list[Undone] = []
    if not is_trusted(run_dir) or is_alive(run_dir) or not (run_dir / LOCK_NAME).exists():
        return found  # without a lock it is a copy of another machine's run, and stays as it is
    # Another start may get here first, or the directory is not ours to read or write.
    with contextlib.suppress(OSError):
        if pending(read_journal(run_dir)):
            with contextlib.closing(Journal(run_dir)) as journal:
                found.extend(undo_pending(journal, run_dir, root))
    return found


def undo_killed_runs(runs_root: Path, root: Path = Path("/")) -> Iterator[Undone]:
    """Undo what killed runs under ``runs_root`` left, one after the other."""
    for journal_path in sorted(runs_root.glob("*/" + JOURNAL_NAME)):
        yield from undo_run(journal_path.parent, root)


def remove_scratch(path: Path) -> bool:
    """Unlink one scratch file; True when there was one. Anything not named like our scratch is left alone.

    Raises OSError where it can't be removed; ETIMEDOUT where its file system does not answer.
    """
    if not path.is_absolute() or not path.name.startswith(SCRATCH_PREFIX):
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
    except (OSError, ValueError) as error:
        return getattr(error, "errno", None) or errno.EINVAL
    return 0


def _remove_file(entry: Entry, _root: Path) -> bool:
    return remove_scratch(Path(entry["path"]))


def _restore_text(entry: Entry, root: Path) -> bool:
    """Put a number back, while it still is the one that was set and the machine was not started anew."""
    numbers = entry.get("previous"), entry.get("value")
    if not all(isinstance(number, str) and _NUMBER.fullmatch(number) for number in numbers):
        return False
    boot_id = read_boot_id(root)
    if _KNOB_PATH.fullmatch(entry["path"]) is None or boot_id is None or entry.get("boot_id") != boot_id:
        return False
    place = absolute(root, entry["path"])
    if read_word(place) != numbers[1]:
        return False
    place.write_text(f"{numbers[0]}\n", encoding="ascii")
    return True


def _remove_cgroup(entry: Entry, root: Path) -> bool:
    """Remove an empty control group of ours; the kernel refuses one that holds a process."""
    parts = entry["path"].split("/")
    if _CGROUP_PATH.fullmatch(entry["path"]) is None or "." in parts or ".." in parts:
        return False
    place = absolute(root, entry["path"])
    if not place.is_dir():
        return False
    deadline = time.monotonic() + BUSY_LIMIT_S
    while not _removed(place):
        if time.monotonic() > deadline:
            raise OSError(errno.EBUSY, "a process is still in it")
        time.sleep(0.02)
    return True


def _removed(place: Path) -> bool:
    """False while it is busy."""
    try:
        place.rmdir()
    except OSError as error:
        if error.errno == errno.EBUSY:
            return False
        raise
    return True


_ACTIONS: dict[str, Callable[[Entry, Path], bool]] = {
    "remove_file": _remove_file,
    "restore_text": _restore_text,
    "remove_cgroup": _remove_cgroup,
}
