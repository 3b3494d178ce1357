"""A container with real systemd and sshd, up in two seconds: for what needs neither a kernel nor devices of its own."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from twin.container_keeper import LOG
from twin.control_groups import control_groups
from twin.debian_tree import amd64_tree
from twin.dress import make_keys
from twin.errors import TwinError
from twin.link_addresses import reserve_addresses
from twin.loop_disk import LoopDisk
from twin.shell import Shell
from twin.tools import need, run

READY_LIMIT_S = 120.0
STOP_LIMIT_S = 60.0
# -I keeps the current folder and PYTHONPATH out, so the one folder that holds the twin is an argument.
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from twin.container_keeper import main; main()"
# A node may be one of this machine's, bound over a file.
NODES = """\
has() { [ "$(stat -c '%t %T' $1 2>/dev/null)" = "$2" ]; }
forget() { ! mountpoint -q $1 || umount $1; rm -f $1; }
"""


class Container:
    """A container that runs. ``folder``, its own, gets console.log and ssh files; ``disks`` are block devices in it.

    What it writes is gone after ``stop``. It ends with this process, however that ends. It isn't ready yet.
    """

    def __init__(self, folder: Path, disks: Sequence[LoopDisk] = ()) -> None:
        if os.geteuid() != 0:
            raise TwinError("A container takes root: it has namespaces, mounts and a link of its own; use sudo.")
        need("systemd-nspawn", "ip", "setpriv", "unshare", "ssh-keygen", "useradd")
        tree = amd64_tree()
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.name = f"rerig-{secrets.token_hex(4)}"  # of its link too, which has room for 15 bytes
        self._groups = control_groups(self.name)
        self._addresses = reserve_addresses()
        self._keeper: subprocess.Popen[bytes] | None = None
        self.sockets = Path(tempfile.mkdtemp(prefix="rerig-twin-"))  # short: a socket's path has at most 107 bytes
        try:
            make_keys(folder / "keys")
            self.shell = Shell(self._addresses.theirs, 22, folder / "keys", folder, self.sockets)
            self._keeper = self._start_keeper()
            self._order_start(tree, disks)
            self._set_address()
            for disk in disks:
                disk.enter(self._groups)
        except BaseException:  # Ctrl-C too: nothing that was started is left behind
            self.stop()
            raise

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def runs(self) -> bool:
        return self._keeper is not None and self._keeper.poll() is None

    @property
    def process(self) -> int:
        """The process on which all of it hangs."""
        if self._keeper is None:
            raise TwinError(f"The container {self.name} was stopped.")
        return self._keeper.pid

    def wait_ready(self, limit_s: float = READY_LIMIT_S) -> None:
        """Return when a command runs there. Raises TwinError after the limit, and at the container's end."""
        deadline = time.monotonic() + limit_s
        while error := self._silence(min(2.0, limit_s)):
            if not self.runs:
                raise TwinError(f"The container {self.name} has ended: {self._last_words()}") from error
            if time.monotonic() > deadline:
                raise TwinError(f"The container {self.name} does not answer after {limit_s:.0f} s.") from error

    def reboot(self) -> None:
        """As the container's own command does; files stay, what runs there and its mounts don't."""
        before = self._boot_id()
        self.shell.run(["systemctl", "reboot"], check=False)
        deadline = time.monotonic() + READY_LIMIT_S
        while True:
            self.shell.disconnect()
            self.wait_ready(max(1.0, deadline - time.monotonic()))
            with contextlib.suppress(TwinError):
                if self._boot_id() != before:
                    return
            if time.monotonic() > deadline:
                raise TwinError(f"The container {self.name} does not boot again.")
            time.sleep(0.05)

    def show_partitions(self, disk: LoopDisk) -> list[str]:
        """Give the partitions that ``disk`` has by now their nodes, as udev does on a machine; their paths."""
        disk.read_partitions()
        nodes = {str(node): node.stat().st_rdev for node in disk.nodes()[1:]}
        lines = [
            f"has {path} '{os.major(number):x} {os.minor(number):x}'"
            f" || {{ forget {path}; mknod -m 660 {path} b {os.major(number)} {os.minor(number)}; }}"
            for path, number in nodes.items()
        ]
        wanted = "|".join(nodes) or "''"
        stale = f"for old in {disk.device}p*; do case $old in {wanted}) ;; *) forget $old ;; esac; done"
        self.shell.script("\n".join([NODES, stale, *lines, ""]))
        return list(nodes)

    def stop(self) -> None:
        """End all its processes at once, without asking them, and remove what it had. May be called again."""
        if self._keeper is not None:
            for pipe in (self._keeper.stdin, self._keeper.stdout):
                if pipe:
                    pipe.close()
            try:
                self._keeper.wait(STOP_LIMIT_S)
            finally:
                self._keeper.kill()
                self._keeper.wait()
            self._keeper = None
            self._remove_link()
            with contextlib.suppress(OSError):
                (self.folder / "layers").rmdir()
        shutil.rmtree(self.sockets, ignore_errors=True)
        self._addresses.release()

    def _start_keeper(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-I", "-B", "-c", START, str(Path(__file__).resolve().parents[1])]
        with (self.folder / "keeper.log").open("wb") as log:
            return subprocess.Popen(
                ["unshare", "--mount", "--net", "--", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for us
            )

    def _order_start(self, tree: Path, disks: Sequence[LoopDisk]) -> None:
        """Returns when the container's processes begin to run."""
        assert self._keeper
        assert self._keeper.stdin
        assert self._keeper.stdout
        order = {
            "name": self.name,
            "starter": os.getpid(),
            "folder": str(self.folder),
            "tree": str(tree),
            "keys": str(self.folder / "keys"),
            "sockets": str(self.sockets),
            "address": self._addresses.theirs,
            "groups": [str(parent) for parent in self._groups.parents],
            "unified": str(self._groups.unified or "/none"),
            "nodes": [str(node) for disk in disks for node in disk.nodes()],
        }
        with contextlib.suppress(BrokenPipeError):  # then it has said why
            self._keeper.stdin.write(json.dumps(order).encode() + b"\n")
            self._keeper.stdin.flush()
        ready, _, _ = select.select([self._keeper.stdout], [], [], READY_LIMIT_S)
        answer = json.loads(self._keeper.stdout.readline() or b"null") if ready else None
        if answer is None:
            raise TwinError(f"The container {self.name} does not start: {self._last_words()}")
        if answer:
            raise TwinError(f"The container {self.name} does not start: {answer['error']}")

    def _set_address(self) -> None:
        for words in (
            ["address", "add", f"{self._addresses.mine}/30", "dev", self.name],
            ["link", "set", self.name, "up"],
        ):
            run(["ip", *words], what="Setting up the container's network")

    def _remove_link(self) -> None:
        """It goes with the container's own network, but the kernel takes its time."""
        subprocess.run(["ip", "link", "delete", self.name], capture_output=True, timeout=STOP_LIMIT_S, check=False)

    def _silence(self, limit_s: float) -> TwinError | None:
        try:
            self.shell.wait_ready(limit_s)
        except TwinError as error:
            return error
        return None

    def _boot_id(self) -> bytes:
        return self.shell.read("/proc/sys/kernel/random/boot_id")

    def _last_words(self) -> str:
        for name in ("keeper.log", LOG):
            with contextlib.suppress(OSError):
                lines = (self.folder / name).read_text("utf-8", "replace").strip().splitlines()
                if lines:
                    return lines[-1]
        return "no word."
