"""What containers leave on this machine while they run, looked for from outside."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SETTINGS = """
    kernel/hostname kernel/domainname kernel/core_pattern kernel/printk kernel/sysrq kernel/panic kernel/pid_max
    kernel/kptr_restrict kernel/dmesg_restrict vm/swappiness vm/overcommit_memory vm/dirty_ratio fs/protected_hardlinks
    fs/protected_symlinks fs/suid_dumpable net/ipv4/ip_forward net/ipv4/conf/all/rp_filter
""".split()


@dataclass(frozen=True)
class Traces:
    """Of one container: ``name`` is its own, ``folder`` holds its files, ``temporary`` its sockets."""

    name: str
    folder: Path
    temporary: Path

    def found(self) -> dict[str, list[str]]:
        """Whatever there is still, by its kind."""
        backing = Path("/sys/block").glob("loop*/loop/backing_file")
        kinds = {
            "mounts": [line for line in _read(Path("/proc/mounts")).splitlines() if str(self.folder) in line],
            "processes": list(self._processes()),
            "link": [name for name in _links() if name == self.name],
            # Not rglob: it raises for a group that vanishes meanwhile.
            "groups": [top for top, _, _ in os.walk("/sys/fs/cgroup") if Path(top).name == self.name],
            "loop": [str(path) for path in backing if str(self.folder) in _read(path)],
            "sockets": [str(path) for path in self.temporary.glob("*")],
        }
        return {kind: them for kind, them in kinds.items() if them}

    def _processes(self) -> Iterator[str]:
        """Those that are in its control groups, or that name it or its files, and what is connected to it."""
        signs = (self.name, str(self.folder / "container"), str(self.temporary))
        for path in Path("/proc").glob("[0-9]*"):
            said = _read(path / "cgroup") + _read(path / "cmdline")
            if any(sign in said for sign in signs):
                yield f"{path.name} {_read(path / 'cmdline')}"


def machine_state() -> dict[str, object]:
    """What no container may change: device nodes (but loop devices come and go) and the kernel's settings."""
    nodes = (path for path in Path("/dev").iterdir() if not path.name.startswith("loop"))
    devices = {str(path): (stat.st_mode, stat.st_uid, stat.st_rdev) for path in nodes for stat in [path.lstat()]}
    return {**devices, **{name: _read(Path("/proc/sys", name)) for name in SETTINGS}}


def _links() -> list[str]:
    done = subprocess.run(["ip", "-oneline", "link"], capture_output=True, text=True, check=True)
    return [line.split(": ")[1].partition("@")[0] for line in done.stdout.splitlines()]


def _read(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text("utf-8", "replace")
    return ""
