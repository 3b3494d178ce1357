from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from rerig_agent.facts import file_facts
from rerig_agent.facts.file_facts import probe_file, probe_paths


def test_an_ordinary_file(disk_path: Path) -> None:
    path = disk_path / "a.bin"
    path.write_bytes(os.urandom(65536))

    facts = probe_file(str(path))

    assert (facts["kind"], facts["errno"], facts["size_bytes"]) == ("file", None, 65536)
    assert facts["modified_ns"] == path.stat().st_mtime_ns
    assert facts["owner_or_writable"] is True
    assert facts["hole_bytes"] == 0
    assert facts["direct_alignment_bytes"] in (None, 0, 512, 1024, 2048, 4096, 65536)


def test_the_mount_id_is_one_of_mountinfo(disk_path: Path) -> None:
    facts = probe_file(str(disk_path))

    ids = [int(line.split()[0]) for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines()]
    assert facts["mount_id"] in ids


def test_holes_are_added_up(disk_path: Path) -> None:
    path = disk_path / "holes"
    with path.open("wb") as file:
        for block in (0, 2, 4):
            os.pwrite(file.fileno(), b"x" * 2**20, block * 2**20)
        file.truncate(6 * 2**20)

    assert probe_file(str(path))["hole_bytes"] == 3 * 2**20


def test_counting_holes_ends_after_some_and_says_at_least_so_many(
    disk_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_facts, "_HOLES_COUNTED", 2)
    path = disk_path / "holes"
    with path.open("wb") as file:
        for block in range(1, 20, 2):
            os.pwrite(file.fileno(), b"x" * 2**20, block * 2**20)

    assert probe_file(str(path))["hole_bytes"] == 2 * 2**20


def test_an_empty_file_has_no_holes(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    assert probe_file(str(tmp_path / "empty"))["hole_bytes"] == 0


def extents(*flags: int) -> Any:
    def answer(_descriptor: int, _request: int, buffer: bytearray) -> int:
        struct.pack_into("=I", buffer, 20, len(flags))
        for index, flag in enumerate(flags):
            struct.pack_into("=I", buffer, 32 + 56 * index + 40, flag)
        return 0

    return answer


@pytest.mark.parametrize(
    ("flags", "encoded"), [((), False), ((0, 1), False), ((0, 0x8), True), ((0x88, 0x88), False), ((0x88, 0x8), True)]
)
def test_compressed_extents_are_told_from_encrypted_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[int, ...], encoded: bool
) -> None:
    monkeypatch.setattr(file_facts.fcntl, "ioctl", extents(*flags))
    (tmp_path / "a").write_bytes(b"x" * 8192)

    assert probe_file(str(tmp_path / "a"))["encoded"] is encoded


def test_a_file_system_without_extents_leaves_it_unknown() -> None:
    assert probe_file("/proc/self/maps")["encoded"] is None


def test_paths_are_looked_at_without_following_the_last_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 5)
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "folder").mkdir()

    found = probe_paths([str(tmp_path / name) for name in ("a", "link", "folder", "none", "nul\0")])

    assert [None if entry is None else entry["kind"] for entry in found] == [
        "file",
        "unreadable",
        "directory",
        None,
        None,
    ]
    assert found[0] is not None
    assert (found[0]["size_bytes"], found[0]["real_path"]) == (5, str((tmp_path / "a").resolve()))
