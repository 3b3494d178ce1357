"""Debian's kernel for virtual machines, unpacked and not installed: no initramfs is built, minutes when emulated."""

from __future__ import annotations

import shutil
from pathlib import Path

from twin.architecture import Architecture
from twin.errors import TwinError
from twin.packages import Apt
from twin.tools import run

BUSYBOX = "busybox-static"


def unpack_kernel(architecture: Architecture, apt: Apt, root: Path, folder: Path) -> str:
    """Its modules into the tree ``root``, the kernel as ``folder/vmlinuz``, a busybox as ``folder/busybox``.

    Returns the kernel's release, as "6.1.0-30-cloud-arm64".
    """
    package = apt.first_dependency(architecture.kernel_package)
    unpacked = folder / "unpacked"
    for file in apt.download([package, BUSYBOX]):
        run(["dpkg-deb", "-x", file, unpacked], what=f"Unpacking {file.name}")
        file.unlink()
    kernels = list((unpacked / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise TwinError(f"Debian's package {package} holds {len(kernels)} kernels where one was expected.")
    release = kernels[0].name.partition("-")[2]
    kernels[0].rename(folder / "vmlinuz")
    (unpacked / "bin" / "busybox").rename(folder / "busybox")
    shutil.copytree(unpacked / "lib" / "modules", root / "usr" / "lib" / "modules", symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(unpacked)
    run(["depmod", "-b", root, release], what="Listing the kernel's modules")
    return release
