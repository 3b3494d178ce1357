"""What the twin costs: building, booting, saving, restoring, plugging a disk in, a playbook. Prints a table.

Root, and the packages of tests/twin/host-packages.txt. With --build everything is built anew in a cache of its own,
which takes minutes and the network; without, what the usual cache has is used.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from rerig.upkeep.environment import child_environment  # noqa: E402 - src is on the path from here on
from twin import beside, cache, contents, disks  # noqa: E402 - tests is on the path, too
from twin.architecture import AMD64, ARM64, Architecture, architecture_named  # noqa: E402 - as above
from twin.image import Image, built_image  # noqa: E402 - as above
from twin.machine import Machine, boot  # noqa: E402 - as above
from twin.snapshot import Snapshot, restore, save  # noqa: E402 - as above

T = TypeVar("T")
DISK_BYTES = 1024**3
PLAYBOOK = "playbooks/tools.yml"
BUILD, BOOT, SAVE, RESTORE = (
    "build the image",
    "boot, until a command runs over ssh",
    "save the snapshot",
    "restore, until a command runs over ssh",
)
PLUG, BOTH, PLAY = (
    "plug in an NVMe disk of 1 GiB",
    "restore with such a disk",
    f"`{PLAYBOOK}` over plain ssh, pipelined",
)
ROWS = (BUILD, BOOT, SAVE, RESTORE, PLUG, BOTH, PLAY)


class Times:
    """Seconds by what took them; a row's cell shows the median and the range of several."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {}

    def take(self, row: str, work: Callable[..., T], *words: Any) -> T:
        start_s = time.monotonic()
        result = work(*words)
        self.taken.setdefault(row, []).append(time.monotonic() - start_s)
        return result

    def cell(self, row: str) -> str:
        values = self.taken.get(row)
        if not values:
            return "not measured"
        middle = f"{statistics.median(values):.1f} s"
        return middle if len(values) == 1 else f"{middle} ({min(values):.1f}–{max(values):.1f})"


def measure(architecture: Architecture, repeats: int, folder: Path) -> Times:
    """Everything about one architecture; machines live in ``folder`` and one at a time."""
    times = Times()
    image = times.take(BUILD, built_image, architecture)
    with times.take(BOOT, boot_ready, image, folder / "booted") as machine:
        snapshot = times.take(SAVE, save, machine, folder / "snapshot")
    for number in range(repeats):
        with times.take(RESTORE, restore_ready, snapshot, folder / f"restored{number}") as machine:
            path = folder / "nvme.img"
            contents.write("blank", path, DISK_BYTES)
            times.take(PLUG, plug, machine, path)
            times.taken.setdefault(BOTH, []).append(times.taken[RESTORE][-1] + times.taken[PLUG][-1])
            times.take(PLAY, play, machine)
    return times


def boot_ready(image: Image, folder: Path) -> Machine:
    machine = boot(image, folder, "benchmark")
    machine.wait_ready()
    return machine


def restore_ready(snapshot: Snapshot, folder: Path) -> Machine:
    machine = restore(snapshot, folder, "benchmark")
    machine.wait_ready()
    return machine


def plug(machine: Machine, path: Path) -> None:
    disks.attach(machine, path, serial="TWIN1", slot=1)


def play(machine: Machine) -> None:
    """A first run on a fresh machine, as a user's."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-playbook"), str(ROOT / PLAYBOOK)],
        env={**child_environment(), **beside.environment(machine)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{PLAYBOOK} failed")


def show(measured: Sequence[tuple[Architecture, Times]], built: bool) -> None:
    """As Markdown."""
    print(f"| what | {' | '.join(architecture.name for architecture, _ in measured)} |")
    print(f"|---|{'---|' * len(measured)}")
    for row in ROWS if built else ROWS[1:]:
        print(f"| {row} | {' | '.join(times.cell(row) for _, times in measured)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", action="append", help="amd64 or arm64 (default: both)")
    parser.add_argument("--repeats", type=int, default=3, help="of everything but building and booting (default: 3)")
    parser.add_argument("--build", action="store_true", help="build anew, in a cache that is removed afterwards")
    words = parser.parse_args()
    names = words.arch or [AMD64.name, ARM64.name]
    with tempfile.TemporaryDirectory(prefix="rerig-twin-benchmark-", dir=Path.home() / ".cache") as name:
        if words.build:
            os.environ[cache.VARIABLE] = str(Path(name) / "cache")
        print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
        measured = []
        for one in map(architecture_named, names):
            folder = Path(name) / one.name
            folder.mkdir()
            measured.append((one, measure(one, words.repeats, folder)))
        show(measured, words.build)


if __name__ == "__main__":
    main()
