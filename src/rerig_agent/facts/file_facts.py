"""What the kernel says about one path: kind, size, holes, alignment of direct reads, and the mount that holds it.

Everything here can block on a dead network mount. Call it through :func:`rerig_agent.facts.hung_guard.run_bounded`.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import struct
from pathlib import Path
from typing import Any

from .sysfs import read_text

__all__ = ["may_ask_residency", "probe_file", "probe_paths"]

# include/uapi/linux/fiemap.h
_FS_IOC_FIEMAP = 0xC020660B
_FIEMAP_EXTENT_ENCODED = 0x8
_FIEMAP_EXTENT_DATA_ENCRYPTED = 0x80  # sets ENCODED too, and takes as many bytes as the plain data
_EXTENTS_LOOKED_AT = 256
# include/uapi/linux/stat.h
_AT_EMPTY_PATH = 0x1000
_STATX_DIOALIGN = 0x2000
_HOLES_COUNTED = 256
_CAP_FOWNER = 3


def probe_file(path: str) -> dict[str, Any]:
    """Facts of `path` as JSON data; what isn't known is None.

    kind, errno, real_path, size_bytes, allocated_bytes, dev ("major:minor"), mount_id, modified_ns, owner_or_writable,
    direct_alignment_bytes (0: the file system takes no direct reads), hole_bytes (a lower bound), encoded (some extents
    are stored compressed).

    Kinds are those of the target evidence but "hung". A regular file is opened for reading, never written.
    """
    facts: dict[str, Any] = {
        "kind": "unreadable",
        "errno": None,
        "real_path": None,
        "size_bytes": None,
        "allocated_bytes": None,
        "modified_ns": None,
        "dev": None,
        "mount_id": None,
        "owner_or_writable": False,
        "direct_alignment_bytes": None,
        "hole_bytes": None,
        "encoded": None,
    }
    try:
        _look_at(path, facts)
    except OSError as error:
        facts["errno"] = error.errno
    except ValueError:  # a NUL byte: no file can have such a name
        facts.update(kind="missing", errno=errno.EINVAL)
    return facts


def _look_at(path: str, facts: dict[str, Any]) -> None:
    try:
        is_link = stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            facts["kind"] = "missing"
        raise
    try:
        status = os.stat(path)  # noqa: PTH116 - a Path would turn "" into "."
    except OSError as error:
        if is_link and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            facts["kind"] = "dangling_link"
        raise
    facts.update(
        kind=_kind(status.st_mode),
        real_path=os.path.realpath(path),
        size_bytes=status.st_size,
        allocated_bytes=status.st_blocks * 512,
        modified_ns=status.st_mtime_ns,
        dev=f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}",
    )
    facts["owner_or_writable"] = may_ask_residency(path, status.st_uid)
    if facts["kind"] not in ("file", "directory"):
        return  # opening a FIFO or a device can block or act
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        if facts["kind"] == "file":
            facts["kind"] = "unreadable"
        raise
    try:
        facts["mount_id"] = _mount_id(descriptor)
        if facts["kind"] == "file":
            facts["direct_alignment_bytes"] = _direct_alignment_bytes(descriptor)
            facts["hole_bytes"] = _hole_bytes(descriptor, status.st_size)
            facts["encoded"] = _is_encoded(descriptor)
    finally:
        os.close(descriptor)


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISFIFO, "fifo"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISBLK, "block_device"),
        (stat.S_ISCHR, "char_device"),
    )
    return next((name for test, name in kinds if test(mode)), "unreadable")


def may_ask_residency(path: str, owner: int) -> bool:
    """Whether the kernel tells this process the truth about the file's pages (mm/mincore.c, can_do_mincore).

    To all others it says "resident" since Linux 5.2: the file must be our own or writable for us.
    """
    if os.geteuid() == owner or os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return True
    # CAP_FOWNER counts for owners that our user namespace knows; unknown ones show up as 65534.
    return owner != 65534 and _has_capability(_CAP_FOWNER)


def _has_capability(number: int) -> bool:
    for line in (read_text(Path("/proc/self/status")) or "").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> number & 1)
    return False


def _mount_id(descriptor: int) -> int | None:
    """The id that /proc/self/mountinfo uses: the one sure way from a file to its mount (Linux 3.15)."""
    for line in (read_text(Path(f"/proc/self/fdinfo/{descriptor}")) or "").splitlines():
        if line.startswith("mnt_id:"):
            return int(line.split()[1])
    return None


def _direct_alignment_bytes(descriptor: int) -> int | None:
    """stx_dio_offset_align of statx(2), where kernel (6.1), C library and file system have it."""
    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None:
        return None
    answer = ctypes.create_string_buffer(256)
    if statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_DIOALIGN, answer) != 0:
        return None
    if not struct.unpack_from("=I", answer, 0)[0] & _STATX_DIOALIGN:
        return None
    return int(struct.unpack_from("=I", answer, 156)[0])


def _hole_bytes(descriptor: int, size_bytes: int) -> int | None:
    """Bytes in the first holes of the file. Blocks that were allocated but never written count: they read as zeros."""
    position = holes = 0
    try:
        for _ in range(_HOLES_COUNTED):
            if position >= size_bytes:
                break
            try:
                data = os.lseek(descriptor, position, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                data = size_bytes  # nothing but a hole up to the end
            holes += data - position
            if data >= size_bytes:
                break
            position = os.lseek(descriptor, data, os.SEEK_HOLE)
    except OSError:
        return None
    return holes


def _is_encoded(descriptor: int) -> bool | None:
    """Whether the first extents are compressed: btrfs keeps a file compressed after the mount option has gone."""
    request = bytearray(32 + 56 * _EXTENTS_LOOKED_AT)
    struct.pack_into("=QQIIII", request, 0, 0, 0xFFFFFFFFFFFFFFFF, 0, 0, _EXTENTS_LOOKED_AT, 0)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_FIEMAP, request)
    except OSError:
        return None
    mapped = struct.unpack_from("=I", request, 20)[0]
    flags = (struct.unpack_from("=I", request, 32 + 56 * i + 40)[0] for i in range(mapped))
    both = _FIEMAP_EXTENT_ENCODED | _FIEMAP_EXTENT_DATA_ENCRYPTED
    return any(flag & both == _FIEMAP_EXTENT_ENCODED for flag in flags)


def probe_paths(paths: list[str]) -> list[dict[str, Any] | None]:
    """For every path {"kind", "size_bytes", "modified_ns", "real_path"}, links not followed; None if it isn't there."""
    found: list[dict[str, Any] | None] = []
    for path in paths:
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            found.append(None)
            continue
        found.append(
            {
                "kind": _kind(status.st_mode),
                "size_bytes": status.st_size,
                "modified_ns": status.st_mtime_ns,
                "real_path": os.path.realpath(path),
            }
        )
    return found
