"""How many pages of an open file are in the page cache: cachestat(2) and mincore(2) through ctypes."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os

__all__ = ["CallFailed", "cachestat_pages", "file_system_magic", "mincore_pages"]

# One number on every architecture but Alpha (Linux 6.5).
_SYS_CACHESTAT = 451
_WINDOW_BYTES = 256 * 1024 * 1024  # fits into the address space of a 32-bit board
_RESIDENT = bytes(byte & 1 for byte in range(256))
_MAP_FAILED = ctypes.c_void_p(-1).value

_LIBC = ctypes.CDLL(None, use_errno=True)
# With a 64-bit offset also where off_t has 32 bits; musl has only the one.
_MMAP = getattr(_LIBC, "mmap64", None) or _LIBC.mmap
_MMAP.restype = ctypes.c_void_p
_MMAP.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
_LIBC.fstatfs.argtypes = [ctypes.c_int, ctypes.c_char_p]


class CallFailed(OSError):
    """The kernel refused the call; `errno` says why (ENOSYS: it doesn't have it)."""


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Counts(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


def _fail(call: str) -> CallFailed:
    number = ctypes.get_errno()
    return CallFailed(number, f"{call}: {os.strerror(number)}")


def cachestat_pages(descriptor: int) -> int:
    """Pages of the file in the cache. Raises :class:`CallFailed`: ENOSYS before Linux 6.5, EPERM for others' files.

    An overlay file's pages belong to the file below it, so that the answer is always 0 there (tried on Linux 6.18).
    """
    everything, counts = _Range(0, 0), _Counts()  # length 0: to the end
    result = _LIBC.syscall(
        ctypes.c_long(_SYS_CACHESTAT),
        ctypes.c_long(descriptor),
        ctypes.byref(everything),
        ctypes.byref(counts),
        ctypes.c_long(0),
    )
    if result != 0:
        raise _fail("cachestat")
    return int(counts.cached)


def mincore_pages(descriptor: int, size_bytes: int) -> int:
    """Pages of the file in the cache, through mappings that are never touched. Raises :class:`CallFailed`.

    The kernel answers "all" to whoever neither owns the file nor may write it: ask only for other files.
    """
    pages = 0
    for offset in range(0, size_bytes, _WINDOW_BYTES):
        length = min(_WINDOW_BYTES, size_bytes - offset)
        address = _MMAP(None, length, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, offset)
        if address in (None, _MAP_FAILED):
            raise _fail("mmap")
        try:
            vector = ctypes.create_string_buffer(-(-length // mmap.PAGESIZE))
            while _LIBC.mincore(address, length, vector) != 0:
                if ctypes.get_errno() != errno.EAGAIN:
                    raise _fail("mincore")
            pages += vector.raw.translate(_RESIDENT).count(1)
        finally:
            _LIBC.munmap(address, length)
    return pages


def file_system_magic(descriptor: int) -> int | None:
    """f_type of statfs(2), the number of the file system's kind (include/uapi/linux/magic.h)."""
    answer = ctypes.create_string_buffer(512)
    if _LIBC.fstatfs(descriptor, answer) != 0:
        return None
    return ctypes.c_long.from_buffer(answer).value & 0xFFFFFFFF
