from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from real_mounts import RealMounts
from rerig_agent import cache
from rerig_agent.facts.hung_guard import run_bounded
from rerig_agent.facts.page_cache import CallFailed, cachestat_pages, mincore_pages

PAGES = 512
SIZE = PAGES * mmap.PAGESIZE
LARGE = 64 * 2**20  # many times a large folio (2 MiB), of which one touched page keeps all


@pytest.fixture
def cached_file(disk_path: Path) -> Path:
    path = disk_path / "model.bin"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture
def large_file(disk_path: Path) -> Path:
    path = disk_path / "large.bin"
    path.write_bytes(b"x" * LARGE)
    return path


def share(residency: dict) -> float:
    return residency["resident_bytes"] / residency["file_bytes"]


def without_cachestat(monkeypatch: pytest.MonkeyPatch, number: int = 38) -> None:
    def refuse(_descriptor: int) -> int:
        raise CallFailed(number, "cachestat: not here")

    monkeypatch.setattr(cache, "cachestat_pages", refuse)


@pytest.fixture(params=["best method", "mincore"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "mincore":
        without_cachestat(monkeypatch)
    return str(request.param)


def test_a_written_file_is_in_memory(cached_file: Path, method: str) -> None:
    found = cache.residency(str(cached_file))

    assert share(found) == pytest.approx(1.0)
    assert found["reason"] is None
    assert method != "mincore" or found["method"] == "mincore"


def test_an_evicted_file_is_gone_from_memory_although_it_was_dirty(cached_file: Path, method: str) -> None:
    assert share(cache.evict(str(cached_file))) < 0.01
    assert share(cache.residency(str(cached_file))) < 0.01


def test_measuring_reads_nothing_in(cached_file: Path, method: str) -> None:
    cache.evict(str(cached_file))

    for _ in range(3):
        assert cache.residency(str(cached_file))["resident_bytes"] == 0


def test_a_file_mapped_but_untouched_is_evicted(cached_file: Path, method: str) -> None:
    with cached_file.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        assert share(cache.evict(str(cached_file))) < 0.01


def test_a_mapping_of_which_half_was_touched_keeps_that_half(large_file: Path, method: str) -> None:
    with large_file.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping:
        assert sum(mapping[offset] for offset in range(0, LARGE // 2, mmap.PAGESIZE)) > 0

        assert share(cache.evict(str(large_file))) == pytest.approx(0.5, abs=0.05)
    assert share(cache.evict(str(large_file))) < 0.01


def test_mincore_and_cachestat_agree_also_on_parts(cached_file: Path) -> None:
    if cache.evict(str(cached_file))["method"] != "cachestat":
        pytest.skip("the kernel has no cachestat (Linux 6.5), or the file lies on an overlay, where it is always 0")
    with cached_file.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        os.pread(file.fileno(), 100 * mmap.PAGESIZE, 40 * mmap.PAGESIZE)

        by_cachestat = cachestat_pages(file.fileno())
        assert by_cachestat == mincore_pages(file.fileno(), SIZE)
    assert 100 <= by_cachestat < PAGES


def test_mincore_looks_through_several_windows(cached_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rerig_agent.facts.page_cache._WINDOW_BYTES", 100 * mmap.PAGESIZE)

    with cached_file.open("rb") as file:
        assert mincore_pages(file.fileno(), SIZE) == PAGES


def test_a_last_partial_page_counts_by_its_bytes(disk_path: Path, method: str) -> None:
    path = disk_path / "odd"
    path.write_bytes(b"x" * (SIZE + 3))

    assert cache.residency(str(path))["resident_bytes"] == SIZE + 3


def test_an_empty_file_has_no_bytes_in_memory(disk_path: Path, method: str) -> None:
    path = disk_path / "empty"
    path.touch()

    found = cache.residency(str(path))
    assert (found["resident_bytes"], found["file_bytes"]) == (0, 0)


def test_a_forbidden_cachestat_falls_back_to_mincore(cached_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_cachestat(monkeypatch, number=1)

    assert cache.residency(str(cached_file))["method"] == "mincore"


def seen_by_nobody(path: Path) -> dict:
    def as_nobody() -> dict:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        return cache.residency(str(path))

    answer = run_bounded(as_nobody, 60)
    assert answer.error is None
    return answer.value


@pytest.mark.root
def test_another_users_file_gives_no_number_but_a_reason(public_path: Path, method: str) -> None:
    path = public_path / "model.bin"
    path.write_bytes(os.urandom(SIZE))

    found = seen_by_nobody(path)

    if found["method"] == "cachestat":
        pytest.skip("cachestat answers everybody on this kernel (6.5 to 6.13)")
    assert (found["method"], found["resident_bytes"]) == (None, None)
    assert found["file_bytes"] == SIZE
    assert "owners" in found["reason"]


@pytest.mark.root
def test_a_file_that_all_may_write_is_counted_for_all(public_path: Path, method: str) -> None:
    path = public_path / "model.bin"
    path.write_bytes(os.urandom(SIZE))
    path.chmod(0o666)

    assert seen_by_nobody(path)["resident_bytes"] == SIZE


@pytest.mark.root
def test_root_is_told_of_others_files_also_where_nobody_may_write(
    disk_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_cachestat(monkeypatch)
    with RealMounts() as mounts:
        folder = mounts.ext4_on_loop(disk_path / "disk.img", disk_path / "mounted")
        path = folder / "model.bin"
        path.write_bytes(os.urandom(SIZE))
        os.chown(str(path), 1000, 1000)
        mounts.make_read_only(folder)

        assert cache.residency(str(path))["method"] == "mincore"


@pytest.mark.root
def test_a_file_on_overlay_is_counted_although_cachestat_sees_none_of_its_pages(disk_path: Path) -> None:
    lower, upper, work = (disk_path / name for name in ("lower", "upper", "work"))
    for folder in (lower, upper, work):
        folder.mkdir()
    with (lower / "model.bin").open("wb") as file:
        file.write(os.urandom(SIZE))
        file.flush()
        os.fsync(file.fileno())  # overlay writes nothing back for its lower layers
    with RealMounts() as mounts:
        merged = mounts.mount("overlay", "o", disk_path / "m", f"lowerdir={lower},upperdir={upper},workdir={work}")
        path = str(merged / "model.bin")

        before, after = cache.residency(path), cache.evict(path)

    assert (before["method"], share(before)) == ("mincore", 1.0)
    assert share(after) < 0.01


@pytest.mark.root
def test_a_dead_mount_is_a_reason_and_does_not_hang(disk_path: Path) -> None:
    with RealMounts() as mounts:
        path = mounts.dead_fuse(disk_path / "dead") / "model.bin"

        found = cache.residency(str(path), limit_s=0.2)

    assert found["method"] is None
    assert found["reason"].startswith("the file did not answer within 0.2 seconds")


def test_a_missing_file_a_directory_and_a_pipe_are_reasons(disk_path: Path) -> None:
    os.mkfifo(str(disk_path / "pipe"))

    for name, words in (("none", "can't be opened"), ("", "only regular files"), ("pipe", "only regular files")):
        found = cache.residency(str(disk_path / name))
        assert found["method"] is None
        assert words in found["reason"]


def test_an_unknown_residency_has_all_keys_of_a_known_one(cached_file: Path) -> None:
    assert set(cache.unknown_residency("because")) == set(cache.residency(str(cached_file)))
