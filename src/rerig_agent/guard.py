"""The one door to the machine: all that a run makes or changes outside its directory, for as long as it is needed.

Journalled before it is done, undone in any case at the end of the ``with`` block, and by the next start if the agent
was killed (:mod:`rerig_agent.undo`; both undo by the same code).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

from . import cache
from .child import StopFlag, Stopped
from .facts.sysfs import absolute
from .identity import read_boot_id
from .journal import Journal
from .knobs import Knob, KnobError, KnobLeft, find_read_ahead, no_read_ahead, number_for_read_ahead
from .scratch import ScratchError, ScratchLeft, create_scratch
from .undo import CGROUP_PREFIX, Entry, undo_entry

Emit = Callable[..., None]


class Guard:
    """Holds what one session changes. ``root`` stands for the machine's in paths of /sys and /proc."""

    def __init__(self, journal: Journal, emit: Emit, root: Path = Path("/")) -> None:
        self._journal = journal
        self._emit = emit
        self._root = root

    @contextmanager
    def scratch_file(
        self, path: Path, size_bytes: int, stop: StopFlag, progress: Callable[[int], None] | None = None
    ) -> Iterator[Path]:
        """A new file of ``size_bytes`` at ``path``. Raises as :func:`rerig_agent.scratch.create_scratch`."""
        entry = {"action": "remove_file", "path": os.fspath(path)}
        with self._held(entry, lambda: create_scratch(path, size_bytes, stop, progress)):
            yield path

    @contextmanager
    def read_ahead(self, evidence: dict[str, Any], read_ahead_kb: int) -> Iterator[Knob]:
        """The read-ahead of the file that ``evidence`` is about. Raises KnobError where it can't be set."""
        path = find_read_ahead(evidence, self._root)
        if path is None:
            raise no_read_ahead(str(evidence.get("path")))
        knob, value = Knob(path, self._root), number_for_read_ahead(read_ahead_kb)
        previous = knob.read()
        if previous is None:
            raise no_read_ahead(str(evidence.get("path")))
        if previous == value:  # nothing to change, so nothing to put back
            yield knob
            return
        entry = {
            "action": "restore_text",
            "path": path,
            "previous": previous,
            "value": value,
            "boot_id": read_boot_id(self._root),
        }
        with self._held(entry, lambda: knob.set(value, previous)):
            yield knob

    @contextmanager
    def cgroup(self, parent: str, name: str) -> Iterator[Path]:
        """A control group of ours below ``parent``, a directory under /sys/fs/cgroup (version 1 or 2).

        ``name`` is put behind ``rerig-``. Its processes must have ended before the block does. Raises OSError.
        """
        path = f"{parent.rstrip('/')}/{CGROUP_PREFIX}{name}"
        place = absolute(self._root, path)
        with self._held({"action": "remove_cgroup", "path": path}, place.mkdir):
            yield place

    def evict(self, path: str, limit_s: float, tick: Callable[[], None]) -> dict[str, Any]:
        """:func:`rerig_agent.cache.evict`; how much was in memory is journalled, as nothing can put it back."""
        resident_bytes = cache.residency(path, limit_s, tick)["resident_bytes"]
        self._journal.append("undo-add", action="evicted", path=path, resident_bytes=resident_bytes)
        return cache.evict(path, limit_s, tick)

    @contextmanager
    def _held(self, entry: Entry, make: Callable[[], object]) -> Iterator[None]:
        self._journal.append("undo-add", **entry)
        try:
            make()
        except (ScratchLeft, KnobLeft):
            raise  # it stays to be done
        except (ScratchError, KnobError, Stopped, OSError):
            self._done(entry, undone=False)  # nothing is there: what was begun has been taken back
            raise
        try:
            yield
        finally:
            self._undo(entry)

    def _undo(self, entry: Entry) -> None:
        try:
            undone = undo_entry(entry, self._root)
        except OSError as error:
            # It stays in the journal, so that a later start tries again.
            self._emit(
                "scratch-left" if entry["action"] == "remove_file" else "undo-left",
                sentence=_left_sentence(entry, error),
            )
        else:
            self._done(entry, undone)

    def _done(self, entry: Entry, undone: bool) -> None:
        self._journal.append("undo-done", action=entry["action"], path=entry["path"], by="same run", undone=undone)


def _left_sentence(entry: Entry, error: OSError) -> str:
    name = Path(entry["path"]).name
    words = {
        "remove_file": f"The scratch file {name} could not be removed",
        "restore_text": f"The read-ahead could not be put back to {entry.get('previous')} KiB",
        "remove_cgroup": f"The control group {name} could not be removed",
    }
    return f"{words[entry['action']]}: {error.strerror}."
