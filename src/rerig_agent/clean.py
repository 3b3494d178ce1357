"""Removes runs from this machine, after what they left elsewhere was undone; never one that goes on."""

from __future__ import annotations

import contextlib
import shutil
import stat
from pathlib import Path

from .exits import EXIT_IO_ERROR, Refused, complain, explain
from .journal import JOURNAL_NAME, LOCK_NAME, Journal, read_journal
from .shell_words import shell_word
from .status import PLAN_NAME, look
from .undo import Entry, is_trusted, pending, undo_entry

_LAST = (JOURNAL_NAME, PLAN_NAME, LOCK_NAME)  # what is left of a removal that was killed is still a run


def clean(run_dirs: list[Path]) -> int:
    """Remove each run; the exit status of the first that can't be, with a sentence for each of those."""
    status = 0
    for run_dir in run_dirs:
        try:
            _clean(run_dir)
            print(f"removed {shell_word(str(run_dir))}", flush=True)
        except (Refused, OSError) as error:  # noqa: PERF203 - one that can't be removed stops no other
            own, sentence = explain(error)
            complain(sentence)
            status = status or own
    return status


def _clean(run_dir: Path) -> None:
    if run_dir.is_symlink():
        raise Refused(f"{shell_word(str(run_dir))} is a link; nothing is removed through links.")
    found = look(run_dir)
    if found.running:
        raise Refused(f"The run {found.run_id} goes on; stop it first.")
    try:
        journal = Journal(run_dir)
    except BlockingIOError:
        raise Refused(f"The run {found.run_id} goes on; stop it first.") from None
    with contextlib.closing(journal):
        _undo(run_dir)
        _remove(run_dir)


def _undo(run_dir: Path) -> None:
    """Without the journal nobody could undo it later. Nothing is journalled: the disk may be full."""
    left = pending(read_journal(run_dir))
    if left and is_trusted(run_dir):
        left = [entry for entry in left if not _undone(entry)]
    if left:
        names = ", ".join(sorted({shell_word(Path(entry["path"]).name) for entry in left}))
        raise Refused(f"The run is kept, since what it left can't be undone now: {names}.", EXIT_IO_ERROR)


def _undone(entry: Entry) -> bool:
    try:
        undo_entry(entry)
    except OSError:
        return False
    return True


def _remove(run_dir: Path) -> None:
    entries = sorted(run_dir.iterdir(), key=lambda path: (path.name in _LAST, path.name))
    for path in entries:
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(str(path))  # which follows no links
        else:
            path.unlink()
    run_dir.rmdir()
