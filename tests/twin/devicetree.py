"""The device tree of qemu's arm64 board with a Jetson's names: what /proc/device-tree shows is the kernel's own."""

from __future__ import annotations

from pathlib import Path

from twin.architecture import Architecture
from twin.tools import need, run

# As on an Orin Nano developer kit whose kernel uses the Super tree.
MODEL = "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super"
COMPATIBLE = ("nvidia,p3768-0000+p3767-0005-super", "nvidia,p3767-0005", "nvidia,tegra234")
IDS = "3767-0005-300 3768-0000-400"


def write_device_tree(architecture: Architecture, processors: int, memory_mib: int, target: Path) -> None:
    """Ask qemu for its board's tree and rename the board; "linux,dummy-virt" stays last, for the kernel's sake."""
    need(architecture.qemu, "fdtput")
    board = f"{architecture.machine},dumpdtb={target}"
    words = ["-M", board, *architecture.acceleration, "-smp", str(processors), "-m", str(memory_mib), "-nographic"]
    run([architecture.qemu, *words], what="Asking qemu for its device tree")
    for node, name, values in (
        ("/", "model", [MODEL]),
        ("/", "compatible", [*COMPATIBLE, "linux,dummy-virt"]),
        ("/chosen", "ids", [IDS]),
    ):
        run(["fdtput", "-t", "s", target, node, name, *values], what="Renaming the board in the device tree")
