"""The tree of arm64 without emulating one program: its packages unpacked, its configuration taken from amd64's tree.

What a package's scripts make is nearly all text that knows no processor: users, links that enable units, PAM stacks,
alternatives. amd64's tree has it already, for the same packages in the same versions.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from twin.architecture import AMD64, ARM64
from twin.cache import built, recipe_hash
from twin.debian_tree import LEFT_OUT, amd64_tree
from twin.debian_tree import recipe as base_recipe
from twin.errors import TwinError
from twin.packages import apt_for
from twin.tools import need_root, run

CONFIGURED = ("etc", "var", "root", "home", "srv")
# amd64's own: made from its libraries, or of its paths.
NOT_TAKEN = ("etc/ld.so.cache", "var/cache/ldconfig", f"etc/ld.so.conf.d/{AMD64.library_folder}.conf")
HARDWARE_NAMES = "usr/lib/udev/hwdb.bin"


def arm64_tree() -> Path:
    """The folder of the tree in the cache; built where it isn't there. Raises TwinError."""
    recipe = recipe_hash([base_recipe(), Path(__file__), Path(__file__).with_name("packages.py")])
    return built("tree-arm64", recipe, _build) / "root"


def _build(folder: Path) -> None:
    need_root()
    pattern = amd64_tree()
    root = folder / "root"
    _unpack(pattern, folder, root)
    for name in CONFIGURED:
        shutil.rmtree(root / name, ignore_errors=True)
        run(["cp", "--archive", "--no-target-directory", pattern / name, root / name], what="Copying configuration")
    for name in NOT_TAKEN:
        run(["rm", "-rf", root / name], what="Leaving out amd64's own")
    _rename_in_package_database(root / "var/lib/dpkg")
    if (root / "usr/bin/python3").readlink() != (pattern / "usr/bin/python3").readlink():
        raise TwinError("Debian's packages of arm64 and amd64 differ at this moment; try again in an hour.")


def _unpack(pattern: Path, folder: Path, root: Path) -> None:
    """Every package that amd64's tree has, for arm64."""
    status = (pattern / "var/lib/dpkg/status").read_text("utf-8")
    names = re.findall(r"^Package: (\S+)$", status, re.MULTILINE)
    root.mkdir()
    for name in ("bin", "sbin", "lib"):  # merged below /usr, as amd64's
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    with apt_for(ARM64, pattern) as apt:
        for file in apt.download(apt.known(names)):
            # Not dpkg-deb -x: a package may hold /lib as a folder, which must not replace the link.
            _extract(file, root)
    for path in sorted(pattern.glob("*")):
        if path.is_dir() and not path.is_symlink() and not (root / path.name).exists():
            (root / path.name).mkdir(mode=path.stat().st_mode & 0o7777)
    for path in (pattern / "usr/local").rglob("*"):
        if path.is_dir() and not path.is_symlink():
            (root / path.relative_to(pattern)).mkdir(parents=True, exist_ok=True)
    shutil.copy(pattern / HARDWARE_NAMES, root / HARDWARE_NAMES)
    for top in ("usr/bin", "usr/sbin"):  # links that scripts made: alternatives, awk, editor
        there = {path.name for path in (root / top).iterdir()}
        for path in (pattern / top).iterdir():
            if path.is_symlink() and path.name not in there:
                (root / top / path.name).symlink_to(path.readlink())


def _extract(file: Path, root: Path) -> None:
    archive = root.parent / "package.tar"
    run(["dpkg-deb", "--fsys-tarfile", file], what=f"Unpacking {file.name}", stdout=archive)
    keep = ["--keep-directory-symlink", "--same-owner", "--preserve-permissions", "--numeric-owner"]
    left_out = [f"--exclude=./usr/share/{name}/*" for name in LEFT_OUT]
    words = ["tar", "--extract", "--file", archive, "--directory", root, *keep, *left_out]
    run(words, what=f"Unpacking {file.name}")
    archive.unlink()


def _rename_in_package_database(database: Path) -> None:
    """dpkg's own record names the architecture of each package and of its files."""
    for name in ("status", "available"):
        if (path := database / name).is_file():
            path.write_text(_renamed(path.read_text("utf-8")), "utf-8")
    (database / "arch").unlink(missing_ok=True)
    for path in (database / "info").iterdir():
        name = path.name.replace(f":{AMD64.name}.", f":{ARM64.name}.")
        if path.suffix == ".list":
            text = path.read_text("utf-8").replace(AMD64.library_folder, ARM64.library_folder)
            path.unlink()
            path.with_name(name).write_text(text, "utf-8")
        elif name != path.name:
            path.rename(path.with_name(name))


def _renamed(status: str) -> str:
    return re.sub(rf"^Architecture: {AMD64.name}$", f"Architecture: {ARM64.name}", status, flags=re.MULTILINE)
