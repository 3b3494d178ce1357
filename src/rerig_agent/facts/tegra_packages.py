"""Versions of the packages that say which L4T and CUDA are installed, from dpkg's own list."""

from __future__ import annotations

from pathlib import Path

from ..parse.dpkg_status import parse_packages

STATUS = "/var/lib/dpkg/status"
NAMES = r"nvidia-l4t-(?:core|bootloader|nvpmodel|init|cuda)|nvidia-jetpack|cuda-toolkit-[0-9]+-[0-9]+|tensorrt"
LIMIT = 64 * 2**20


def read_tegra_packages(root: Path) -> dict[str, str]:
    """{package: version} of those that are installed; empty where dpkg's list can't be read."""
    try:
        with (root / STATUS.lstrip("/")).open("rb") as file:
            text = file.read(LIMIT).decode("utf-8", "replace")
    except OSError:
        return {}
    return parse_packages(text, NAMES)
