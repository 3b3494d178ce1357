"""Scratch files: exact sizes, data that neither compresses nor repeats, and no trace after a failure."""

from __future__ import annotations

import os
import re
import signal
import time
import zlib
from pathlib import Path
from typing import Iterator

import pytest

from real_mounts import RealMounts
from rerig_agent import scratch
from rerig_agent.child import StopFlag, Stopped
from rerig_agent.facts.sysfs import read_text
from rerig_agent.scratch import ScratchError, ScratchLeft, check_space, create_scratch
from rerig_agent.undo import SCRATCH_PREFIX
from waiting import wait_for

MIB = 1024 * 1024


def made(directory: Path, size_bytes: int) -> Path:
    path = directory / (SCRATCH_PREFIX + "x.bin")
    create_scratch(path, size_bytes, StopFlag())
    return path


@pytest.mark.parametrize("size_bytes", [1, 4095, 4096, 4097, 4 * MIB, 4 * MIB + 1, 12 * MIB, 25_381_531])
def test_the_size_is_exact(tmp_path: Path, size_bytes: int) -> None:
    path = made(tmp_path, size_bytes)
    assert path.stat().st_size == size_bytes
    assert path.stat().st_blocks * 512 >= size_bytes  # no holes: they would be read without a disk


def test_the_data_does_not_compress(tmp_path: Path) -> None:
    data = made(tmp_path, 16 * MIB).read_bytes()
    assert len(zlib.compress(data, 1)) > len(data)


def test_nothing_comes_twice_at_any_alignment_or_distance(tmp_path: Path) -> None:
    data = made(tmp_path, 64 * MIB).read_bytes()
    # Chunks that begin where the content says so, as content-defined deduplication cuts them.
    chunks = re.findall(b"\x00\x01(.{16})", data, re.DOTALL)
    assert len(chunks) > 500
    assert len(set(chunks)) == len(chunks)


@pytest.mark.parametrize("block_bytes", [512, 4096, 131072])
def test_no_aligned_block_comes_twice(tmp_path: Path, block_bytes: int) -> None:
    data = made(tmp_path, 48 * MIB).read_bytes()
    blocks = [data[at : at + block_bytes] for at in range(0, len(data), block_bytes)]
    assert len(set(blocks)) == len(blocks)


def test_two_scratch_files_have_nothing_in_common(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = made(tmp_path / "a", MIB).read_bytes(), made(tmp_path / "b", MIB).read_bytes()
    assert not {first[at : at + 512] for at in range(0, MIB, 512)} & {
        second[at : at + 512] for at in range(0, MIB, 512)
    }


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    assert made(tmp_path, 4096).stat().st_mode & 0o777 == 0o600


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / (SCRATCH_PREFIX + "x.bin")
    path.write_text("precious")
    with pytest.raises(ScratchError, match="exists"):
        create_scratch(path, 4096, StopFlag())
    assert path.read_text() == "precious"


def test_a_missing_directory_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ScratchError, match="can't be used"):
        create_scratch(tmp_path / "none" / (SCRATCH_PREFIX + "x.bin"), 4096, StopFlag())


def test_too_little_space_is_said_before_a_byte_is_written(tmp_path: Path) -> None:
    with pytest.raises(ScratchError, match=r"needs .* GiB of free space and there is .* GiB; choose a smaller --size"):
        check_space(str(tmp_path), 2**60)
    assert list(tmp_path.iterdir()) == []


def test_a_stop_request_removes_the_half_written_file(tmp_path: Path) -> None:
    stop = StopFlag()
    stop._remember(signal.SIGINT, None)
    path = tmp_path / (SCRATCH_PREFIX + "x.bin")
    with pytest.raises(Stopped):
        create_scratch(path, 64 * MIB, stop)
    assert not path.exists()


def test_a_write_error_removes_the_file_and_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: object, _offset: int) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(scratch.os, "pwrite", full)
    path = tmp_path / (SCRATCH_PREFIX + "x.bin")
    with pytest.raises(ScratchError, match="the disk is full"):
        create_scratch(path, 8 * MIB, StopFlag())
    assert not path.exists()


def test_a_file_system_without_direct_writes_is_written_through_the_page_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.pwrite
    refused = tmp_path / "refused"  # a file, since a child process writes

    def refuse_direct(descriptor: int, data: memoryview, offset: int) -> int:
        import fcntl

        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT:
            refused.touch()
            raise OSError(22, os.strerror(22))
        return real(descriptor, data, offset)

    monkeypatch.setattr(scratch.os, "pwrite", refuse_direct)
    assert made(tmp_path, 9 * MIB + 5).stat().st_size == 9 * MIB + 5
    assert refused.exists()


def test_progress_only_grows(tmp_path: Path) -> None:
    seen: list[int] = []
    create_scratch(tmp_path / (SCRATCH_PREFIX + "x.bin"), 20 * MIB, StopFlag(), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 20 * MIB


@pytest.fixture
def dead_mount(tmp_path: Path) -> Iterator[Path]:
    with RealMounts() as mounts:
        yield mounts.dead_fuse(tmp_path / "dead")


@pytest.mark.root
def test_a_disk_that_never_answers_does_not_hang_the_agent(dead_mount: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "STALL_S", 0.3)
    with pytest.raises(ScratchError, match="does not answer"):
        create_scratch(dead_mount / (SCRATCH_PREFIX + "x.bin"), MIB, StopFlag())


@pytest.mark.root
def test_a_stop_request_is_heard_while_the_disk_does_not_answer(dead_mount: Path) -> None:
    stop = StopFlag()
    stop._remember(signal.SIGINT, None)
    with pytest.raises(Stopped):
        create_scratch(dead_mount / (SCRATCH_PREFIX + "x.bin"), MIB, stop)


def test_a_file_that_can_not_be_removed_again_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(_path: Path) -> bool:
        raise TimeoutError(110, "the file system does not answer")

    monkeypatch.setattr(scratch, "remove_scratch", hang)
    monkeypatch.setattr(scratch, "STALL_S", 0.3)
    monkeypatch.setattr(scratch.os, "fsync", lambda _descriptor: time.sleep(600))
    with pytest.raises(ScratchLeft, match="could not be removed: the file system does not answer"):
        create_scratch(tmp_path / (SCRATCH_PREFIX + "x.bin"), MIB, StopFlag())


def test_a_killed_writer_leaves_no_file_and_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_descriptor: int, _blocks: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(scratch, "_write_all", die)
    path = tmp_path / (SCRATCH_PREFIX + "x.bin")
    with pytest.raises(ScratchError, match="the process that was to do it was killed"):
        create_scratch(path, 8 * MIB, StopFlag())
    assert not path.exists()


def test_the_writer_ends_with_the_agent_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tell_and_sleep(_descriptor: int, _blocks: object) -> None:
        (tmp_path / "pid.new").write_text(str(os.getpid()))
        (tmp_path / "pid.new").rename(tmp_path / "pid")
        time.sleep(600)

    monkeypatch.setattr(scratch, "_write_all", tell_and_sleep)
    agent = os.fork()
    if agent == 0:
        try:
            create_scratch(tmp_path / (SCRATCH_PREFIX + "x.bin"), 8 * MIB, StopFlag())
        finally:
            os._exit(0)
    wait_for((tmp_path / "pid").exists)
    writer = int((tmp_path / "pid").read_text())
    os.kill(agent, signal.SIGKILL)
    os.waitpid(agent, 0)
    wait_for(lambda: " Z " in (read_text(Path(f"/proc/{writer}/stat")) or " Z "))  # gone, or only to be reaped
