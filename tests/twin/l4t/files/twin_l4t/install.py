"""Puts a personality's files into place and takes them away again, with what was there before put back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath

from . import board, efivars, packages, place

STAGE = f"{place.STATE}/stage"  # the files of the personality, as the host sent them
BEFORE = f"{place.STATE}/before"  # what they replaced
MANIFEST = f"{place.STATE}/manifest.json"
# What tools of the board leave behind.
LEFT_BEHIND = (
    "/etc/nvpmodel.conf",
    "/etc/nvpmodel_nvbackup.conf",
    "/var/lib/nvpmodel",
    "/var/lib/nvfancontrol",
    "/boot/efi/EFI",
    efivars.NVRAM,
    board.FLASH,
)


def install() -> None:
    """Replace whatever personality there is by the staged one, as new."""
    uninstall()
    staged = sorted(staged_files())
    # The folder of the partition is made at boot.
    made = [*missing_folders([*staged, *LEFT_BEHIND, f"{packages.INFO}/any"]), str(ESP)]
    place.write(MANIFEST, json.dumps({"files": staged, "folders": made}, indent=1) + "\n")
    for name in staged:
        put(name)
    drop(raw(STAGE))
    settings = board.load()
    packages.add(settings["packages"])
    for name, value in settings["efivars"].items():
        efivars.put(name, bytes.fromhex(value["data"]), value["attributes"])
        if place.is_board() and value["immutable"]:
            efivars.set_immutable(f"{efivars.NVRAM}/{name}", True)
    board.save_flash(board.first_flash(settings))


def staged_files() -> list[str]:
    stage = place.path(STAGE)
    return [f"/{one.relative_to(stage)}" for one in stage.rglob("*") if one.is_symlink() or not one.is_dir()]


def missing_folders(names: list[str]) -> list[str]:
    """Each folder that must be made for one of the files, the outer ones first."""
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    return sorted(folder for folder in folders if not raw(folder).is_dir())


def put(name: str) -> None:
    real, staged, before = raw(name), raw(STAGE + name), raw(BEFORE + name)
    if os.path.lexists(str(real)):
        before.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(str(real), str(before), follow_symlinks=False)
        real.unlink()
    real.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(str(staged), str(real), follow_symlinks=False)


def uninstall() -> None:
    """Everything back to what it was before the first personality."""
    packages.remove()
    manifest = json.loads(place.read(MANIFEST) or '{"files": [], "folders": []}')
    for name in manifest["files"]:
        with contextlib.suppress(FileNotFoundError):
            raw(name).unlink()
    for name in LEFT_BEHIND:
        drop(raw(name))
    for name in reversed(manifest["folders"]):
        with contextlib.suppress(OSError):  # somebody's file may be in it by now
            raw(name).rmdir()
    before = raw(BEFORE)
    for one in sorted(before.rglob("*")):
        if one.is_symlink() or not one.is_dir():
            shutil.copy2(str(one), str(place.root() / one.relative_to(before)), follow_symlinks=False)
    drop(before)
    drop(raw(MANIFEST))


def drop(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        for one in file.rglob("*"):
            if not one.is_symlink():
                efivars.set_immutable(str(one), False)
        shutil.rmtree(str(file))
    elif os.path.lexists(str(file)):
        file.unlink()


def raw(name: str) -> Path:
    """The name itself below the root, no link followed."""
    return place.root() / name.lstrip("/")


ESP = Path("/boot/efi")
IMAGE = Path(f"{place.STATE}/esp.img")
CONTAINER = Path("/run/systemd/container")


def prepare_esp() -> None:
    """The EFI system partition: a small file system of its own, a plain folder where no loop device can be had."""
    raw(str(ESP)).mkdir(parents=True, exist_ok=True)
    if not place.is_board() or ESP.is_mount() or CONTAINER.exists():
        return
    if not IMAGE.exists():
        with IMAGE.open("wb") as file:
            file.truncate(board.load()["esp_bytes"])
        words = ["mke2fs", "-q", "-t", "ext4", "-m", "0", "-O", "^has_journal", "-F", str(IMAGE)]
        subprocess.run(words, check=True)
    subprocess.run(["modprobe", "-q", "loop"], check=False)
    done = subprocess.run(["mount", "-o", "loop", str(IMAGE), str(ESP)], stderr=subprocess.PIPE, check=False)
    if done.returncode:
        print(f"/boot/efi stays a plain folder: {done.stderr.decode().strip()}")


def remove_esp() -> None:
    if place.is_board() and ESP.is_mount():
        subprocess.run(["umount", str(ESP)], check=True)
    drop(raw(str(IMAGE)))
