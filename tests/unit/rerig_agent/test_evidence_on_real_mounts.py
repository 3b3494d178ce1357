"""The same judgements on file systems that this kernel really has: loop devices, overlay, tmpfs, a dead FUSE server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

import pytest

from real_mounts import RealMounts
from rerig_agent.counters import take
from rerig_agent.evidence import collect_target
from rerig_agent.facts.hung_guard import run_bounded
from rerig_agent.judge.classify import classify

pytestmark = pytest.mark.root


@pytest.fixture
def mounts(disk_path: Path) -> Iterator[RealMounts]:
    """Undone before the folder goes that the mounts lie in: hence the argument."""
    with RealMounts() as entered:
        yield entered


def filled(path: Path, size_bytes: int = 65536) -> str:
    path.write_bytes(os.urandom(size_bytes))
    return str(path)


def names(evidence: dict[str, Any]) -> list[str]:
    return [device["name"] for device in evidence["block_chain"]]


def overlay(mounts: RealMounts, lower: Path, upper: Path, point: Path) -> Path:
    for folder in (lower, upper / "up", upper / "work"):
        folder.mkdir(parents=True, exist_ok=True)
    return mounts.mount("overlay", "o", point, f"lowerdir={lower},upperdir={upper / 'up'},workdir={upper / 'work'}")


def test_tmpfs_is_refused_although_it_takes_direct_reads(mounts: RealMounts, tmp_path: Path) -> None:
    path = filled(mounts.mount("tmpfs", "t", tmp_path / "ram", "size=1m") / "a.bin")

    assert classify(collect_target(path))["refusal_code"] == "ram_file_system"


def test_ramfs_is_refused(mounts: RealMounts, tmp_path: Path) -> None:
    path = filled(mounts.mount("ramfs", "r", tmp_path / "ram") / "a.bin")

    assert classify(collect_target(path))["refusal_code"] == "ram_file_system"


def test_a_file_of_proc_is_refused() -> None:
    assert classify(collect_target("/proc/self/maps"))["refusal_code"] == "pseudo_file_system"


def test_a_loop_device_leads_to_the_disk_of_its_file(mounts: RealMounts, disk_path: Path) -> None:
    below = collect_target(filled(disk_path / "neighbour"))
    looped = mounts.ext4_on_loop(disk_path / "disk image.img", disk_path / "looped")
    evidence = collect_target(filled(looped / "a.bin"))

    judged = classify(evidence)

    assert (judged["storage_class"], judged["medium"], judged["refusal"]) == ("loop", "block", None)
    assert names(evidence)[0].startswith("loop")
    assert names(evidence)[1:] == names(below)
    assert judged["proof"]["device"] == classify(below)["proof"]["device"]
    assert set(take(judged, evidence)["block"]) == set(names(evidence))


def test_a_loop_device_over_tmpfs_is_refused(mounts: RealMounts, tmp_path: Path) -> None:
    ram = mounts.mount("tmpfs", "t", tmp_path / "ram", "size=48m")
    path = filled(mounts.ext4_on_loop(ram / "disk.img", tmp_path / "looped") / "a.bin")

    assert classify(collect_target(path))["refusal_code"] == "loop_on_ram"


def test_overlay_on_ext4_counts_the_layer_that_holds_the_file(mounts: RealMounts, disk_path: Path) -> None:
    upper = mounts.ext4_on_loop(disk_path / "upper.img", disk_path / "upper fs")
    lower = disk_path / "lower"
    lower.mkdir()
    filled(lower / "old.bin")
    merged = overlay(mounts, lower, upper, disk_path / "merged")
    filled(merged / "new.bin")

    old, new = collect_target(str(merged / "old.bin")), collect_target(str(merged / "new.bin"))

    assert names(old) == names(collect_target(str(lower / "old.bin")))
    assert names(new)[0].startswith("loop")
    assert (old["unresolved"], new["unresolved"]) == ([], [])
    assert classify(new)["storage_class"] == "loop"
    assert classify(old)["refusal"] is None


def test_overlay_on_tmpfs_is_refused_for_new_files_and_folders(mounts: RealMounts, disk_path: Path) -> None:
    ram = mounts.mount("tmpfs", "t", disk_path / "ram", "size=8m")
    merged = overlay(mounts, disk_path / "lower", ram, disk_path / "merged")
    filled(disk_path / "lower" / "old.bin")
    folder = collect_target(str(merged))

    assert classify(collect_target(filled(merged / "new.bin")))["refusal_code"] == "overlay_on_ram"
    assert classify(dict(folder, kind="file", size_bytes=2**30))["refusal_code"] == "overlay_on_ram"
    assert classify(collect_target(str(merged / "old.bin")))["refusal"] is None


def test_a_file_with_an_over_mount_and_a_bind_mount_finds_its_own_mount(mounts: RealMounts, disk_path: Path) -> None:
    (disk_path / "data").mkdir()
    filled(disk_path / "data" / "a.bin")
    bound = mounts.bind(disk_path / "data", disk_path / "bound here")
    mounts.mount("tmpfs", "t", disk_path / "data", "size=1m")
    filled(disk_path / "data" / "a.bin")

    covered, visible = collect_target(str(disk_path / "data/a.bin")), collect_target(str(bound / "a.bin"))

    assert covered["mount"]["fs_type"] == "tmpfs"
    assert visible["mount"]["mount_point"] == str(bound)
    assert classify(visible)["refusal"] is None


def test_a_dead_mount_is_hung_and_named_by_its_file_system(mounts: RealMounts, tmp_path: Path) -> None:
    path = mounts.dead_fuse(tmp_path / "dead") / "model.bin"

    evidence = collect_target(str(path), limit_s=0.2)
    judged = classify(evidence)

    assert (evidence["kind"], evidence["mount"]["fs_type"]) == ("hung", "fuse")
    assert (judged["storage_class"], judged["refusal_code"]) == ("fuse", "hung")
    assert judged["refusal"].startswith('"model.bin" did not answer in time: its file system hangs')


def test_a_sparse_and_a_preallocated_file_are_refused_and_a_full_one_is_not(disk_path: Path) -> None:
    sparse, allocated = disk_path / "sparse", disk_path / "allocated"
    with sparse.open("wb") as file:
        file.write(os.urandom(65536))
        file.truncate(2**20)
    with allocated.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 2**20)

    judged = [classify(collect_target(str(path))) for path in (sparse, allocated)]

    assert [found["refusal_code"] for found in judged] == ["sparse", "sparse"]
    assert judged[0]["refusal"] == (
        '"sparse" is sparse: about 65,536 of its 1,048,576 bytes are stored, and the rest is read without any disk.'
    )
    assert classify(collect_target(filled(disk_path / "full", 2**20)))["refusal"] is None


def test_an_unreadable_file_is_refused_with_the_systems_reason(public_path: Path) -> None:
    path = Path(filled(public_path / "private"))
    path.chmod(0o600)

    def as_nobody() -> dict[str, Any]:
        os.setgid(65534)
        os.setuid(65534)
        return collect_target(str(path))

    judged = classify(run_bounded(as_nobody, 60).value)

    assert judged["refusal_code"] == "unreadable"
    assert judged["refusal"] == '"private" can\'t be read: Permission denied.'


def test_a_block_device_is_refused(mounts: RealMounts, disk_path: Path) -> None:
    backing = disk_path / "disk.img"
    backing.write_bytes(b"\0" * 2**20)

    assert classify(collect_target(mounts.loop(backing)))["refusal_code"] == "block_device"
