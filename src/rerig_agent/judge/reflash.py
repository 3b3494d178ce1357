"""The commands that flash a board from an x86 host: what NVIDIA's own scripts are called with, for which module.

Sources: the quick start of L4T R36 (l4t_initrd_flash.sh onto NVMe, flash.sh for the QSPI flash alone) and of R38/R39
(l4t_initrd_flash.sh at the top of the folder); ``jetson-orin-nano-devkit-super.conf``, which picks device tree and BPMP
firmware by the module's SKU itself, so that one name serves all modules of the family in this carrier board.
"""

from __future__ import annotations

import shlex
from typing import Any

CONFIG = "jetson-orin-nano-devkit-super"
# Modules of p3767 whose firmware has a Super flavour.
CONFIGS = {("3767", sku): CONFIG for sku in ("0000", "0001", "0003", "0004", "0005")}
QSPI_LAYOUT = "bootloader/generic/cfg/flash_t234_qspi.xml"
NVME_LAYOUT = "tools/kernel_flash/flash_l4t_t234_nvme.xml"
INITRD_R36 = "tools/kernel_flash/l4t_initrd_flash.sh"
INITRD_R38 = "l4t_initrd_flash.sh"
FLASH = "flash.sh"
FIRST_SUPER = (36, 4, 3)  # JetPack 6.2


def qspi_command(config: str) -> list[str]:
    """The bootloader in the QSPI flash alone: whatever is on the drives stays."""
    return [f"./{FLASH}", "--no-systemimg", "-c", QSPI_LAYOUT, config, "internal"]


def nvme_command(config: str, release: int = 36) -> list[str]:
    """The bootloader and a whole NVMe drive, whose contents are lost. ``release``: L4T's first number."""
    if release >= 38:
        return [f"./{INITRD_R38}", "--erase-all", config, "internal"]
    return [
        f"./{INITRD_R36}",
        *("--external-device", "nvme0n1p1", "-c", NVME_LAYOUT),
        *("-p", f"-c {QSPI_LAYOUT}", "--showlogs", "--network", "usb0", config, "internal"),
    ]


def as_typed(argv: list[str]) -> str:
    """A command as somebody types it in the folder Linux_for_Tegra, as root."""
    return " ".join(["sudo", *map(shlex.quote, argv)])


def reflash_advice(board: dict[str, Any]) -> str | None:
    """How a host makes this board Super and leaves its drives alone; None for boards without Super.

    ``board``: of :func:`rerig_agent.judge.board.identify`.
    """
    config = CONFIGS.get((board.get("module") or "", board.get("sku") or ""))
    if config is None:
        return None
    release = board.get("release")
    numbers = tuple(int(part) for part in release.split(".")) if release else FIRST_SUPER
    if numbers < FIRST_SUPER:
        first = ".".join(map(str, FIRST_SUPER))
        return f"L4T {release} has no Super bootloader: flash {first} or later as a whole, from an x86 host."
    unsure = " (as on R36; that it works on later releases is not verified)" if numbers[0] > FIRST_SUPER[0] else ""
    folder = f"Linux_for_Tegra of L4T {release}" if release else "Linux_for_Tegra of the board's release"
    return (
        f"The other way is from an x86 host, with the board in recovery mode, in the folder {folder}; it leaves the"
        f" drives alone{unsure}: {as_typed(qspi_command(config))}"
    )
