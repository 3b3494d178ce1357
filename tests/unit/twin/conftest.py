"""What the tests of the twin share: Debian's disk tools, which fill disks and judge what was filled; boards to try."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from debian_packages import CACHE, missing, unpack
from twin.l4t.bench import Bench
from twin.l4t.values import Personality

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


@pytest.fixture(scope="session")
def patterns() -> dict[str, Bench]:
    return {}


@pytest.fixture
def make_bench(
    patterns: dict[str, Bench], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> Callable[[Personality], Bench]:
    """Sets up a board, in a folder of the test's own; a second call in the same test makes a second board."""

    def make(personality: Personality) -> Bench:
        name = repr(personality)
        if name not in patterns:
            patterns[name] = Bench(tmp_path_factory.mktemp("board"), personality)
        return Bench(tmp_path / f"board-{len(list(tmp_path.iterdir()))}", personality, patterns[name])

    return make


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
