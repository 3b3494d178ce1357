"""Where what is shown below /sys must be mounted, worked out without mounting anything.

sysfs takes no new files. So the nearest folder that exists is covered by an overlay of itself and of what is new, and
what must stay the kernel's own (folders with devices that come and go, knobs that take effect) is mounted back inside.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from . import tree

DEBUG = "/sys/kernel/debug"  # debugfs crashes the kernel below an overlay: it is covered as a whole
NEVER = ("/sys/devices/virtual", "/", "/proc")  # too much comes and goes there
# What stays the kernel's own: classes whose devices come and go while tests look on, folders with knobs that tests or
# tools turn. A mount for everything else too would be slow: systemd looks at each. There, a knob turns nothing.
KEPT = {
    "/sys/class": {"bdi", "block", "net", "nvme", "nvme-generic", "nvme-subsystem", "zram-control", "tty"},
    "/sys/bus": {"pci", "platform", "virtio"},
    "/sys/kernel": {"mm"},
}


class Step(NamedTuple):
    """``kind``: overlay (nodes relative to ``at``), back (the kernel's own folder), cover, bind (of ``source``)."""

    kind: str
    at: str
    nodes: tree.Tree
    source: str = ""


class Plan(NamedTuple):
    """``spare``: what can't be had at its real path."""

    steps: list[Step]
    spare: tree.Tree


class Machine:
    """The folders of a machine as they are before anything is mounted on them."""

    def __init__(self, root: Path, mount_points: frozenset[str]) -> None:
        self.root, self.mount_points = root, mount_points
        self._known: dict[str, bool] = {}

    def is_folder(self, name: str) -> bool:
        if name not in self._known:
            path = self.root / name.lstrip("/")
            self._known[name] = path.is_dir() and not path.is_symlink()
        return self._known[name]

    def folders(self, name: str) -> list[str]:
        path = self.root / name.lstrip("/")
        return sorted(f"{name}/{one.name}" for one in path.iterdir() if one.is_dir() and not one.is_symlink())

    def has_devices(self, name: str) -> bool:
        return any(not one.endswith(("/power", "/wakeup")) for one in self.folders(name))


def make(nodes: tree.Tree, machine: Machine) -> Plan:
    """Overlays from the outermost to the innermost, each followed by what is mounted back inside it."""
    steps: list[Step] = []
    spare = {name: node for name, node in nodes.items() if anchor(name, machine) in NEVER}
    shown = {name: node for name, node in nodes.items() if name not in spare}
    covered = {name: node for name, node in shown.items() if name.startswith(f"{DEBUG}/")}
    binds = {name: node for name, node in shown.items() if isinstance(node, tree.Same)}
    rest = {name: node for name, node in shown.items() if name not in covered and name not in binds}
    for name in binds:
        rest[f"{name}/"] = tree.File(b"")  # the folder to mount on
    while rest:
        at = min((anchor(name.rstrip("/"), machine) for name in rest), key=lambda one: (one.count("/"), one))
        back: list[str] = []
        inside = {name for name in rest if name.startswith(f"{at}/") and not leaves(name, at, machine)}
        walk(at, inside, machine, back)
        steps.append(Step("overlay", at, {name[len(at) + 1 :]: rest.pop(name) for name in sorted(inside)}))
        steps += [Step("back", one, {}) for one in back]
    if covered:
        steps.append(Step("cover", DEBUG, {name[len(DEBUG) + 1 :]: node for name, node in covered.items()}))
    steps += [Step("bind", name, {}, node.source) for name, node in binds.items() if isinstance(node, tree.Same)]
    return Plan(steps, spare)


def anchor(name: str, machine: Machine) -> str:
    """The nearest folder above ``name`` that exists."""
    folder = name.rpartition("/")[0]
    while folder and not machine.is_folder(folder):
        folder = folder.rpartition("/")[0]
    return folder or "/"


def leaves(name: str, at: str, machine: Machine) -> bool:
    """Whether something else is mounted between ``at`` and ``name``: an overlay doesn't see through that."""
    folder = anchor(name.rstrip("/"), machine)
    while len(folder) > len(at):
        if folder in machine.mount_points:
            return True
        folder = folder.rpartition("/")[0]
    return False


def walk(folder: str, inside: set[str], machine: Machine, back: list[str]) -> None:
    """Collect what must be mounted back inside the overlay over ``folder``."""
    for child in machine.folders(folder):
        if child not in machine.mount_points and any(name.startswith(f"{child}/") for name in inside):
            walk(child, inside, machine, back)
        elif child in machine.mount_points or stays(child, machine):
            back.append(child)


def stays(child: str, machine: Machine) -> bool:
    """Whether a folder without anything of the board must be the kernel's own."""
    folder, _, name = child.rpartition("/")
    if folder in KEPT:
        return name in KEPT[folder]
    if folder in ("/sys", "/sys/devices", "/sys/devices/virtual"):
        return True
    return folder.startswith("/sys/devices/platform") and machine.has_devices(child)
