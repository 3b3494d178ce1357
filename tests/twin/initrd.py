"""A first root file system of 2 MB: it loads the disk's modules, mounts the real one, and is gone.

The real root lies on virtio and not on NVMe, since qemu can't save the state of an NVMe controller.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from twin.tools import run

MODULES = ("virtio_pci", "virtio_blk", "ext4")
INIT = """\
#!/bin/sh
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t proc proc /proc
for module in $(/bin/busybox cat /modules/order); do
    /bin/busybox insmod "/modules/$module" || echo "twin: $module does not load"
done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 600 ]; do /bin/busybox sleep 0.1; tries=$((tries + 1)); done
/bin/busybox mount -t ext4 -o rw,noatime /dev/vda /new || { echo 'twin: no root'; /bin/busybox poweroff -f; }
/bin/busybox mount --move /dev /new/dev
/bin/busybox umount /proc
exec /bin/busybox switch_root /new /sbin/init
"""


def write_initrd(root: Path, release: str, busybox: Path, target: Path) -> None:
    """``target`` for the kernel ``release`` whose modules lie in the tree ``root``."""
    with tempfile.TemporaryDirectory(prefix="rerig-twin-initrd-") as name:
        folder = Path(name)
        for below in ("bin", "dev", "proc", "sys", "new", "modules"):
            (folder / below).mkdir()
        shutil.copy(busybox, folder / "bin" / "busybox")
        (folder / "bin" / "sh").symlink_to("busybox")
        modules = _needed_modules(root, release)
        for module in modules:
            shutil.copy(module, folder / "modules")
        (folder / "modules" / "order").write_text("".join(f"{module.name}\n" for module in modules))
        (folder / "init").write_text(INIT)
        (folder / "init").chmod(0o755)
        names = "".join(f"{path.relative_to(folder)}\n" for path in sorted(folder.rglob("*")))
        run(
            ["cpio", "--create", "--format=newc", "--quiet", "--owner=0:0", f"--file={target}"],
            what="Packing the first root file system",
            cwd=folder,
            stdin=names.encode(),
        )


def _needed_modules(root: Path, release: str) -> list[Path]:
    """In the order in which they load; what is built into the kernel isn't among them."""
    paths: dict[Path, None] = {}
    for module in MODULES:
        words = ["modprobe", "--dirname", root, "--set-version", release, "--show-depends", module]
        for line in run(words, what=f"Looking up the kernel module {module}").splitlines():
            kind, _, path = line.partition(" ")
            if kind == "insmod":
                paths[Path(path.strip())] = None
    return list(paths)
