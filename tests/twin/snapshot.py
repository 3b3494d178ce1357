"""The state of a booted twin, saved once and restored in seconds, as often as a fresh machine is wanted."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from twin.architecture import Architecture
from twin.cache import built, cache_folder, recipe_hash
from twin.errors import TwinError
from twin.image import Image, built_image
from twin.machine import Machine, boot, make_overlay
from twin.tools import need, run

LIMIT_S = 300.0
COMPRESS = "zstd -q -1"


@dataclass(frozen=True)
class Snapshot:
    """``folder`` holds memory.zst and root.qcow2, which no machine writes to any more."""

    image: Image
    folder: Path

    @property
    def memory(self) -> Path:
        return self.folder / "memory.zst"

    @property
    def disk(self) -> Path:
        return self.folder / "root.qcow2"


def save(machine: Machine, folder: Path) -> Snapshot:
    """Stop the machine and keep its memory and disk in ``folder``; the machine is gone then.

    A machine with an NVMe disk can't be saved: qemu refuses. Raises TwinError; the machine goes on then.
    """
    need("zstd")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "memory.zst"
    machine.shell.run(["sync"])
    machine.shell.disconnect()
    machine.qmp.execute("stop")
    try:
        machine.qmp.execute("migrate", uri=f"exec:{COMPRESS} -f -o {shlex.quote(str(target))}")
        _wait_for_migration(machine)
    except TwinError:
        machine.qmp.execute("cont")
        raise
    machine.qmp.execute("quit")
    machine.stop()
    shutil.move(machine.folder / "root.qcow2", folder / "root.qcow2")
    return Snapshot(machine.image, folder)


def restore(snapshot: Snapshot, folder: Path, name: str, *, detached: bool = False) -> Machine:
    """A fresh machine in the saved state, which runs and isn't ready yet."""
    folder.mkdir(parents=True, exist_ok=True)
    disk = folder / "root.qcow2"
    disk.unlink(missing_ok=True)
    make_overlay(snapshot.disk, "qcow2", disk)
    incoming = ["-incoming", f"exec:zstd -dc {shlex.quote(str(snapshot.memory))}"]
    machine = boot(snapshot.image, folder, name, detached=detached, incoming=incoming)
    try:
        _wait_for_arrival(machine)
        machine.qmp.execute("cont")
    except BaseException:
        machine.stop()
        raise
    return machine


def booted_snapshot(architecture: Architecture) -> Snapshot:
    """The snapshot of a machine that has just booted, from the cache; made first where it isn't there."""
    image = built_image(architecture)
    version = run([architecture.qemu, "--version"], what="Asking qemu for its version").splitlines()[0]
    here = Path(__file__).parent
    sources = [here / name for name in ("architecture.py", "devicetree.py", "machine.py", "snapshot.py")]
    recipe = recipe_hash([image.folder.name, version, " ".join(architecture.acceleration), *sources])

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix=f".boot-{architecture.name}.", dir=cache_folder()) as name:
            machine = boot(image, Path(name), f"snapshot-{architecture.name}")
            try:
                machine.wait_ready()
                machine.shell.run(["systemctl", "is-system-running", "--wait"], check=False, limit_s=LIMIT_S)
                save(machine, folder)
            finally:
                machine.stop()

    return Snapshot(image, built(f"snapshot-{architecture.name}", recipe, make))


def _wait_for_migration(machine: Machine) -> None:
    deadline = time.monotonic() + LIMIT_S
    while True:
        status = machine.qmp.execute("query-migrate")
        if status.get("status") == "completed":
            return
        if status.get("status") in ("failed", "cancelled") or time.monotonic() > deadline:
            raise TwinError(f"The twin can't be saved: {status.get('error-desc', status.get('status'))}.")
        time.sleep(0.05)


def _wait_for_arrival(machine: Machine) -> None:
    deadline = time.monotonic() + LIMIT_S
    while machine.qmp.execute("query-status")["status"] == "inmigrate":
        if time.monotonic() > deadline:
            raise TwinError("The saved twin does not come back.")
        time.sleep(0.02)
