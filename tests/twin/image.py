"""The bootable image of a twin: root disk, kernel, first root file system, keys. Built once for each recipe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from twin import debian_tree, foreign
from twin.architecture import AMD64, Architecture
from twin.cache import built, recipe_hash
from twin.devicetree import write_device_tree
from twin.dress import dress, make_keys
from twin.initrd import write_initrd
from twin.kernel import unpack_kernel
from twin.packages import apt_for
from twin.tools import need, need_root, run

DISK_BYTES = 1536 * 1024 * 1024
MEMORY_MIB = 768
PROCESSORS = 2
SOURCES = ("devicetree.py", "dress.py", "image.py", "initrd.py", "kernel.py", "packages.py")


@dataclass(frozen=True)
class Image:
    """``folder`` has root.img (raw ext4), vmlinuz, initrd, board.dtb (arm64), root (the tree), keys of ssh."""

    architecture: Architecture
    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "root.img"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def device_tree(self) -> Path:
        return self.folder / "board.dtb"

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @property
    def tree(self) -> Path:
        """The same file system as a folder, for containers; amd64 only has it useful here."""
        return self.folder / "root"


def built_image(architecture: Architecture) -> Image:
    """The image from the cache; built first where it isn't there. Raises TwinError."""
    here = Path(__file__).parent
    trees = [debian_tree.recipe(), here / "debian_tree.py", here / "foreign.py"]
    recipe = recipe_hash([architecture.name, str(DISK_BYTES), *trees, *(here / name for name in SOURCES)])
    return Image(architecture, built(f"image-{architecture.name}", recipe, lambda folder: _build(architecture, folder)))


def _build(architecture: Architecture, folder: Path) -> None:
    need_root()
    need("cpio", "depmod", "mke2fs", "ssh-keygen", "useradd")
    tree = debian_tree.amd64_tree() if architecture == AMD64 else foreign.arm64_tree()
    root = folder / "root"
    run(["cp", "--archive", tree, root], what="Copying the twin's tree")
    with apt_for(architecture, tree) as apt:
        release = unpack_kernel(architecture, apt, root, folder)
    write_initrd(root, release, folder / "busybox", folder / "initrd")
    if architecture.has_device_tree:
        write_device_tree(architecture, PROCESSORS, MEMORY_MIB, folder / "board.dtb")
    make_keys(folder / "keys")
    dress(root, folder / "keys")
    run(
        ["mke2fs", "-q", "-t", "ext4", "-L", "twin", "-d", root, "-F", folder / "root.img", str(DISK_BYTES // 1024)],
        what="Writing the twin's root disk",
    )
