"""NVMe disks of a running twin: put in, slowed down, made to fail, pulled out.

An NVMe disk of qemu can't be in a snapshot, so it is only ever put into a running machine, in one of its two empty
slots ``rp1`` and ``rp2``. It stays through reboots of the guest. What the guest writes is in the file at once
(``O_DIRECT``), so that the file can be hashed while the disk is in the machine. The link always reads 2.5 GT/s x1.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.errors import TwinError

if TYPE_CHECKING:
    from twin.machine import Machine
    from twin.shell import Shell

SLOTS = (1, 2)
SECTOR_BYTES = 512
SEEN_LIMIT_S = 60.0
# The kernel of arm64 waits 5 s between the button that qemu presses and the end of power.
EJECT_LIMIT_S = 30.0


@dataclass(frozen=True)
class Limits:
    """What the disk does at most, in bytes and requests per second; 0 is no limit. This is the truth of a test.

    A leaky bucket of 0.1 s lies between: a read of T seconds may measure 0.1/T too much.
    """

    bps_read: int = 0
    bps_write: int = 0
    iops_read: int = 0
    iops_write: int = 0

    def as_qmp(self) -> dict[str, int]:
        reads = {"bps_rd": self.bps_read, "iops_rd": self.iops_read}
        return {"bps": 0, "iops": 0, **reads, "bps_wr": self.bps_write, "iops_wr": self.iops_write}


@dataclass
class AttachedDisk:
    """A disk that the guest sees. ``by_id`` stays its name; ``device`` (/dev/nvme0n1) may be another after a reboot."""

    machine: Machine
    path: Path
    serial: str
    slot: int
    limits: Limits

    @property
    def name(self) -> str:
        """The device of qemu."""
        return f"nvme{self.slot}"

    @property
    def by_id(self) -> str:
        return f"/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{self.serial}"

    @property
    def device(self) -> str:
        return self.machine.shell.run(["readlink", "-e", self.by_id]).stdout.decode().strip()

    def limit(self, **changes: int) -> None:
        """Change some of the limits at once, for what is read from now on: ``limit(bps_read=50 * MIB)``."""
        limits = replace(self.limits, **changes)
        self.machine.qmp.execute_raw("block_set_io_throttle", {"id": self.name, **limits.as_qmp()})
        self.limits = limits

    def pull(self) -> None:
        """Take it out of the guest, mounted or not, and free the slot; the kernel writes out first what it can."""
        self.machine.shell.script(_PULL.format(serial=shlex.quote(self.serial)))
        self.machine.qmp.execute("device_del", id=self.name)
        self._wait_until_out()
        self.machine.qmp.execute("blockdev-del", **{"node-name": _node(self.slot)})

    def _wait_until_out(self) -> None:
        try:
            while self.machine.qmp.wait_event("DEVICE_DELETED", EJECT_LIMIT_S)["data"].get("device") != self.name:
                continue
        except TwinError as error:
            raise TwinError(
                f"The guest let {self.serial} go, but slot {self.slot} does not become free: {error}"
            ) from None


_PULL = """
for controller in /sys/class/nvme/nvme*; do
  read -r serial < "$controller/serial"
  if [ "$serial" = {serial} ]; then
    echo 1 > "$(readlink -e "$controller/device")/remove"
    exit 0
  fi
done
echo "there is no disk {serial}" >&2
exit 1
"""

# The links of its partitions too: udev is waited for.
_SEEN = """
tries={tries}
until [ -b {link} ]; do
  tries=$((tries - 1))
  [ $tries -gt 0 ] || exit 1
  sleep 0.1
done
udevadm settle
"""


def attach(
    machine: Machine,
    path: Path,
    *,
    serial: str,
    slot: int,
    bps_read: int = 0,
    bps_write: int = 0,
    iops_read: int = 0,
    iops_write: int = 0,
    errors: Sequence[int] = (),
    read_only: bool = False,
) -> AttachedDisk:
    """Put the raw file in as a disk, and wait until the guest shows it in /dev/disk/by-id.

    ``errors`` are offsets in bytes: a read that touches one of their sectors fails, whatever else it reads. The guest
    doesn't know that a ``read_only`` disk is one, as with a worn-out SSD: its writes fail.
    """
    if not re.fullmatch(r"[A-Za-z0-9-]{1,20}", serial):
        raise ValueError(f"{serial!r} can't be a serial: 1 to 20 letters, digits and hyphens")
    if slot not in SLOTS:
        raise ValueError(f"there is no slot {slot}, but {' and '.join(map(str, SLOTS))}")
    limits = Limits(bps_read, bps_write, iops_read, iops_write)
    disk = AttachedDisk(machine, path, serial, slot, limits)
    machine.qmp.execute("blockdev-add", **_block_node(path, slot, errors, read_only))
    try:
        machine.qmp.execute(
            "device_add", driver="nvme", bus=f"rp{slot}", id=disk.name, drive=_node(slot), serial=serial
        )
    except BaseException:
        machine.qmp.execute("blockdev-del", **{"node-name": _node(slot)})
        raise
    disk.limit()
    _wait_until_seen(disk)
    return disk


def _wait_until_seen(disk: AttachedDisk) -> None:
    script = _SEEN.format(link=disk.by_id, tries=int(SEEN_LIMIT_S * 10))
    try:
        disk.machine.shell.script(script, limit_s=2 * SEEN_LIMIT_S)
    except TwinError as error:
        raise TwinError(f"The twin does not show {disk.by_id} after {SEEN_LIMIT_S:.0f} s: {error}") from None


def _node(slot: int) -> str:
    return f"disk{slot}"


def _block_node(path: Path, slot: int, errors: Sequence[int], read_only: bool) -> dict[str, Any]:
    """qemu's node: a raw file, and between that and the disk the one that fails reads."""
    file = {"driver": "file", "filename": os.fspath(path.absolute()), **_direct(path)}
    raw: dict[str, Any] = {"driver": "raw", "file": file}
    if errors:
        # "none" is the event at which a rule comes into force: the creation of the node.
        rules = [{"event": "none", "iotype": "read", "errno": 5, "sector": offset // SECTOR_BYTES} for offset in errors]
        raw = {"driver": "blkdebug", "image": raw, "inject-error": rules}
    return {**raw, "node-name": _node(slot), "read-only": read_only, "discard": "unmap"}


def _direct(path: Path) -> dict[str, Any]:
    """Past the host's page cache, where the file system can (tmpfs can't on every kernel)."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except FileNotFoundError:
        raise TwinError(f"There is no disk {path}.") from None
    except OSError:
        return {}
    return {"cache": {"direct": True}, "aio": "native"}


# Halving what is asked for fills the last block too; what is refused may have been granted in part.
_FILL = """
cd {folder}
size=$(stat --file-system --format=%b .)
block=$(stat --file-system --format=%S .)
number=0
while [ $size -gt 0 ]; do
  number=$((number + 1))
  fallocate --length $((size * block)) ".filler-$number" 2>/dev/null || size=$((size / 2))
done
sync --file-system .
"""


def fill(shell: Shell, folder: str) -> None:
    """Leave no block in the file system of ``folder`` that anybody could write to, root included."""
    shell.script(_FILL.format(folder=shlex.quote(folder)), limit_s=300)


def make_room(shell: Shell, folder: str) -> None:
    """Undo ``fill``."""
    shell.script(f"rm -f {shlex.quote(folder)}/.filler-*", limit_s=300)
