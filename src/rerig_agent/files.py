"""Small files of a run: written whole or not at all, and brought to the disk."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO


def write_json(path: Path, data: Any) -> None:
    """Write ``data`` as JSON beside ``path`` and rename it there; ASCII only, so that any file name survives.

    Raises OSError (the disk is full, say), and leaves nothing half-written then.
    """
    temporary = path.with_name(path.name + ".new")
    try:
        with temporary.open("w", encoding="ascii") as file:
            json.dump(data, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync(path.parent)


def open_plain(path: Path) -> BinaryIO:
    """A regular file, to be read; never through a link, and never waiting for a pipe. Raises OSError."""
    descriptor = os.open(str(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "Not a regular file", str(path))


def read_plain(path: Path) -> bytes:
    """All bytes of a regular file, opened by :func:`open_plain`."""
    with open_plain(path) as file:
        return file.read()


def sync_directory(directory: Path) -> None:
    """Bring a directory, and the plain files right in it, to the disk: a power cut later loses none of them."""
    with os.scandir(str(directory)) as entries:
        plain = [Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)]
    for path in [*plain, directory]:
        _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(str(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # what some file systems (SMB) say about a directory
            raise
    finally:
        os.close(descriptor)
