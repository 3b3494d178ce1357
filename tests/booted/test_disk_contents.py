"""A booted Linux sees every kind of contents as what it is, and writes nothing to a disk that is only plugged in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from twin import contents, disks
from twin.contents.layouts import Layout
from twin.contents.tables import Partition
from twin.machine import Machine

pytestmark = pytest.mark.twin

MIB = 1024 * 1024
BYTES = 256 * MIB
# md arrays that udev has put together from a disk would keep its name.
LOOK = """
lsblk --json --output NAME,FSTYPE,PTTYPE {disk}
mdadm --stop --scan --quiet 2>/dev/null || true
"""


@pytest.mark.parametrize("kind", contents.KINDS)
def test_the_guest_sees_what_a_disk_is_and_changes_nothing(
    kind: str, shared_twin_amd64: Machine, tmp_path: Path
) -> None:
    contents.write(kind, tmp_path / "disk", BYTES)
    found = _seen_unchanged(shared_twin_amd64, tmp_path / "disk")
    assert (found["fstype"] or found["pttype"] or "") == contents.SIGNS[kind]


def test_the_guest_sees_what_each_partition_is_and_changes_nothing(shared_twin_amd64: Machine, tmp_path: Path) -> None:
    kinds = contents.INSIDE_KINDS
    parts = ((Partition((1 + 128 * number) * MIB, 128 * MIB), kind) for number, kind in enumerate(kinds))
    contents.write_layout(Layout("gpt", tuple(parts)), tmp_path / "disk", (2 + 128 * len(kinds)) * MIB)
    found = _seen_unchanged(shared_twin_amd64, tmp_path / "disk")
    assert found["pttype"] == "gpt"
    assert {kind: part["fstype"] or "" for kind, part in zip(kinds, found["children"], strict=True)} == {
        kind: contents.SIGNS[kind] for kind in kinds
    }


def test_the_guest_reads_the_files_of_linux_beside_free_space(shared_twin_amd64: Machine, tmp_path: Path) -> None:
    contents.write("gpt-linux-free", tmp_path / "disk", BYTES)
    before = contents.fingerprint(tmp_path / "disk")
    disk = disks.attach(shared_twin_amd64, tmp_path / "disk", serial="LINUX", slot=1)
    said = shared_twin_amd64.shell.script(
        f"mount -o ro {disk.by_id}-part1 /mnt; cat /mnt/photos/2019/beach.txt; umount /mnt"
    )
    disk.pull()
    assert said == "Not to be lost.\n"
    assert contents.fingerprint(tmp_path / "disk") == before


def _seen_unchanged(machine: Machine, path: Path) -> dict[str, Any]:
    """What lsblk says of the disk while it is plugged in."""
    before = contents.fingerprint(path)
    disk = disks.attach(machine, path, serial="KIND", slot=1)
    said = machine.shell.script(LOOK.format(disk=disk.by_id))
    disk.pull()
    assert contents.fingerprint(path) == before
    (found,) = json.loads(said)["blockdevices"]
    return found
