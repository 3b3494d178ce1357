"""Control groups of our own, one in each hierarchy of this machine, of version 1 or 2; and rates of block devices."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from twin.errors import TwinError

REMOVE_LIMIT_S = 30.0
# blkio's files of version 1, io.max's words of version 2.
RATES = {
    "bps_read": ("blkio.throttle.read_bps_device", "rbps"),
    "bps_write": ("blkio.throttle.write_bps_device", "wbps"),
    "iops_read": ("blkio.throttle.read_iops_device", "riops"),
    "iops_write": ("blkio.throttle.write_iops_device", "wiops"),
}
TO_COPY = ("cpuset.cpus", "cpuset.mems")  # a new cpuset of version 1 takes no process before it has both


@dataclass(frozen=True)
class ControlGroups:
    """``parents`` are the folders to make groups called ``name`` in; ``unified`` is version 2's, if it is mounted."""

    name: str
    parents: tuple[Path, ...]
    unified: Path | None = None

    @property
    def folders(self) -> list[Path]:
        return [parent / self.name for parent in self.parents]

    def make(self) -> None:
        """Raises OSError."""
        for parent, folder in zip(self.parents, self.folders, strict=True):
            folder.mkdir(exist_ok=True)  # a hierarchy may be mounted twice
            for name in TO_COPY:
                if (folder / name).exists() and parent != self.unified:
                    (folder / name).write_text((parent / name).read_text("ascii"), "ascii")

    def enter(self) -> None:
        """The calling process goes in, and what it starts later with it. Raises OSError."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0", "ascii")

    def remove(self) -> None:
        """The groups, and those below, after their last process; one that is left behind is an empty folder."""
        deadline = time.monotonic() + REMOVE_LIMIT_S
        for folder in self.folders:
            for group in reversed(_groups(folder)):
                _remove(group, deadline)

    def limit(self, device: str, rates: Mapping[str, int]) -> None:
        """Let processes of the group go no faster than ``rates`` (0 = as they like) on the device ``MAJOR:MINOR``.

        It holds for reads and writes that are seen as theirs: of files too, except what is written back later.
        """
        try:
            if blkio := self._folder_with("blkio.throttle.read_bps_device"):
                # Version 1 does not pass a limit down to groups below.
                for folder in _groups(blkio):
                    for key, (name, _) in RATES.items():
                        (folder / name).write_text(f"{device} {rates.get(key, 0)}", "ascii")
                return
            words = [f"{word}={rates.get(key) or 'max'}" for key, (_, word) in RATES.items()]
            self._folder_with_io_max().joinpath("io.max").write_text(f"{device} {' '.join(words)}", "ascii")
        except OSError as error:
            raise TwinError(f"This machine sets no rate of {device}: {error.filename}: {error.strerror}.") from error

    def _folder_with(self, file: str) -> Path | None:
        return next((folder for folder in self.folders if (folder / file).exists()), None)

    def _folder_with_io_max(self) -> Path:
        if self.unified:
            (self.unified / "cgroup.subtree_control").write_text("+io", "ascii")
            if folder := self._folder_with("io.max"):
                return folder
        raise TwinError("This machine's control groups limit no block device: there is neither blkio nor io.max.")


def control_groups(name: str, proc: Path = Path("/proc/self")) -> ControlGroups:
    """Groups called ``name`` for this machine, not made yet. Raises TwinError where it has no control groups.

    In a hierarchy of version 1 the group lies below the calling process's own, so that limits of that hold. In version
    2 a group with processes has no others below, so there it lies at the top.
    """
    own = {}
    for line in (proc / "cgroup").read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        own[frozenset(controllers.split(",")) - {""}] = path
    parents, unified = [], None
    for line in (proc / "mounts").read_text("utf-8").splitlines():
        _, place, kind, options, *_ = line.split(" ")
        if kind == "cgroup2":
            unified = Path(place)
            parents.append(unified)
        elif kind == "cgroup":
            path = next(
                (path for controllers, path in own.items() if controllers <= set(options.split(",")) and controllers),
                "/",
            )
            below = Path(place, path.lstrip("/"))
            parents.append(below if ".." not in path and below.is_dir() else Path(place))
    if not parents:
        raise TwinError("This machine has no control groups mounted below /sys/fs/cgroup.")
    return ControlGroups(name, tuple(dict.fromkeys(parents)), unified)


def device_number(device: Path) -> str:
    """``MAJOR:MINOR`` of a device node."""
    number = device.stat().st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def _groups(folder: Path) -> list[Path]:
    """The group and those below, each before what is below it."""
    return [Path(top) for top, _, _ in os.walk(folder)]  # unlike rglob it passes over a group that vanishes meanwhile


def _remove(group: Path, deadline: float) -> None:
    while not _removed(group) and time.monotonic() < deadline:  # a process of it has not quite ended
        time.sleep(0.01)


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
