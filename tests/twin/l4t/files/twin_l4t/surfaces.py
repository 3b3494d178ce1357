"""Shows the kernel's side of the board: by mounts on the machine itself, as plain files below a test's root."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path

from . import place, plan, tree

REPORT = f"{place.RUN}/report.json"
ORIGINAL = f"{place.RUN}/original"  # /sys as it was, while it is being covered
UPPER = f"{place.RUN}/upper"
MOUNTED = f"{place.RUN}/mounted"  # a line for each mount, before it is made
NAME = "twin-l4t"  # of every overlay
OWN_LINK = "/proc/device-tree"  # a kernel that knows device trees has it
BIND, RECURSIVE, PRIVATE, DETACH = 4096, 16384, 1 << 18, 2


def show(nodes: tree.Tree) -> dict[str, str]:
    """Put ``nodes`` where readers look; {path: "real" or "spare"} of each, kept in REPORT."""
    if not place.is_board():
        write(nodes, place.root())
        where = dict.fromkeys(nodes, "real")
    else:
        where = mount_all(nodes)
    place.write(REPORT, json.dumps(where, indent=1, sort_keys=True) + "\n")
    return where


def write(nodes: tree.Tree, folder: Path) -> None:
    for name, node in nodes.items():
        path = folder / name.strip("/")
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(node, tree.File):
            path.write_bytes(node.data)
            path.chmod(node.mode)
        else:
            target = (
                node.target if isinstance(node, tree.Link) else "../" * name.strip("/").count("/") + node.source[1:]
            )
            if path.is_symlink():
                path.unlink()
            path.symlink_to(target)


def mount_all(nodes: tree.Tree) -> dict[str, str]:
    subprocess.run(["modprobe", "-q", "overlay"], check=False)  # built in, or not needed in a container
    todo = {name: node for name, node in nodes.items() if name != OWN_LINK or not Path(name).exists()}
    made = plan.make(todo, plan.Machine(Path("/"), frozenset(mounts())))
    Path(ORIGINAL).mkdir(parents=True, exist_ok=True)
    mount("/sys", ORIGINAL, flags=BIND | RECURSIVE)
    mount("none", ORIGINAL, flags=PRIVATE | RECURSIVE)
    for number, step in enumerate(made.steps):
        run(step, Path(UPPER) / str(number))
    _libc().umount2(ORIGINAL.encode(), DETACH)  # the overlays hold what they need
    spare(made.spare)
    return {name: "spare" if name in made.spare else "real" for name in nodes}


def run(step: plan.Step, aside: Path) -> None:
    if step.kind == "back":
        mount(ORIGINAL + step.at[len("/sys") :], step.at, flags=BIND | RECURSIVE)
    elif step.kind == "bind":
        Path(step.source).mkdir(parents=True, exist_ok=True)
        mount(step.source, step.at, flags=BIND)
    else:
        upper, work = aside / "upper", aside / "work"
        work.mkdir(parents=True)
        upper.mkdir()
        upper.chmod(0o700 if step.kind == "cover" else 0o755)
        write(step.nodes, upper)
        if step.kind == "cover":
            mount(str(upper), step.at, flags=BIND)
        else:
            lower = ORIGINAL + step.at[len("/sys") :]
            mount(NAME, step.at, "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={work}")


def spare(nodes: tree.Tree) -> None:
    """A second root: links to everything that is real, and the rest of the board's files at its place among them."""
    folder = Path(place.SPARE)
    folder.mkdir(parents=True)
    mirror("", {name.lstrip("/") for name in nodes})
    write(nodes, folder)


def mirror(folder: str, own: set[str]) -> None:
    """Link each entry of /``folder``, except those on the way to ``own``: these become folders of the same kind."""
    here, real = Path(place.SPARE) / folder, Path("/") / folder
    here.mkdir(exist_ok=True)
    for entry in real.iterdir():
        below = {name[len(entry.name) + 1 :] for name in own if name.startswith(f"{entry.name}/")}
        if below and entry.is_dir():
            mirror(f"{folder}/{entry.name}".lstrip("/"), below)
        elif entry.name not in own and not entry.name.isdigit():
            (here / entry.name).symlink_to(entry)


def hide() -> None:
    """Take away what :func:`show` put there, the last mount first."""
    for point in reversed((place.read(MOUNTED) or "").splitlines()):
        _libc().umount2(point.encode(), DETACH)
    if not place.is_board():
        for name in json.loads(place.read(REPORT) or "{}"):
            remove(place.root() / name.strip("/"))
    for name in (UPPER, place.SPARE):
        shutil.rmtree(str(place.path(name)), ignore_errors=True)
    for name in (MOUNTED, REPORT):
        with contextlib.suppress(FileNotFoundError):
            place.path(name).unlink()


def remove(file: Path) -> None:
    """The file and the folders that it leaves empty."""
    with contextlib.suppress(OSError):
        file.unlink()
        for folder in file.parents:
            folder.rmdir()


def mounts() -> list[str]:
    """Every mount point, in the order in which they were mounted."""
    with Path("/proc/self/mountinfo").open(encoding="utf-8") as lines:
        return [line.split()[4].replace("\\040", " ") for line in lines]


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); raises OSError."""
    words = (source.encode(), target.encode(), kind.encode(), flags, options.encode())
    if not flags & PRIVATE:
        with Path(MOUNTED).open("a", encoding="utf-8") as points:
            points.write(f"{target}\n")
    if _libc().mount(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.mount.argtypes = (
        *(ctypes.c_char_p,) * 3,
        ctypes.c_ulong,
        ctypes.c_char_p,
    )
    return library
