"""Debian's disk tools for the tests of the twin's disks: those that fill them and those that judge what was filled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from debian_packages import CACHE, missing, unpack

# To fill disks, then to judge: nothing of them is installed, and none of them needs the kernel's help for a plain file.
PACKAGES = ["fdisk", "btrfs-progs", "dosfstools", "lvm2", "mdadm", "cryptsetup-bin", "bcache-tools"]
WRAPPER = """#!/bin/sh
root=${{0%/*}}/..
LD_LIBRARY_PATH={libraries} exec "$root/{program}" "$@"
"""


@pytest.fixture(scope="session")
def unpacked_disk_tools() -> Path:
    with missing("disk-tools") as aside:
        if aside is not None:
            _wrap(unpack(PACKAGES, aside))
    return CACHE / "disk-tools" / "wrapped"


@pytest.fixture
def disk_tools(unpacked_disk_tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """sfdisk, mkfs.*, btrfs, pvck, mdadm, cryptsetup and what e2fsprogs and util-linux have, all on PATH."""
    folders = [str(unpacked_disk_tools), os.environ["PATH"], "/usr/sbin", "/sbin"]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))


def _wrap(ready: Path) -> None:
    libraries = sorted({f'"$root/{path.parent.relative_to(ready)}"' for path in ready.rglob("*.so*")})
    folder = ready / "wrapped"
    folder.mkdir()
    for place in ("sbin", "usr/sbin", "bin", "usr/bin"):
        for program in (ready / place).glob("*"):
            wrapper = folder / program.name
            text = WRAPPER.format(libraries=":".join(libraries), program=program.relative_to(ready))
            wrapper.write_text(text, "utf-8")
            wrapper.chmod(0o755)
