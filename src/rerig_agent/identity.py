"""Who this agent is: its archive, its process and the boot that it lives in; told from others in the same place."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .facts.sysfs import absolute, read_text, read_word

__all__ = ["own_archive_sha256", "read_boot_id", "read_pid_start"]

_START_FIELD = 22  # of /proc/PID/stat, counted from 1 (proc_pid_stat(5))


def own_archive_sha256() -> str | None:
    """SHA-256 of the zip archive that this agent runs from; None when it runs from files, or the archive is gone."""
    archive = getattr(globals().get("__loader__"), "archive", None)
    if not isinstance(archive, str):
        return None
    try:
        return hashlib.sha256(Path(archive).read_bytes()).hexdigest()
    except OSError:
        return None


def read_pid_start(pid: int, root: Path = Path("/")) -> int | None:
    """When a process began, in clock ticks since boot: with the PID it names one process of this boot.

    None: it has ended, whether or not its parent has noticed.
    """
    text = read_text(absolute(root, f"/proc/{pid}/stat")) or ""
    # The second field, the name, may hold blanks and brackets itself.
    fields = text.rpartition(")")[2].split()
    if fields[:1] in (["Z"], ["X"]):
        return None
    try:
        return int(fields[_START_FIELD - 3])
    except (IndexError, ValueError):
        return None


def read_boot_id(root: Path = Path("/")) -> str | None:
    """The kernel's name of this boot, or None."""
    return read_word(absolute(root, "/proc/sys/kernel/random/boot_id"))
