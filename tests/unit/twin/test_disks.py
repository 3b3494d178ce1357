"""What is asked of qemu and of the guest when a disk is put in, limited and pulled; no machine runs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from twin import disks
from twin.errors import TwinError

MIB = 1024 * 1024
BY_ID = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_twin-1"


class FakeQmp:
    """Writes down what it is asked; ``refuse`` names a command that fails."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refuse = ""
        self.events: list[dict[str, Any]] = []

    def execute(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.execute_raw(command, {name.replace("_", "-"): value for name, value in arguments.items()})

    def execute_raw(self, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((command, arguments))
        if command == self.refuse:
            raise TwinError("qemu refused.")
        return {}

    def wait_event(self, name: str, limit_s: float) -> dict[str, Any]:
        assert name == "DEVICE_DELETED"
        if not self.events:
            raise TwinError("qemu does not answer.")
        return self.events.pop(0)

    def arguments(self, command: str) -> dict[str, Any]:
        (found,) = [arguments for asked, arguments in self.asked if asked == command]
        return found

    @property
    def commands(self) -> list[str]:
        return [command for command, _ in self.asked]


class FakeShell:
    def __init__(self) -> None:
        self.scripts: list[str] = []
        self.fails = False

    def script(self, text: str, *, limit_s: float = 120) -> str:
        self.scripts.append(text)
        if self.fails:
            raise TwinError("It failed.")
        return ""

    def run(self, words: list[str]) -> SimpleNamespace:
        assert words == ["readlink", "-e", BY_ID]
        return SimpleNamespace(stdout=b"/dev/nvme0n1\n")


@pytest.fixture
def machine() -> Any:
    return SimpleNamespace(qmp=FakeQmp(), shell=FakeShell())


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk"
    path.write_bytes(bytes(MIB))
    return path


def test_a_disk_is_a_raw_file_in_the_slot_that_was_asked_for(machine: Any, disk: Path) -> None:
    attached = disks.attach(machine, disk, serial="twin-1", slot=2)
    node = machine.qmp.arguments("blockdev-add")
    assert (node["driver"], node["file"]["filename"], node["read-only"]) == ("raw", str(disk), False)
    asked = machine.qmp.arguments("device_add")
    assert asked == {"driver": "nvme", "bus": "rp2", "id": "nvme2", "drive": node["node-name"], "serial": "twin-1"}
    assert (attached.by_id, attached.device) == (BY_ID, "/dev/nvme0n1")


def test_a_disk_without_limits_has_none(machine: Any, disk: Path) -> None:
    disks.attach(machine, disk, serial="twin-1", slot=1)
    assert machine.qmp.arguments("block_set_io_throttle") == {"id": "nvme1", **_limits()}


def test_limits_hold_before_the_guest_is_waited_for(machine: Any, disk: Path) -> None:
    machine.shell.fails = True
    with pytest.raises(TwinError, match=rf"^The twin does not show {BY_ID} after 60 s"):
        disks.attach(machine, disk, serial="twin-1", slot=1, bps_read=50 * MIB, iops_write=7)
    assert machine.qmp.arguments("block_set_io_throttle") == {"id": "nvme1", **_limits(bps_rd=50 * MIB, iops_wr=7)}


def test_a_changed_limit_leaves_the_others(machine: Any, disk: Path) -> None:
    attached = disks.attach(machine, disk, serial="twin-1", slot=1, bps_read=50 * MIB, iops_read=500)
    attached.limit(bps_read=0, bps_write=MIB)
    assert machine.qmp.asked[-1][1] == {"id": "nvme1", **_limits(bps_wr=MIB, iops_rd=500)}
    assert attached.limits == disks.Limits(bps_write=MIB, iops_read=500)


def test_errors_are_at_the_sectors_of_their_offsets(machine: Any, disk: Path) -> None:
    disks.attach(machine, disk, serial="twin-1", slot=1, errors=[0, 4096 + 511], read_only=True)
    node = machine.qmp.arguments("blockdev-add")
    assert (node["driver"], node["image"]["driver"], node["read-only"]) == ("blkdebug", "raw", True)
    assert [(rule["sector"], rule["iotype"]) for rule in node["inject-error"]] == [(0, "read"), (8, "read")]


def test_a_disk_that_qemu_refuses_leaves_nothing(machine: Any, disk: Path) -> None:
    machine.qmp.refuse = "device_add"
    with pytest.raises(TwinError, match="refused"):
        disks.attach(machine, disk, serial="twin-1", slot=1)
    assert machine.qmp.commands == ["blockdev-add", "device_add", "blockdev-del"]


def test_a_pulled_disk_leaves_its_slot_free(machine: Any, disk: Path) -> None:
    attached = disks.attach(machine, disk, serial="twin-1", slot=1)
    machine.qmp.events = [
        {"data": {"path": "/machine/x"}},
        {"data": {"device": "nvme2"}},
        {"data": {"device": "nvme1"}},
    ]
    attached.pull()
    assert machine.qmp.commands[-2:] == ["device_del", "blockdev-del"]
    assert machine.qmp.arguments("blockdev-del")["node-name"] == machine.qmp.arguments("blockdev-add")["node-name"]
    assert machine.qmp.events == []


def test_a_slot_that_does_not_become_free_is_named(machine: Any, disk: Path) -> None:
    attached = disks.attach(machine, disk, serial="twin-1", slot=2)
    with pytest.raises(TwinError, match=r"^The guest let twin-1 go, but slot 2 does not become free: qemu does not"):
        attached.pull()


@pytest.mark.parametrize("serial", ["", "with space", "a_b", "x" * 21, "a/b", "*"])
def test_a_serial_that_would_break_the_name_by_id_is_refused(serial: str, machine: Any, disk: Path) -> None:
    with pytest.raises(ValueError, match="can't be a serial"):
        disks.attach(machine, disk, serial=serial, slot=1)
    assert machine.qmp.asked == []


@pytest.mark.parametrize("slot", [0, 3])
def test_there_are_two_slots(slot: int, machine: Any, disk: Path) -> None:
    with pytest.raises(ValueError, match=f"^there is no slot {slot}, but 1 and 2$"):
        disks.attach(machine, disk, serial="twin-1", slot=slot)


def test_a_file_that_is_not_there_is_named(machine: Any, tmp_path: Path) -> None:
    with pytest.raises(TwinError, match=r"^There is no disk .*/gone\.$"):
        disks.attach(machine, tmp_path / "gone", serial="twin-1", slot=1)
    assert machine.qmp.asked == []


def test_the_guest_finds_the_disk_by_its_whole_serial(machine: Any, disk: Path, tmp_path: Path) -> None:
    """The pull's script, run here on a made-up /sys: twin-10 is not twin-1."""
    for number, serial in enumerate(("twin-10", "twin-1")):
        controller = tmp_path / "sys" / "class" / "nvme" / f"nvme{number}"
        (controller / "device").mkdir(parents=True)
        (controller / "serial").write_text(f"{serial}              \n", "utf-8")
        (controller / "device" / "remove").touch()
    attached = disks.attach(machine, disk, serial="twin-1", slot=1)
    machine.qmp.events = [{"data": {"device": "nvme1"}}]
    attached.pull()
    text = machine.shell.scripts[-1].replace("/sys/", f"{tmp_path}/sys/")
    subprocess.run(["sh", "-eu", "-c", text], check=True)
    removed = [
        controller.name
        for controller in (tmp_path / "sys" / "class" / "nvme").iterdir()
        if (controller / "device" / "remove").read_text("utf-8")
    ]
    assert removed == ["nvme1"]


def _limits(**set_ones: int) -> dict[str, int]:
    names = ("bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr")
    return {**dict.fromkeys(names, 0), **set_ones}
