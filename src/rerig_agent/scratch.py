"""A scratch file of data that neither compresses nor deduplicates, written at the disk's own speed."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import struct
import threading
import time
from pathlib import Path
from typing import Callable

from .child import StopFlag, die_with_parent
from .facts.hung_guard import run_bounded
from .keystream import Keystream
from .undo import SCRATCH_PREFIX, remove_scratch

BLOCK_BYTES = 4 * 1024 * 1024
WRITERS = 2
ALIGNMENT_BYTES = 4096
RESERVE_BYTES = 256 * 1024 * 1024  # never fill a disk to its last byte
STALL_S = 120.0  # a disk that takes not one block for so long is called hung


class ScratchError(Exception):
    """The scratch file can't be made; the message is one sentence for the user."""


class ScratchLeft(ScratchError):
    """The half-written file could not be removed: what was journalled about it stays to be done."""


def free_bytes(directory: str) -> int:
    """Bytes that this user may still write to the file system of ``directory``."""
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize


def check_space(directory: str, size_bytes: int) -> None:
    """Raise :class:`ScratchError` when ``size_bytes`` and a reserve of 256 MiB do not fit into ``directory``."""
    try:
        free = free_bytes(directory)
    except OSError as error:
        raise ScratchError(f"The scratch directory can't be used: {error.strerror}.") from error
    if free < size_bytes + RESERVE_BYTES:
        needed = size_bytes + RESERVE_BYTES
        raise ScratchError(
            f"The scratch file of {size_bytes / 2**30:.2f} GiB needs {needed / 2**30:.2f} GiB of free space "
            f"and there is {free / 2**30:.2f} GiB; choose a smaller --size or another --scratch directory."
        )


class _Blocks:
    """Hands out (offset, length) of the file's blocks in order; safe for several writer threads."""

    def __init__(self, size_bytes: int, progress: _Progress) -> None:
        self._size = size_bytes
        self._next = 0
        self._lock = threading.Lock()
        self._progress = progress

    def take(self) -> tuple[int, int]:
        """The next block; length 0 at the end."""
        with self._lock:
            offset = self._next
            length = max(0, min(BLOCK_BYTES, self._size - offset))
            self._next += length
            self._progress.set(offset)
        return offset, length


class _Progress:
    """Bytes handed to the disk so far, in memory that the writing child shares with the agent."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, mmap.PAGESIZE)

    def set(self, done: int) -> None:
        """Called by the child: the file exists, and ``done`` bytes of it are on their way."""
        struct.pack_into("=q", self._shared, 0, done + 1)

    def get(self) -> int | None:
        """Called by the agent; None while there is no file yet."""
        value = int(struct.unpack_from("=q", self._shared, 0)[0])
        return value - 1 if value else None


class _Watch:
    """Hands progress on, and ends the waiting when the user asks to stop or the disk stands still."""

    def __init__(self, shared: _Progress, stop: StopFlag, progress: Callable[[int], None] | None) -> None:
        self._shared = shared
        self._stop = stop
        self._progress = progress
        self._last: int | None = None
        self._moved_s = time.monotonic()

    def tick(self) -> None:
        self._stop.check()
        done = self._shared.get()
        if done != self._last:
            self._last, self._moved_s = done, time.monotonic()
            if done is not None and self._progress is not None:
                self._progress(done)
        elif time.monotonic() - self._moved_s > STALL_S:
            raise ScratchError("The scratch file can't be written: its file system does not answer.")


def create_scratch(path: Path, size_bytes: int, stop: StopFlag, progress: Callable[[int], None] | None = None) -> None:
    """Write ``size_bytes`` (any number, also odd) to a new file and sync it; the caller has journalled the path.

    A child process writes, so that a file system that hangs does not hang the agent. ``progress`` gets the bytes handed
    to the disk so far. On any failure the file is removed.
    Raises :class:`ScratchError` (full, read-only or hung disk, no permission, name taken), :class:`ScratchLeft` where
    it could not be removed, or :class:`Stopped`.
    """
    if not path.name.startswith(SCRATCH_PREFIX):
        raise ValueError("a scratch file's name starts with " + SCRATCH_PREFIX)
    shared = _Progress()
    watch = _Watch(shared, stop, progress)
    try:
        answer = run_bounded(lambda: _write_file(path, size_bytes, shared), float("inf"), watch.tick)
        if answer.error is not None:  # killed, say: it could not clean up
            raise ScratchError(f"The scratch file can't be written: {answer.error}.")
    except BaseException:
        if shared.get() is not None:
            _remove_half(path)
        raise
    if answer.value is not None:
        raise ScratchError(answer.value)


def _remove_half(path: Path) -> None:
    try:
        remove_scratch(path)
    except OSError as error:
        raise ScratchLeft(
            f"The scratch file {path.name} can't be written, and half of it could not be removed: {error.strerror}."
        ) from error


def _write_file(path: Path, size_bytes: int, shared: _Progress) -> str | None:
    """The child's work; the sentence of its failure, or None. Only a file that it made itself is removed."""
    die_with_parent()
    try:
        check_space(str(path.parent), size_bytes)
    except ScratchError as error:
        return str(error)
    try:
        descriptor = _open_new(path)
    except OSError as error:
        return _sentence(error)
    try:
        shared.set(0)
        _write_all(descriptor, _Blocks(size_bytes, shared))
        os.ftruncate(descriptor, size_bytes)  # the padding of a last odd block goes
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        shared.set(size_bytes)
    except OSError as error:
        path.unlink()
        return _sentence(error)
    finally:
        os.close(descriptor)
    return None


def _open_new(path: Path) -> int:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    try:
        return os.open(str(path), flags | os.O_DIRECT, 0o600)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    # A file system without O_DIRECT creates the name and then refuses: open what is there now.
    return os.open(str(path), flags & ~os.O_EXCL, 0o600)


def _write_all(descriptor: int, blocks: _Blocks) -> None:
    failures: list[OSError] = []

    def write_blocks() -> None:
        buffer = mmap.mmap(-1, BLOCK_BYTES)  # page-aligned, as O_DIRECT wants it
        view = memoryview(buffer)
        stream = Keystream()
        try:
            while not failures:
                offset, length = blocks.take()
                if length == 0:
                    return
                stream.fill(buffer)
                _write_block(descriptor, view[: -(-length // ALIGNMENT_BYTES) * ALIGNMENT_BYTES], offset)
        except OSError as error:
            failures.append(error)

    writers = [threading.Thread(target=write_blocks) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    if failures:
        raise failures[0]


def _write_block(descriptor: int, block: memoryview, offset: int) -> None:
    while len(block):
        try:
            written = os.pwrite(descriptor, block, offset)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # This file system wants another alignment: go on through the page cache.
            fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~os.O_DIRECT)
            written = os.pwrite(descriptor, block, offset)
        block, offset = block[written:], offset + written
    if not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT:
        os.fdatasync(descriptor)  # else the last fsync would find it all in memory, and look hung


def _sentence(error: OSError) -> str:
    reasons = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "this user may not write there",
        errno.EPERM: "this user may not write there",
        errno.ENOENT: "the directory does not exist",
        errno.ENOTDIR: "it is not a directory",
        errno.EFBIG: "the file system can't hold a file of that size",
    }
    reason = reasons.get(error.errno or 0, error.strerror or str(error))
    return f"The scratch file can't be written: {reason}."
