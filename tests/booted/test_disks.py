"""Disks in a booted Linux: limits that hold, errors where they should be, a full disk, a pulled one, a reboot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from twin import contents, disks
from twin.disks import AttachedDisk
from twin.errors import TwinError
from twin.machine import Machine

pytestmark = pytest.mark.twin

MIB = 1024 * 1024
BYTES = 256 * MIB
BAD = (8192, 100 * MIB + 512)
FIO = "fio --name=limit --readonly --direct=1 --ioengine=libaio --iodepth=4 --time_based --output-format=json"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    contents.write("blank", tmp_path / "disk", BYTES)
    return tmp_path / "disk"


@pytest.fixture
def disk(shared_twin_amd64: Machine, path: Path) -> Iterator[AttachedDisk]:
    attached = disks.attach(shared_twin_amd64, path, serial="TWIN-1", slot=1)
    yield attached
    attached.pull()


def test_two_disks_keep_their_names_and_limits_through_a_reboot(disk: AttachedDisk, path: Path, tmp_path: Path) -> None:
    machine = disk.machine
    disk.limit(bps_read=5 * MIB)
    contents.write("ext4", tmp_path / "other", BYTES)
    other = disks.attach(machine, tmp_path / "other", serial="OTHER", slot=2)
    machine.shell.script(f"printf here | dd of={disk.by_id} conv=fsync status=none")
    machine.reboot()
    machine.shell.script("udevadm settle")
    assert {disk.device, other.device} == {"/dev/nvme0n1", "/dev/nvme1n1"}
    assert machine.shell.script(f"head -c 4 {disk.by_id}; blkid -o value -s TYPE {other.by_id}") == "hereext4\n"
    _assert_limit(disk, 5 * MIB)
    assert path.read_bytes()[:5] == b"here\0"
    other.pull()


def test_limits_are_true_and_change_at_once(disk: AttachedDisk) -> None:
    for rate in (10 * MIB, 20 * MIB):
        disk.limit(bps_read=rate)
        _assert_limit(disk, rate)
    disk.limit(bps_read=0, iops_read=200)
    done, seconds = _read(disk, "--rw=randread --bs=4k --offset=128m")
    assert 0.8 * 200 * seconds < done / 4096 < 200 * (seconds + 0.1) + 8
    disk.limit(iops_read=0)


def test_reads_fail_at_the_sectors_with_errors_and_nowhere_else(shared_twin_amd64: Machine, path: Path) -> None:
    disk = disks.attach(shared_twin_amd64, path, serial="BAD", slot=2, errors=BAD)
    for bad in BAD:
        for sector in (bad - 512, bad, bad + 512):
            assert _reads(disk, sector // 512, 1) == (sector != bad)
    assert not _reads(disk, 0, 64)
    assert _reads(disk, 0, BAD[0] // 512)
    disk.pull()


def test_a_full_disk_takes_no_further_block_even_from_root(disk: AttachedDisk) -> None:
    shell = disk.machine.shell
    shell.script(f"mkfs.ext4 -q {disk.by_id}; mount {disk.by_id} /mnt")
    disks.fill(shell, "/mnt")
    with pytest.raises(TwinError, match="No space left on device"):
        shell.script("dd if=/dev/zero of=/mnt/more bs=1 count=1 status=none")
    disks.make_room(shell, "/mnt")
    shell.script("dd if=/dev/zero of=/mnt/more bs=1M count=8 conv=fsync status=none; umount /mnt")


def test_a_disk_that_is_pulled_while_mounted_gives_errors_and_its_slot_goes_to_the_next(
    shared_twin_amd64: Machine, path: Path, tmp_path: Path
) -> None:
    _assert_pulled_while_mounted(shared_twin_amd64, path, tmp_path / "next")


def test_a_disk_is_pulled_on_arm64_too(twin_arm64: Machine, path: Path, tmp_path: Path) -> None:
    """There the kernel itself handles the slots; on amd64 it is the firmware (ACPI)."""
    _assert_pulled_while_mounted(twin_arm64, path, tmp_path / "next")


def test_a_disk_that_takes_no_writes_says_so_only_when_it_is_written_to(
    shared_twin_amd64: Machine, tmp_path: Path
) -> None:
    contents.write("ext4", tmp_path / "worn", BYTES)
    worn = disks.attach(shared_twin_amd64, tmp_path / "worn", serial="WORN", slot=2, read_only=True)
    shell = shared_twin_amd64.shell
    assert shell.script(f"lsblk --noheadings --output RO {worn.by_id}").strip() == "0"
    with pytest.raises(TwinError, match="error writing"):
        shell.script(f"dd if=/dev/zero of={worn.by_id} bs=4k count=1 oflag=direct status=none")
    worn.pull()


def _assert_pulled_while_mounted(machine: Machine, path: Path, next_path: Path) -> None:
    shell = machine.shell
    disk = disks.attach(machine, path, serial="SAME", slot=2)
    shell.script(f"mkfs.ext4 -q {disk.by_id}; mount {disk.by_id} /mnt; echo text > /mnt/file; sync")
    disk.pull()
    for access in ("cat /mnt/file", "dd if=/dev/zero of=/mnt/other bs=4k count=1 conv=fsync status=none"):
        with pytest.raises(TwinError, match=r"Input/output error|Read-only file system"):
            shell.script(access)
    assert shell.script(f"umount /mnt; ls {disk.by_id} 2>/dev/null || echo gone") == "gone\n"
    contents.write("swap", next_path, BYTES)
    other = disks.attach(machine, next_path, serial="SAME", slot=2)
    assert shell.script(f"blkid -o value -s TYPE {other.by_id}") == "swap\n"
    other.pull()


def _assert_limit(disk: AttachedDisk, rate: int) -> None:
    """The upper bound is the limiter's: its bucket of 0.1 s and the four requests that may be on their way."""
    done, seconds = _read(disk, "--rw=read --bs=256k --offset=128m")
    assert 0.8 * rate * seconds < done < rate * (seconds + 0.1) + 4 * 256 * 1024


def _read(disk: AttachedDisk, words: str) -> tuple[int, float]:
    """Bytes, and seconds by the guest's clock."""
    said = disk.machine.shell.run([*f"{FIO} {words} --runtime=4".split(), f"--filename={disk.by_id}"]).stdout
    read = json.loads(said[said.index(b"{") :])["jobs"][0]["read"]
    return read["io_bytes"], read["runtime"] / 1000


def _reads(disk: AttachedDisk, sector: int, count: int) -> bool:
    words = [f"if={disk.by_id}", "of=/dev/null", "bs=512", f"skip={sector}", f"count={count}", "iflag=direct"]
    done = disk.machine.shell.run(["dd", *words], check=False)
    assert done.returncode == 0 or b"Input/output error" in done.stderr or b"No data available" in done.stderr
    return done.returncode == 0
