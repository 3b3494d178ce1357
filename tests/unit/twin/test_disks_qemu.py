"""What a real qemu makes of the disks it is given; its processor never starts, so there is no guest to wait for."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from twin import contents, disks
from twin.errors import TwinError
from twin.qmp import Qmp

MIB = 1024 * 1024
QEMU = "qemu-system-x86_64"

pytestmark = pytest.mark.skipif(not shutil.which(QEMU), reason=f"needs {QEMU} (Debian's package qemu-system-x86)")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Any]:
    """A machine with two empty slots and a guest that answers yes to everything."""
    socket = tmp_path / "qmp"
    ports = [word for slot in (1, 2) for word in ("-device", f"pcie-root-port,id=rp{slot},chassis={slot},slot={slot}")]
    words = [QEMU, "-S", "-M", "q35", "-m", "64", "-nodefaults", "-no-user-config", "-display", "none", *ports]
    words += ["-qmp", f"unix:{socket},server=on,wait=off"]
    with (tmp_path / "log").open("wb") as log:  # line by line: qemu-io prints there, not into its answer
        tied = ["setpriv", "--pdeathsig", "KILL", "stdbuf", "-oL"]
        process = subprocess.Popen([*tied, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        with Qmp(socket) as qmp:
            shell = SimpleNamespace(script=lambda text, limit_s: "")
            yield SimpleNamespace(qmp=qmp, shell=shell, log=tmp_path / "log")
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    contents.write("blank", tmp_path / "disk, with a comma", 16 * MIB)
    return tmp_path / "disk, with a comma"


def test_both_slots_hold_a_disk(machine: Any, path: Path, tmp_path: Path) -> None:
    contents.write("blank", tmp_path / "other", 32 * MIB)
    disks.attach(machine, path, serial="ONE", slot=1)
    disks.attach(machine, tmp_path / "other", serial="TWO", slot=2, read_only=True)
    found = _disks(machine)
    assert {name: disk["image"]["virtual-size"] for name, disk in found.items()} == {
        "nvme1": 16 * MIB,
        "nvme2": 32 * MIB,
    }
    assert {name: disk["ro"] for name, disk in found.items()} == {"nvme1": False, "nvme2": True}


def test_limits_are_those_asked_for_and_change_at_once(machine: Any, path: Path) -> None:
    disk = disks.attach(machine, path, serial="ONE", slot=1, bps_read=100 * MIB, iops_write=7)
    assert _limits(machine) == {"bps_rd": 100 * MIB, "iops_wr": 7}
    disk.limit(bps_read=0, iops_read=500, bps_write=MIB)
    assert _limits(machine) == {"bps_wr": MIB, "iops_rd": 500, "iops_wr": 7}


def test_reads_fail_at_the_sectors_with_errors_and_nowhere_else(machine: Any, path: Path) -> None:
    disks.attach(machine, path, serial="ONE", slot=1, errors=[8192, MIB + 700])
    fails = {8192, MIB + 512}
    for sector in (*fails, *(sector + step for sector in fails for step in (-512, 512))):
        assert ("Input/output error" in _io(machine, f"read {sector} 512")) == (sector in fails)
        assert "wrote 512/512" in _io(machine, f"write {sector} 512")
    assert "Input/output error" in _io(machine, "read 0 64k")


@pytest.mark.parametrize("errors", [(), (512,)])
def test_what_is_written_and_trimmed_is_in_the_file(machine: Any, path: Path, errors: tuple[int, ...]) -> None:
    before = contents.fingerprint(path)
    disks.attach(machine, path, serial="ONE", slot=1, errors=errors)
    assert "wrote 4096/4096" in _io(machine, "write -P 0x41 8M 4k")
    assert contents.fingerprint(path) != before
    assert "discard 4096/4096" in _io(machine, "discard 8M 4k")
    assert contents.fingerprint(path) == before
    assert path.stat().st_blocks == 0


def test_a_read_only_disk_takes_no_write(machine: Any, path: Path) -> None:
    disks.attach(machine, path, serial="ONE", slot=1, read_only=True)
    assert "read 512/512" in _io(machine, "read 0 512")
    assert "wrote" not in _io(machine, "write 0 512")


def test_a_slot_takes_one_disk(machine: Any, path: Path, tmp_path: Path) -> None:
    contents.write("blank", tmp_path / "other", 16 * MIB)
    disks.attach(machine, path, serial="ONE", slot=1)
    with pytest.raises(TwinError, match="qemu refuses blockdev-add"):
        disks.attach(machine, tmp_path / "other", serial="TWO", slot=1)
    disks.attach(machine, tmp_path / "other", serial="TWO", slot=2)


def _disks(machine: Any) -> dict[str, dict[str, Any]]:
    return {disk["qdev"]: disk["inserted"] for disk in machine.qmp.execute("query-block")}


def _limits(machine: Any) -> dict[str, int]:
    """Those of the first disk that are set."""
    names = ("bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr")
    disk = _disks(machine)["nvme1"]
    return {name: disk[name] for name in names if disk[name]}


def _io(machine: Any, command: str) -> str:
    """What a request to the first disk comes to, past its NVMe controller."""
    said_before = len(machine.log.read_text("utf-8"))
    machine.qmp.hmp(f'qemu-io -d nvme1 "{command}"')
    return str(machine.log.read_text("utf-8")[said_before:])
