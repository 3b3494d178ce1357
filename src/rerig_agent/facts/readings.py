"""One small file as evidence: what it holds, or why it can't be read. That root would see more is evidence too."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

LIMIT = 64 * 1024
MOST_LINKS = 40  # as the kernel


def read_reading(root: Path, path: str) -> dict[str, str]:
    """{"text"} of at most 64 KiB (bytes that aren't UTF-8 as surrogates), or {"error"}."""
    found = _read(root, path)
    return found if isinstance(found, dict) else {"text": found.decode("utf-8", "surrogateescape")}


def read_hex(root: Path, path: str) -> dict[str, str]:
    """{"hex"}: a binary file's bytes, at most 64 KiB; or {"error"}."""
    found = _read(root, path)
    return found if isinstance(found, dict) else {"hex": found.hex()}


def read_link(root: Path, path: str) -> dict[str, str]:
    """{"text"}: what a link names; {"error"}: "missing", or "unreadable" for what is no link."""
    try:
        return {"text": os.readlink(within(root, path, last=False))}
    except OSError as error:
        return _error(error)


def within(root: Path, path: str, last: bool = True) -> Path:
    """``path`` with its links followed inside ``root``, as if that was /; ``last``: also the last part's."""
    if root == Path("/"):
        return Path(path)
    done, left, links = Path("/"), [part for part in path.split("/") if part], 0
    while left:
        part = left.pop(0)
        if part == "..":
            done = done.parent
            continue
        here = root / str(done / part).lstrip("/")
        if (left or last) and here.is_symlink():
            links += 1
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            target = os.readlink(here)
            left = [word for word in target.split("/") if word not in ("", ".")] + left
            done = Path("/") if target.startswith("/") else done
            continue
        done = done / part
    return root / str(done).lstrip("/")


def _read(root: Path, path: str) -> Any:
    try:
        # O_NONBLOCK: a pipe in a file's place must not hold the reader up.
        with open(os.open(within(root, path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
            return file.read(LIMIT)
    except (OSError, ValueError) as error:
        return _error(error)


def _error(error: Exception) -> dict[str, str]:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.EACCES, errno.EPERM):
        return {"error": "denied"}
    return {"error": "missing" if number in (errno.ENOENT, errno.ENOTDIR) else "unreadable"}
