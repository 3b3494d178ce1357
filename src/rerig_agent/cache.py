"""Page cache residency of a file, measured; and its eviction, measured as well."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat
from typing import Any, Callable

from .facts.file_facts import may_ask_residency
from .facts.hung_guard import run_bounded
from .facts.page_cache import CallFailed, cachestat_pages, file_system_magic, mincore_pages

__all__ = ["LIMIT_S", "evict", "residency", "unknown_residency"]

LIMIT_S = 60.0
"""Dropping 100 GB of pages takes seconds; a dead server takes for ever."""

# Files of these keep no pages of their own, so that cachestat says 0: overlay, aufs, FUSE (with passthrough).
_PAGES_ELSEWHERE = (0x794C7630, 0x61756673, 0x65735546)

_NOT_TOLD = "the kernel tells only owners and writers of a file which of its pages are cached"


def residency(path: str, limit_s: float = LIMIT_S, tick: Callable[[], None] | None = None) -> dict[str, Any]:
    """{"method": "cachestat" | "mincore" | None, "resident_bytes": int | None, "file_bytes": int, "reason": str | None}

    `reason` says why nothing is known (method None); a mount that hangs for over `limit_s` is a reason. Raises only
    what `tick` raises, which is called while the file does not answer.
    """
    return _bounded(lambda: _measure(path, drop=False), limit_s, tick)


def evict(path: str, limit_s: float = LIMIT_S, tick: Callable[[], None] | None = None) -> dict[str, Any]:
    """Ask the kernel to drop the file's pages, then measure: the same dict as :func:`residency`, of afterwards.

    Dirty pages are written back first, or they would stay. Pages that some process has mapped and touched stay anyway
    (mm/truncate.c, mapping_evict_folio): the answer shows it, so never take the drop itself for proof.
    """
    return _bounded(lambda: _measure(path, drop=True), limit_s, tick)


def unknown_residency(reason: str, file_bytes: int = 0) -> dict[str, Any]:
    """The dict for a file whose pages can't be counted."""
    return {"method": None, "resident_bytes": None, "file_bytes": file_bytes, "reason": reason}


def _bounded(measure: Callable[[], dict[str, Any]], limit_s: float, tick: Callable[[], None] | None) -> dict[str, Any]:
    answer = run_bounded(measure, limit_s, tick)
    if answer.timed_out:
        left = "; a process that waits for it can't be killed" if answer.left_running else ""
        return unknown_residency(f"the file did not answer within {limit_s:g} seconds{left}")
    result: dict[str, Any] = answer.value or unknown_residency(answer.error or "the child process failed")
    return result


def _measure(path: str, drop: bool) -> dict[str, Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        return unknown_residency(f"the file can't be opened: {getattr(error, 'strerror', None) or error}")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return unknown_residency("only regular files have pages that can be counted")
        if drop:
            with contextlib.suppress(OSError):  # what can't be written back shows in the measurement
                os.fdatasync(descriptor)
            with contextlib.suppress(OSError):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return _count(path, descriptor, status)
    finally:
        os.close(descriptor)


def _count(path: str, descriptor: int, status: os.stat_result) -> dict[str, Any]:
    size = status.st_size
    reason = "the kernel counts no pages of this file"
    if file_system_magic(descriptor) not in _PAGES_ELSEWHERE:
        try:
            return _known("cachestat", cachestat_pages(descriptor), size)
        except CallFailed as error:
            # A container's filter may forbid the call with EPERM, so that is no proof about the file.
            if error.errno not in (errno.ENOSYS, errno.EPERM, errno.EACCES):
                reason = error.strerror or reason
    if not may_ask_residency(path, status.st_uid):
        return unknown_residency(_NOT_TOLD, size)
    try:
        return _known("mincore", mincore_pages(descriptor, size), size)
    except CallFailed as error:
        return unknown_residency(error.strerror or reason, size)


def _known(method: str, pages: int, size: int) -> dict[str, Any]:
    # The last page may be a partial one.
    return {"method": method, "resident_bytes": min(pages * mmap.PAGESIZE, size), "file_bytes": size, "reason": None}
