"""What the tests of the twin share: Debian's disk tools, which fill disks and judge what was filled; boards to try."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from debian_packages import CACHE, missing, unpack
from twin.l4t.bench import Bench
from twin.l4t.values import Personality

# To fill disks, then to judge: nothing of them is installed, and none of them needs the kernel's help for a plain file.
PACKAGES = ["fdisk", "btrfs-progs", "dosfstools", "lvm2", "mdadm", "cryptsetup-bin", "bcache-tools"]
MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it
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
def board_patterns() -> Iterator[tuple[Path, dict[str, Bench]]]:
    """A folder for boards, hundreds of small files each: in memory, where there is such a place."""
    with tempfile.TemporaryDirectory(
        prefix="rerig-boards-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None
    ) as folder:
        yield Path(folder), {}


@pytest.fixture
def make_bench(board_patterns: tuple[Path, dict[str, Bench]]) -> Iterator[Callable[[Personality], Bench]]:
    """Sets up a board, in a folder of the test's own; a second call in the same test makes a second board."""
    folder, patterns = board_patterns
    own: list[Path] = []

    def make(personality: Personality) -> Bench:
        name = repr(personality)
        if name not in patterns:
            patterns[name] = Bench(folder / f"pattern-{len(patterns)}", personality)
        own.append(folder / f"own-{len(own)}")
        return Bench(own[-1], personality, patterns[name])

    yield make
    for one in own:
        shutil.rmtree(one)


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
