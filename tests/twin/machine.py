"""One running qemu: started, looked up again by another process, rebooted, stopped by its process id."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twin.architecture import Architecture, architecture_named
from twin.dress import MAC
from twin.errors import TwinError
from twin.image import MEMORY_MIB, PROCESSORS, Image
from twin.qmp import Qmp
from twin.shell import Shell
from twin.tools import need, run

BOOT_LIMIT_S = 600.0
STOP_LIMIT_S = 60.0
STATE = "machine.json"
KERNEL_WORDS = "root=/dev/vda rootfstype=ext4 rw noatime quiet mitigations=off audit=0"


class Machine:
    """A twin that runs. ``folder`` holds its disk, console.log, ssh files and machine.json."""

    def __init__(self, folder: Path, state: dict[str, Any], child: subprocess.Popen[bytes] | None = None) -> None:
        self.folder = folder
        self._child = child  # where this very process started it
        self.name: str = state["name"]
        self.arch: Architecture = architecture_named(state["architecture"])
        self.sockets = Path(state["sockets"])
        self.image = Image(self.arch, Path(state["image"]))
        self._process: int = state["process"]
        self._started: str = state["started"]
        self._qmp: Qmp | None = None
        self.shell = Shell("127.0.0.1", state["port"], self.image.keys, folder, self.sockets)

    @property
    def qmp(self) -> Qmp:
        """The connection to qemu, opened on first use."""
        if self._qmp is None:
            self._qmp = Qmp(self.sockets / "qmp")
        return self._qmp

    @property
    def runs(self) -> bool:
        return started_at(self._process) == self._started

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_ready(self, limit_s: float = BOOT_LIMIT_S) -> None:
        """Return when a command runs there; its clock is set then (a restored one stands still since it was saved)."""
        deadline = time.monotonic() + limit_s
        while error := self._silence(min(5.0, limit_s)):
            if not self.runs:
                raise TwinError(f"The twin {self.name} has ended: {self._last_words()}") from error
            if time.monotonic() > deadline:
                raise TwinError(f"The twin {self.name} does not answer after {limit_s:.0f} s.") from error
            self.shell.disconnect()

    def _silence(self, limit_s: float) -> TwinError | None:
        """What says that it isn't ready. One that goes down answers until its sshd has ended, and then no more."""
        try:
            self.shell.wait_ready(limit_s)
            self.shell.run(["date", "--set", f"@{time.time():.3f}"], limit_s=60)
        except TwinError as error:
            return error
        return None

    def reboot(self) -> None:
        """As the guest's own command does; disks and their contents stay."""
        before = self.boot_id()
        self.shell.run(["systemctl", "reboot"], check=False)
        self.shell.disconnect()
        deadline = time.monotonic() + BOOT_LIMIT_S
        while True:
            self.wait_ready(max(1.0, deadline - time.monotonic()))
            with contextlib.suppress(TwinError):
                if self.boot_id() != before:
                    return
            self.shell.disconnect()
            if time.monotonic() > deadline:
                raise TwinError(f"The twin {self.name} does not boot again.")
            time.sleep(0.2)

    def boot_id(self) -> str:
        """The kernel's random name of this boot."""
        return self.shell.read("/proc/sys/kernel/random/boot_id").decode().strip()

    def kill(self) -> None:
        """SIGKILL to qemu: what a power loss is to the guest."""
        self.disconnect()
        self._signal(signal.SIGKILL)
        self._wait_for_end(STOP_LIMIT_S)

    def stop(self) -> None:
        """End qemu, whatever the guest does, and remove its sockets. May be called again."""
        self.disconnect()
        self._signal(signal.SIGTERM)
        if not self._wait_for_end(10.0):
            self._signal(signal.SIGKILL)
            self._wait_for_end(STOP_LIMIT_S)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def disconnect(self) -> None:
        """Leave the machine to other processes: qemu talks to one at a time."""
        self.shell.disconnect()
        if self._qmp is not None:
            self._qmp.close()
            self._qmp = None

    def _signal(self, number: int) -> None:
        if self.runs:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process, number)

    def _wait_for_end(self, limit_s: float) -> bool:
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            if not self.runs:
                if self._child is not None:
                    self._child.wait()  # or else it stays a zombie
                return True
            time.sleep(0.02)
        return False

    def _last_words(self) -> str:
        for name in ("qemu.log", "console.log"):
            with contextlib.suppress(OSError):
                lines = (self.folder / name).read_text("utf-8", "replace").strip().splitlines()
                if lines:
                    return lines[-1]
        return "no word."


