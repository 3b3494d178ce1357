"""Real mounts and loop devices for tests that are root, undone in any case, in the reverse order."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from pathlib import Path
from types import TracebackType

_MNT_DETACH = 2


class RealMounts:
    """A context manager; what could not be undone would be seen by the next test, so undoing raises."""

    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> RealMounts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.__exit__(kind, error, trace)

    def mount(self, fs_type: str, source: str, point: Path, options: str = "") -> Path:
        """mount(8)'s work with mount -t FS_TYPE -o OPTIONS SOURCE POINT."""
        point.mkdir(parents=True, exist_ok=True)
        _run("mount", "-t", fs_type, *(["-o", options] if options else []), source, str(point))
        self._undo.callback(_run, "umount", "-l", str(point))
        return point

    def bind(self, directory: Path, point: Path) -> Path:
        """A second view of a directory."""
        point.mkdir(parents=True, exist_ok=True)
        _run("mount", "--bind", str(directory), str(point))
        self._undo.callback(_run, "umount", "-l", str(point))
        return point

    def loop(self, backing: Path) -> str:
        """The path of a loop device over a file."""
        device = _run("losetup", "--find", "--show", str(backing)).strip()
        self._undo.callback(_run, "losetup", "--detach", device)
        return device

    def ext4_on_loop(self, backing: Path, point: Path, size_bytes: int = 32 * 2**20) -> Path:
        """A mounted ext4 in a file."""
        with backing.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        _run("mkfs.ext4", "-q", "-F", str(backing))
        return self.mount("ext4", self.loop(backing), point)

    def make_read_only(self, point: Path) -> None:
        """Forbid writing to a mounted file system."""
        _run("mount", "-o", "remount,ro", str(point))

    def dead_fuse(self, point: Path) -> Path:
        """A FUSE mount whose daemon never answers, as a mount of a dead server."""
        point.mkdir(parents=True, exist_ok=True)
        daemon = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={daemon},rootmode=40000,user_id=0,group_id=0"
        if libc.mount(b"dead", str(point).encode(), b"fuse", 0, options.encode()) != 0:
            os.close(daemon)
            raise OSError(ctypes.get_errno(), "mount")
        self._undo.callback(libc.umount2, str(point).encode(), _MNT_DETACH)
        self._undo.callback(os.close, daemon)  # first: it ends all waiting
        return point


def _run(*argv: str) -> str:
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{argv[0]} failed: {done.stdout.strip()}")
    return done.stdout
