"""Reads one value of /proc or /sys at a time; what can't be read is None, because half of these files are optional."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["absolute", "names_in", "read_number", "read_text", "read_word", "real_directory"]


def absolute(root: Path, path: str) -> Path:
    """`path` (absolute) below `root`: "/sys/class" under /tmp/fake is /tmp/fake/sys/class."""
    return root / path.lstrip("/")


def read_text(path: Path) -> str | None:
    """The whole file, or None. Bytes that are not UTF-8 survive as surrogates, as in Python's own file names.

    A read of /sys can fail with EINVAL (the speed of a link that is down), so every OSError counts as "not there".
    """
    try:
        # Read as bytes: universal newlines would change a path that holds a carriage return.
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None


def read_word(path: Path) -> str | None:
    """The file's text without surrounding white space; None if it is missing or empty."""
    text = read_text(path)
    return text.strip() or None if text is not None else None


def read_number(path: Path) -> int | None:
    """The file's decimal number, or None."""
    word = read_word(path)
    try:
        return int(word) if word is not None else None
    except ValueError:
        return None


def names_in(path: Path) -> list[str]:
    """Sorted names in a directory; empty if it can't be listed."""
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - only the names are wanted, as they are
    except (OSError, ValueError):
        return []


def real_directory(path: Path) -> Path | None:
    """Where the symlinks of /sys/class lead to, or None if that is no directory."""
    real = Path(os.path.realpath(str(path)))
    return real if real.is_dir() else None
