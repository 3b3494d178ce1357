"""Numbers of the kernel that a case may ask for, set with proof: the read-ahead of the file's own device."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import Any

from .facts.device_chain import pool_read_ahead_path
from .facts.sysfs import absolute, read_number, read_word
from .judge.known_evidence import shown_name

__all__ = ["Knob", "KnobError", "KnobLeft", "find_read_ahead", "no_read_ahead", "number_for_read_ahead"]


class KnobError(Exception):
    """The number can't be set, and was not; the message is one sentence for the user."""


class KnobLeft(KnobError):
    """The number was changed and could not be put back: what was journalled about it stays to be done."""


class Knob:
    """One number in /sys. ``path`` is the machine's, ``root`` stands before it."""

    def __init__(self, path: str, root: Path) -> None:
        self.path = path
        self._place = absolute(root, path)

    def read(self) -> str | None:
        """The number as text, or None."""
        return read_word(self._place)

    def read_number(self) -> int | None:
        """The number, or None."""
        return read_number(self._place)

    def set(self, value: str, previous: str) -> None:
        """Write ``value`` and read it back; on any failure ``previous`` is put back and KnobError raised."""
        try:
            self._place.write_text(f"{value}\n", encoding="ascii")
            now = self.read()
        except OSError as error:
            raise KnobError(f"The read-ahead can't be set: {_reason(error)}.") from error
        if now != value:
            self._put_back(previous)
            raise KnobError(f"The read-ahead can't be set: the kernel made {now} KiB of {value} KiB.")

    def _put_back(self, previous: str) -> None:
        try:
            self._place.write_text(f"{previous}\n", encoding="ascii")
        except OSError as error:
            raise KnobLeft(f"The read-ahead was {previous} KiB and can't be put back: {_reason(error)}.") from error


def find_read_ahead(evidence: dict[str, Any], root: Path = Path("/")) -> str | None:
    """The path of the read-ahead that the kernel takes for this file: its file system's own (NFS, FUSE, btrfs), else
    that of the first device below it; None where the kernel shows neither. ``evidence``: of a target.
    """
    mounts = [evidence.get("mount"), *(evidence.get("data_mounts") or [])]
    # Above an overlay's layer there is no read-ahead; below a loop device it is another one.
    holder = next((mount for mount in mounts if isinstance(mount, dict) and mount.get("fs_type") != "overlay"), None)
    places = [] if holder is None else [f"/sys/class/bdi/{holder.get('dev')}/read_ahead_kb"]
    chain = evidence.get("block_chain") or []
    if chain:
        pool = pool_read_ahead_path(chain[0]["name"], root)
        if pool is not None:  # bdi is a link to the entry in the class
            places.append(f"/sys/class/bdi/{Path(os.path.realpath(str(pool.parent))).name}/read_ahead_kb")
        disk = chain[0].get("partition_of") or chain[0]["name"]
        dev = next((device["dev"] for device in chain if device["name"] == disk), None)
        places += [f"/sys/class/bdi/{dev}/read_ahead_kb", f"/sys/block/{disk}/queue/read_ahead_kb"]
    return next((place for place in places if read_number(absolute(root, place)) is not None), None)


def number_for_read_ahead(read_ahead_kb: int) -> str:
    """The text to write. Raises KnobError for what the kernel would round: it keeps whole pages."""
    page_kb = mmap.PAGESIZE // 1024
    if read_ahead_kb % page_kb:
        raise KnobError(
            f"The read-ahead can't be set to {read_ahead_kb} KiB: this machine's pages are of {page_kb} KiB each, "
            "and it keeps whole pages."
        )
    return str(read_ahead_kb)


def no_read_ahead(path: str) -> KnobError:
    """The error for a file whose read-ahead the kernel does not show."""
    return KnobError(f"The read-ahead of {shown_name(path)} can't be set: the kernel shows none for its file system.")


def _reason(error: OSError) -> str:
    reasons = {
        errno.EACCES: "only root may",
        errno.EPERM: "only root may",
        errno.EROFS: "/sys is read-only here, as in a container",
    }
    return reasons.get(error.errno or 0, error.strerror or str(error))
