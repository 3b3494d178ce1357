"""The directory in which runs lie side by side: whoever begins one there waits for others who do."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from typing import Iterator

LIMIT_S = 30.0
# NFS locks no directories.
_NO_SUCH_LOCK = (errno.EBADF, errno.ENOLCK, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)


def sync_names(directory: Path) -> None:
    """Bring the names in a directory to the disk, where its file system can."""
    descriptor = os.open(str(directory), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def one_at_a_time(directory: Path) -> Iterator[None]:
    """One start at a time in ``directory``; it is the directory itself that is locked, so nothing is left in it."""
    descriptor = os.open(str(directory), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + LIMIT_S
        while not _taken(descriptor) and time.monotonic() < deadline:  # then the runs' own locks must do
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_SUCH_LOCK
    return True
