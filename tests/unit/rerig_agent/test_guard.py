"""What a run changes outside its directory is journalled first, and put back in any case."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from pathlib import Path
from typing import Any, ContextManager, Iterator

import pytest

from fake_machine import SATA_PLACE, FakeMachine
from real_mounts import RealMounts
from rerig_agent import guard as guard_module
from rerig_agent import knobs, undo
from rerig_agent.child import StopFlag
from rerig_agent.evidence import collect_target
from rerig_agent.guard import Guard
from rerig_agent.journal import Journal, read_journal
from rerig_agent.knobs import KnobError, KnobLeft, find_read_ahead
from rerig_agent.scratch import ScratchError
from rerig_agent.undo import SCRATCH_PREFIX, pending, undo_run

BDI = "/sys/class/bdi/8:0/read_ahead_kb"


def enter_and_die(change: ContextManager) -> None:
    """Make the change in a process that ends at once, as a killed one does: nothing is undone by it."""
    child = os.fork()
    if child == 0:
        try:
            change.__enter__()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


class Held:
    """A guard over a fake machine with one SATA disk, and what it journals and says."""

    def __init__(self, machine: FakeMachine, run_dir: Path) -> None:
        machine.disk(SATA_PLACE, "8:0")
        machine.partition(SATA_PLACE, "sda1", "8:1")
        machine.mount("8:1", "/data", "ext4", "/dev/sda1")
        machine.file("/data/model.bin")
        machine.write("/proc/sys/kernel/random/boot_id", "this-boot\n")
        self.knob = machine.write(BDI, "128\n")
        self.machine = machine
        self.run_dir = run_dir
        self.journal = Journal(run_dir)
        self.said: list = []
        self.guard = Guard(self.journal, lambda event, **data: self.said.append((event, data)), machine.root)

    def evidence(self) -> dict:
        return self.machine.collect("/data/model.bin")

    def events(self) -> list:
        return [
            {key: value for key, value in event.items() if key not in ("at", "monotonic_s")}
            for event in read_journal(self.run_dir)
        ]

    def killed(self) -> list:
        """What the next start undoes."""
        self.journal.close()
        return undo_run(self.run_dir, self.machine.root)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    (tmp_path / "machine").mkdir()
    (tmp_path / "run").mkdir()
    made = Held(FakeMachine(tmp_path / "machine"), tmp_path / "run")
    yield made
    made.journal.close()


def test_a_read_ahead_is_journalled_set_and_put_back(held: Held) -> None:
    with held.guard.read_ahead(held.evidence(), 512) as knob:
        assert held.knob.read_text() == "512\n"
        assert knob.read_number() == 512
        assert held.events() == [
            {
                "event": "undo-add",
                "action": "restore_text",
                "path": BDI,
                "previous": "128",
                "value": "512",
                "boot_id": "this-boot",
            }
        ]
    assert held.knob.read_text() == "128\n"
    assert held.events()[1:] == [
        {"event": "undo-done", "action": "restore_text", "path": BDI, "by": "same run", "undone": True}
    ]


def test_a_read_ahead_is_put_back_after_any_failure(held: Held) -> None:
    with pytest.raises(ZeroDivisionError), held.guard.read_ahead(held.evidence(), 512):
        raise ZeroDivisionError
    assert held.knob.read_text() == "128\n"
    assert pending(held.events()) == []


def test_a_read_ahead_that_is_so_already_is_no_change(held: Held) -> None:
    with held.guard.read_ahead(held.evidence(), 128) as knob:
        assert knob.read_number() == 128
    assert held.events() == []


def test_the_next_start_puts_back_what_a_killed_run_had_set(held: Held) -> None:
    enter_and_die(held.guard.read_ahead(held.evidence(), 512))
    assert held.knob.read_text() == "512\n"
    assert [(done.action, done.path) for done in held.killed()] == [("restore_text", BDI)]
    assert held.knob.read_text() == "128\n"
    assert held.killed() == []


def test_a_number_that_somebody_else_has_set_meanwhile_stays(held: Held) -> None:
    enter_and_die(held.guard.read_ahead(held.evidence(), 512))
    held.knob.write_text("2048\n")
    assert held.killed() == []
    assert held.knob.read_text() == "2048\n"
    assert pending(held.events()) == []


def test_another_boot_has_its_own_numbers(held: Held) -> None:
    enter_and_die(held.guard.read_ahead(held.evidence(), 512))
    held.machine.write("/proc/sys/kernel/random/boot_id", "the next boot\n")
    assert held.killed() == []
    assert held.knob.read_text() == "512\n"
    assert pending(held.events()) == []


def test_a_number_that_the_kernel_rounds_is_not_half_set(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_text

    def round_up(path: Path, text: str, **rest: Any) -> int:
        return real(path, "1024\n" if text == "512\n" else text, **rest)

    monkeypatch.setattr(Path, "write_text", round_up)
    with pytest.raises(KnobError, match="the kernel made 1024 KiB of 512 KiB"), held.guard.read_ahead(
        held.evidence(), 512
    ):
        raise AssertionError("it must not begin")
    assert held.knob.read_text() == "128\n"
    assert pending(held.events()) == []


def test_a_number_that_can_not_be_put_back_at_once_stays_pending(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_text

    def stuck(path: Path, text: str, **rest: Any) -> int:
        if text == "128\n":
            raise OSError(errno.EIO, "Input/output error")
        return real(path, "1024\n", **rest)

    monkeypatch.setattr(Path, "write_text", stuck)
    with pytest.raises(KnobLeft, match="was 128 KiB and can't be put back"), held.guard.read_ahead(
        held.evidence(), 512
    ):
        raise AssertionError("it must not begin")
    assert len(pending(held.events())) == 1


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EACCES, "only root may"), (errno.EROFS, "/sys is read-only here"), (errno.EINVAL, "Invalid argument")],
)
def test_a_refusal_is_one_sentence_and_leaves_nothing(
    held: Held, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refuse(*_arguments: object, **_rest: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(KnobError, match=f"^The read-ahead can't be set: {words}") as caught, held.guard.read_ahead(
        held.evidence(), 512
    ):
        raise AssertionError("it must not begin")
    assert str(caught.value).endswith(".")
    assert pending(held.events()) == []
    assert held.knob.read_text() == "128\n"


def test_a_part_of_a_page_is_refused_before_anything_is_done(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs.mmap, "PAGESIZE", 16384)
    with pytest.raises(
        KnobError, match="can't be set to 520 KiB: this machine's pages are of 16 KiB"
    ), held.guard.read_ahead(held.evidence(), 520):
        raise AssertionError("it must not begin")
    assert held.events() == []


def test_a_file_system_without_a_read_ahead_is_one_sentence(held: Held) -> None:
    held.machine.mount("0:99", "/none", "zfs", "pool")
    held.machine.file("/none/x")
    with pytest.raises(KnobError, match="the kernel shows none"), held.guard.read_ahead(
        held.machine.collect("/none/x"), 512
    ):
        raise AssertionError("it must not begin")
    assert held.events() == []


def test_the_disk_of_a_partition_has_the_read_ahead_or_else_its_queue(held: Held) -> None:
    assert find_read_ahead(held.evidence(), held.machine.root) == BDI
    held.knob.unlink()
    queue = held.machine.write("/sys/block/sda/queue/read_ahead_kb", "128\n")
    with held.guard.read_ahead(held.evidence(), 512):
        assert queue.read_text() == "512\n"
    assert queue.read_text() == "128\n"


def test_a_network_mount_has_one_of_its_own(held: Held) -> None:
    held.machine.mount("0:52", "/nas", "nfs4", "server:/export")
    held.machine.file("/nas/x")
    own = held.machine.write("/sys/class/bdi/0:52/read_ahead_kb", "128\n")
    with held.guard.read_ahead(held.machine.collect("/nas/x"), 15360):
        assert own.read_text() == "15360\n"
    assert (own.read_text(), held.knob.read_text()) == ("128\n", "128\n")


def test_a_btrfs_pool_has_one_of_its_own(held: Held) -> None:
    held.machine.mount("0:40", "/pool", "btrfs", "/dev/sda1")
    held.machine.file("/pool/x")
    own = held.machine.write("/sys/devices/virtual/bdi/btrfs-1/read_ahead_kb", "4096\n")
    for link, target in (
        ("/sys/class/bdi/btrfs-1", "/sys/devices/virtual/bdi/btrfs-1"),
        ("/sys/fs/btrfs/uuid/bdi", "/sys/devices/virtual/bdi/btrfs-1"),
        ("/sys/fs/btrfs/uuid/devices/sda1", f"/sys/devices/{SATA_PLACE}/sda1"),
    ):
        held.machine._link(link, target)
    evidence = held.machine.collect("/pool/x")
    assert find_read_ahead(evidence, held.machine.root) == "/sys/class/bdi/btrfs-1/read_ahead_kb"
    with held.guard.read_ahead(evidence, 512):
        assert own.read_text() == "512\n"
    assert own.read_text() == "4096\n"


def test_a_scratch_file_lives_as_long_as_its_block(held: Held) -> None:
    path = held.run_dir / (SCRATCH_PREFIX + "x.bin")
    with held.guard.scratch_file(path, 4096, StopFlag()):
        assert path.stat().st_size == 4096
        assert [event["event"] for event in held.events()] == ["undo-add"]
    assert not path.exists()
    assert pending(held.events()) == []


def test_a_scratch_file_in_the_place_of_another_is_not_made_and_the_other_stays(held: Held) -> None:
    path = held.run_dir / (SCRATCH_PREFIX + "x.bin")
    path.write_text("precious")
    with pytest.raises(ScratchError, match="exists"), held.guard.scratch_file(path, 4096, StopFlag()):
        raise AssertionError("it must not begin")
    assert path.read_text() == "precious"
    assert pending(held.events()) == []


def test_what_can_not_be_removed_is_said_and_stays_pending(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_entry: dict, _root: Path) -> bool:
        raise OSError(errno.ETIMEDOUT, "the file system does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(guard_module, "undo_entry", refuse)
        path = held.run_dir / (SCRATCH_PREFIX + "x.bin")
        with held.guard.scratch_file(path, 4096, StopFlag()):
            pass
    sentence = f"The scratch file {path.name} could not be removed: the file system does not answer."
    assert held.said == [("scratch-left", {"sentence": sentence})]
    assert [done.path for done in held.killed()] == [str(path)]
    assert not path.exists()


def test_a_control_group_is_made_and_removed(held: Held) -> None:
    parent = held.machine.root / "sys/fs/cgroup/memory/user"
    parent.mkdir(parents=True)
    with held.guard.cgroup("/sys/fs/cgroup/memory/user", "run1") as place:
        assert place == parent / "rerig-run1"
        assert place.is_dir()
    assert list(parent.iterdir()) == []
    assert pending(held.events()) == []


def test_the_next_start_removes_a_control_group(held: Held) -> None:
    (held.machine.root / "sys/fs/cgroup").mkdir(parents=True)
    place = held.machine.root / "sys/fs/cgroup/rerig-run1"
    enter_and_die(held.guard.cgroup("/sys/fs/cgroup", "run1"))
    assert place.is_dir()
    assert [done.action for done in held.killed()] == ["remove_cgroup"]
    assert not place.exists()


def test_a_control_group_of_somebody_else_is_neither_taken_nor_removed(held: Held) -> None:
    place = held.machine.root / "sys/fs/cgroup/rerig-run1"
    place.mkdir(parents=True)
    with pytest.raises(FileExistsError), held.guard.cgroup("/sys/fs/cgroup", "run1"):
        raise AssertionError("it must not begin")
    assert place.is_dir()
    assert pending(held.events()) == []


def test_a_control_group_that_stays_busy_stays_pending(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_path: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(undo, "BUSY_LIMIT_S", 0)
    (held.machine.root / "sys/fs/cgroup").mkdir(parents=True)
    with monkeypatch.context() as patched, held.guard.cgroup("/sys/fs/cgroup", "run1"):
        patched.setattr(Path, "rmdir", busy)
    assert held.said[0][1]["sentence"] == "The control group rerig-run1 could not be removed: a process is still in it."
    assert len(pending(held.events())) == 1


def test_an_eviction_is_journalled_with_what_was_in_memory(held: Held, disk_path: Path) -> None:
    path = disk_path / "cached.bin"
    path.write_bytes(bytes(65536))
    found = held.guard.evict(str(path), 60, StopFlag().check)
    assert found["file_bytes"] == 65536
    (event,) = held.events()
    assert (event["action"], event["path"]) == ("evicted", str(path))
    assert event["resident_bytes"] in (65536, None)
    assert pending(held.events()) == []


def test_nothing_is_done_when_it_can_not_be_journalled(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    evidence = held.evidence()
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"), held.guard.read_ahead(evidence, 512):
        raise AssertionError("it must not begin")
    assert held.knob.read_text() == "128\n"


@pytest.mark.root
def test_the_read_ahead_of_a_real_loop_device_is_set_and_put_back(tmp_path: Path, disk_path: Path) -> None:
    with RealMounts() as mounts:
        path = mounts.ext4_on_loop(disk_path / "disk.img", disk_path / "mounted") / "model.bin"
        path.write_bytes(bytes(65536))
        evidence = collect_target(str(path))
        place = find_read_ahead(evidence)
        if place is None or not os.access(place, os.W_OK) or os.statvfs(place).f_flag & os.ST_RDONLY:
            pytest.skip("/sys shows no read-ahead here, or is read-only, as in a container")
        earlier = Path(place).read_text()
        journal = Journal(tmp_path)
        guard = Guard(journal, lambda event, **data: None)
        with guard.read_ahead(evidence, 64):
            assert Path(place).read_text() == "64\n"
            assert collect_target(str(path))["read_ahead_kb"] == 64
        assert Path(place).read_text() == earlier
        enter_and_die(guard.read_ahead(evidence, 64))
        assert Path(place).read_text() == "64\n"
        journal.close()
        assert [done.path for done in undo_run(tmp_path)] == [place]
        assert Path(place).read_text() == earlier


def real_cgroup_parents() -> list:
    """A directory of each cgroup hierarchy that is mounted here."""
    points = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [words[1] for words in points if words[2] in ("cgroup", "cgroup2") and words[1].startswith("/sys/fs/cgroup")]


@pytest.mark.root
def test_a_real_control_group_with_a_process_is_removed_once_that_has_ended(tmp_path: Path) -> None:
    parents = [parent for parent in real_cgroup_parents() if os.access(parent, os.W_OK)]
    parents = [parent for parent in parents if not os.statvfs(parent).f_flag & os.ST_RDONLY]
    if not parents:
        pytest.skip("no cgroup is mounted below /sys/fs/cgroup here, or it is read-only, as in a container")
    journal = Journal(tmp_path)
    try:
        for parent in (parents[0], parents[-1]):
            with Guard(journal, lambda event, **data: None).cgroup(parent, f"test-{os.getpid()}") as place:
                child = subprocess.Popen(["sleep", "600"])
                with contextlib.suppress(OSError):  # cpuset of version 1 wants more first
                    (place / "cgroup.procs").write_text(f"{child.pid}\n")
                child.kill()
                child.wait()
            assert not place.exists()
    finally:
        journal.close()
    assert pending(read_journal(tmp_path)) == []