def boot(image: Image, folder: Path, name: str, *, detached: bool = False, incoming: Sequence[str] = ()) -> Machine:
    """Start qemu on a fresh copy-on-write disk in ``folder``, or on ``folder/root.qcow2`` where that is there.

    It dies with this process unless ``detached``. ``incoming`` are qemu's words for a saved state. It isn't ready yet.
    """
    architecture = image.architecture
    need(architecture.qemu, "qemu-img", "setpriv")
    folder.mkdir(parents=True, exist_ok=True)
    disk = folder / "root.qcow2"
    if not disk.exists():
        make_overlay(image.disk, "raw", disk)
    sockets = Path(tempfile.mkdtemp(prefix="rerig-twin-"))  # short: a socket's path has at most 107 bytes
    words = [architecture.qemu, *qemu_words(image, folder, sockets), *incoming]
    tied = [] if detached else ["setpriv", "--pdeathsig", "KILL"]
    with (folder / "qemu.log").open("wb") as log:
        process = subprocess.Popen(
            [*tied, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    state = {"name": name, "architecture": architecture.name, "image": str(image.folder), "sockets": str(sockets)}
    try:
        port = _forwarded_port(sockets / "qmp", process, folder / "qemu.log")
        state |= {"process": process.pid, "started": started_at(process.pid), "port": port}
        (folder / STATE).write_text(json.dumps(state, indent=1), "utf-8")
        return Machine(folder, state, process)
    except BaseException:  # Ctrl-C too: nothing that was started is left behind
        process.kill()
        process.wait()
        shutil.rmtree(sockets, ignore_errors=True)
        raise


def qemu_words(image: Image, folder: Path, sockets: Path) -> list[str]:
    """The same for a boot and for a restore, or else a saved state would not fit."""
    architecture = image.architecture
    memory = ["-smp", str(PROCESSORS), "-m", str(MEMORY_MIB)]
    console = f"console={architecture.console}"
    device_tree = ["-dtb", str(image.device_tree)] if architecture.has_device_tree else []
    ports = [f"pcie-root-port,id=rp{slot},chassis={slot},slot={slot}" for slot in (1, 2)]
    devices = ["virtio-blk-pci,drive=root", f"virtio-net-pci,netdev=net,mac={MAC},romfile=", *ports, "virtio-rng-pci"]
    return [
        *("-M", architecture.machine, *architecture.acceleration, *memory),
        *("-nodefaults", "-no-user-config", "-nographic"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd), *device_tree),
        *("-append", f"{KERNEL_WORDS} {console}"),
        *("-serial", f"file:{folder / 'console.log'}".replace(",", ",,")),
        *("-qmp", f"unix:{sockets / 'qmp'},server=on,wait=off"),
        *("-drive", f"if=none,id=root,file={str(folder / 'root.qcow2').replace(',', ',,')},cache=unsafe,discard=unmap"),
        # The kernel picks the free port; qemu is asked for it afterwards.
        *("-netdev", "user,id=net,hostfwd=tcp:127.0.0.1:0-:22"),
        *(word for device in devices for word in ("-device", device)),
    ]


def make_overlay(base: Path, kind: str, target: Path) -> None:
    """A qcow2 file that keeps what differs from ``base``."""
    run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", base, "-F", kind, target], what="Making the twin's disk")


def find_machine(folder: Path) -> Machine | None:
    """The machine whose folder it is, if it runs."""
    try:
        machine = Machine(folder, json.loads((folder / STATE).read_text("utf-8")))
    except (OSError, ValueError, KeyError):
        return None
    return machine if machine.runs else None


def started_at(process: int) -> str | None:
    """The start time of a process in clock ticks since boot, which tells it from a later one of the same number."""
    try:
        words = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else words[19]


def _forwarded_port(path: Path, process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + STOP_LIMIT_S
    while not path.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text("utf-8", "replace").strip().splitlines() or ["no word"]
            raise TwinError(f"qemu does not start: {said[-1]}")
        time.sleep(0.02)
    with Qmp(path) as qmp:
        found = re.search(r"TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)", qmp.hmp("info usernet"))
    if not found:
        raise TwinError("qemu forwards no port to the twin.")
    return int(found[1])
