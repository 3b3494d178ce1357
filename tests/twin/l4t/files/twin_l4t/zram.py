"""nvzramconfig: swap in compressed memory, one device a core. Real devices, where the kernel is the twin's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from . import board, install, place

USED = f"{place.RUN}/zram"
PRIORITY = "5"


def main(words: list[str]) -> int:
    if words not in ([], ["stop"]):
        place.die("Usage: nvzramconfig.sh [stop]")
    # A container shares the kernel, and its zram devices, with the machine around it.
    if place.is_board() and not install.CONTAINER.exists():
        stop() if words else start()
    return 0


def start() -> None:
    settings = board.load()
    count = settings["cores"]
    subprocess.run(["modprobe", "zram", f"num_devices={count}"], check=True)
    names = [add() for _ in range(count)]
    place.write(USED, "".join(f"{name}\n" for name in names))
    for name in names:
        place.write(f"/sys/block/{name}/disksize", f"{settings['zram_bytes'] // count}\n")
        subprocess.run(["mkswap", f"/dev/{name}"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["swapon", "-p", PRIORITY, *(f"/dev/{name}" for name in names)], check=True)


def add() -> str:
    """A zram device that nobody uses, made where there is none."""
    taken = place.word(USED).split()
    for entry in sorted(one.name for one in Path("/sys/block").glob("zram*")):
        if entry not in taken and place.word(f"/sys/block/{entry}/disksize") == "0":
            place.write(USED, "".join(f"{name}\n" for name in [*taken, entry]))
            return entry
    entry = f"zram{place.word('/sys/class/zram-control/hot_add')}"
    place.write(USED, "".join(f"{name}\n" for name in [*taken, entry]))
    return entry


def stop() -> None:
    names = place.word(USED).split()
    subprocess.run(["swapoff", *(f"/dev/{name}" for name in names)], check=False)  # a user may have been faster
    for name in names:
        place.write(f"/sys/block/{name}/reset", "1\n")
    place.path(USED).unlink()
