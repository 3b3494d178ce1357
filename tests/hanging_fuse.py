"""A FUSE file system of one file whose daemon stops answering: what a dead server looks like, without a network."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import threading
from pathlib import Path
from types import TracebackType

FILE_NAME = "m.gguf"
_FILE_NODE = 2
_MNT_DETACH = 2
_LOOKUP, _FORGET, _GETATTR, _OPEN, _READ, _STATFS, _RELEASE = 1, 2, 3, 14, 15, 17, 18
_FLUSH, _INIT, _OPENDIR, _RELEASEDIR, _INTERRUPT, _BATCH_FORGET, _FSYNC = 25, 26, 27, 29, 36, 42, 20


class HangingFuse:
    """Serves ``point/m.gguf`` of ``size_bytes`` zero-free bytes until ``answered_bytes`` of it were read, then no more.

    A reader whose request the daemon has taken can't be killed before :meth:`close`, which ends all waiting.
    """

    def __init__(self, point: Path, size_bytes: int, answered_bytes: int) -> None:
        self.path = point / FILE_NAME
        self._point = point
        self._size = size_bytes
        self._left = answered_bytes
        self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self._libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other"
        if self._libc.mount(b"hanging", os.fsencode(point), b"fuse", 0, options.encode()) != 0:
            os.close(self._device)
            raise OSError(ctypes.get_errno(), "mount")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> HangingFuse:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unmount; what waits gets an error."""
        self._libc.umount2(os.fsencode(self._point), _MNT_DETACH | 1)  # MNT_FORCE ends the waiting
        self._thread.join()
        os.close(self._device)

    def _serve(self) -> None:
        while True:
            try:
                request = os.read(self._device, 1 << 21)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return  # ENODEV: unmounted
            opcode, unique, node = struct.unpack_from("=IQQ", request, 4)
            if opcode in (_FORGET, _BATCH_FORGET, _INTERRUPT):
                continue
            answer = self._answer(opcode, node, request[40:])
            if answer is None:
                continue
            body = b"" if isinstance(answer, int) else answer
            head = struct.pack("=IiQ", 16 + len(body), answer if isinstance(answer, int) else 0, unique)
            try:
                os.write(self._device, head + body)
            except OSError:
                continue  # its reader was killed meanwhile

    def _answer(self, opcode: int, node: int, body: bytes) -> bytes | int | None:
        """The answer's bytes, a negative errno, or None for no answer at all."""
        if opcode == _INIT:
            return struct.pack("=IIIIHHIIHHI28x", 7, 31, 1 << 17, 0, 8, 6, 1 << 17, 1, 32, 0, 0)
        if opcode == _LOOKUP:
            if body.rstrip(b"\0") != FILE_NAME.encode():
                return -errno.ENOENT
            return struct.pack("=QQQQII", _FILE_NODE, 0, 0, 0, 0, 0) + self._attributes(_FILE_NODE)
        if opcode == _GETATTR:
            return struct.pack("=QII", 0, 0, 0) + self._attributes(node)
        if opcode in (_OPEN, _OPENDIR):
            return struct.pack("=QII", 1, 0, 0)
        if opcode == _READ:
            _handle, offset, length = struct.unpack_from("=QQI", body)
            self._left -= length
            if self._left < 0:
                return None
            return b"\xa5" * max(0, min(length, self._size - offset))
        if opcode == _STATFS:
            return struct.pack("=QQQQQIIII24x", 1 << 20, 1 << 19, 1 << 19, 1000, 500, 4096, 255, 4096, 0)
        return 0 if opcode in (_FLUSH, _RELEASE, _RELEASEDIR, _FSYNC) else -errno.ENOSYS

    def _attributes(self, node: int) -> bytes:
        is_file = node == _FILE_NODE
        size = self._size if is_file else 0
        mode = 0o100444 if is_file else 0o040755
        return struct.pack(
            "=QQQQQQIIIIIIIIII", node, size, -(-size // 512), 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0
        )
