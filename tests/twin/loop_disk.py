"""A disk for containers: a file behind a loop device, with its partitions and a rate that is known."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import subprocess
import time
from pathlib import Path

from twin.control_groups import ControlGroups, device_number
from twin.errors import TwinError
from twin.tools import need

CONTROL = Path("/dev/loop-control")
# From the kernel's linux/loop.h.
GET_FREE = 0x4C82
CONFIGURE = 0x4C0A
AUTOCLEAR, PARTSCAN, DIRECT_IO = 4, 8, 16
CONFIG = struct.Struct("=II 5Q 4I 64s 64s 32s 2Q 8Q")
CLOSE_LIMIT_S = 30.0


class LoopDisk:
    """``path`` as a block device until ``close``, or until this process dies, however it does.

    The file is made, sparse, where it isn't there. ``device`` is the node here, and in the container it is given to.
    """

    def __init__(self, path: Path, bytes: int = 0) -> None:
        need("partx")
        if not path.exists():
            with path.open("wb") as file:
                file.truncate(bytes)
        self.path = path
        self._groups: ControlGroups | None = None
        self._held, self.device = _attach(path)
        self.number = device_number(self.device)
        self.read_partitions()

    def __enter__(self) -> LoopDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def nodes(self) -> list[Path]:
        """The device and its partitions, as they are now."""
        return [self.device, *sorted(self.device.parent.glob(f"{self.device.name}p*"))]

    def read_partitions(self) -> None:
        """Tell the kernel what the partition table says, if there is one: not every kernel can read tables itself."""
        # Not --update: it adds nothing after a partition that is gone. Each fails for what is in use or not there.
        for change in ("--delete", "--add"):
            subprocess.run(["partx", change, str(self.device)], capture_output=True, timeout=60, check=False)

    def enter(self, groups: ControlGroups) -> None:
        """From now on ``limit`` is about the processes in these groups."""
        self._groups = groups

    def limit(self, *, bps_read: int = 0, bps_write: int = 0, iops_read: int = 0, iops_write: int = 0) -> None:
        """Bytes and operations in a second that the container gets; 0: as many as it can. Raises TwinError."""
        if self._groups is None:
            raise TwinError(f"{self.device} is in no container, so no rate of it can be set.")
        rates = {"bps_read": bps_read, "bps_write": bps_write, "iops_read": iops_read, "iops_write": iops_write}
        self._groups.limit(self.number, rates)

    def close(self) -> None:
        """Give the device back; nobody may use it any more. May be called again."""
        if self._held < 0:
            return
        os.close(self._held)
        self._held = -1
        backing = Path("/sys/block", self.device.name, "loop/backing_file")
        deadline = time.monotonic() + CLOSE_LIMIT_S
        while _text(backing) == str(self.path.resolve()):  # the kernel does it when the last user is gone
            if time.monotonic() > deadline:
                raise TwinError(f"{self.device} is in use still, so it stays attached to {self.path}.")
            time.sleep(0.02)


def _attach(path: Path) -> tuple[int, Path]:
    """The device, and a descriptor of it that keeps it attached."""
    try:
        with CONTROL.open("rb") as control, path.open("r+b") as file:
            while True:
                number = fcntl.ioctl(control, GET_FREE)
                device = Path(f"/dev/loop{number}")
                held = os.open(device, os.O_RDWR | os.O_CLOEXEC)
                flags = AUTOCLEAR | PARTSCAN | DIRECT_IO
                order = CONFIG.pack(file.fileno(), 0, *[0] * 8, flags, str(path).encode()[:63], b"", b"", *[0] * 10)
                try:
                    fcntl.ioctl(held, CONFIGURE, order)
                except OSError as error:
                    os.close(held)
                    if error.errno != errno.EBUSY:  # else another process was faster
                        raise
                else:
                    return held, device
    except OSError as error:
        raise TwinError(f"{path} can't become a loop device, which takes root: {error.strerror}.") from error


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text("utf-8").strip()
    return ""
