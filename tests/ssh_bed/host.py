"""One machine of the bed: its files on this side, and what can be done to it."""

from __future__ import annotations

import base64
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ssh_bed.gates import Gates
from ssh_bed.machine import Machine, home_of
from ssh_bed.machine_files import MachineFiles, make_host_keys

INIT = Path(__file__).with_name("init.py")
ANSWER_LIMIT_S = 120
SSHD_NAMES = ["sshd", "sshd-session", "sshd-auth"]


class BedHost:
    """A running machine. Paths of the machine below /home, /srv, /tmp, /var/tmp and /root are ``path(...)`` here."""

    def __init__(self, name: str, machine: Machine, folder: Path, tools: Path, public_keys: Sequence[Path]) -> None:
        self.name = name
        self.machine = machine
        self.folder = folder
        self._init: subprocess.Popen[bytes] | None = None
        self._inside = 0  # process 1 of the machine, as this side numbers it
        # Bound and never listening: it keeps the port for sshd, which shares it (SO_REUSEADDR), for good.
        self._reserved = socket.socket()
        try:
            self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._reserved.bind(("127.0.0.1", machine.port))
            self.port: int = self._reserved.getsockname()[1]
            MachineFiles(name, machine, folder, tools, self.port, public_keys).write()
        except BaseException:
            self._reserved.close()
            raise
        self.gates = Gates(self.path("/srv/gate"))

    def path(self, inside: str) -> Path:
        """Where a file of the machine lies on this side; not for files on one of its small disks."""
        return self.folder / "root" / inside.lstrip("/")

    def home(self, user: str = "") -> str:
        """A user's home, by default the first one's, as the machine names it."""
        return home_of(next(one for one in self.machine.users if user in ("", one.name)))

    def boot(self) -> None:
        """Start the machine and its sshd."""
        (self.folder / "boot_id").write_text(_boot_id() + "\n", "ascii")
        words = ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
        words += [sys.executable, "-I", "-S", str(INIT), str(self.folder / "machine.json")]
        with (self.folder / "init.log").open("ab") as log:
            self._init = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        if error := self._answer()["error"]:
            raise AssertionError(f"{self.name}: {error}")
        pid = self._init.pid
        self._inside = int(Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii"))
        self.restart_sshd()

    def shut_down(self) -> None:
        """End every process of the machine, as a power cut does."""
        if self._init is not None:
            # Process 1 is gone once all others are, and unshare ends after it.
            if self._inside and self._init.poll() is None:
                os.kill(self._inside, signal.SIGKILL)
            else:
                self._init.kill()
            self._init.wait()
            self._inside = 0
            for pipe in (self._init.stdin, self._init.stdout):
                if pipe:
                    pipe.close()
            self._init = None

    def close(self) -> None:
        """Shut down, give the port back and the room of its disks."""
        self.shut_down()
        self._reserved.close()
        for image in self.folder.glob("disk*.img"):
            image.unlink()

    def reboot(self, empty_tmp: bool = False) -> None:
        """All processes gone, another boot id, the files as they were (except /tmp, if wanted); sshd on its port."""
        self.shut_down()
        if empty_tmp:
            shutil.rmtree(self.path("tmp"))
            self.path("tmp").mkdir()
            self.path("tmp").chmod(0o1777)
        self.boot()

    def restart_sshd(self) -> None:
        """Start sshd, on the same port; an earlier one must be gone."""
        if error := self._order("start_sshd")["error"]:
            raise AssertionError(f"sshd of {self.name}: {error}")

    def kill_sshd(self) -> None:
        """kill -9 of sshd and of all its sessions: the port is closed, what ran there loses its connection."""
        self.signal(signal.SIGKILL, names=SSHD_NAMES)

    def kill_sessions(self) -> None:
        """kill -9 of the sessions alone: connections break, new ones are possible."""
        self._order("signal", match="", number=signal.SIGKILL, names=SSHD_NAMES, listener=False)

    def freeze(self) -> None:
        """sshd and its sessions fall silent, the connections stay; ``thaw`` wakes them up."""
        self.signal(signal.SIGSTOP, names=SSHD_NAMES)

    def thaw(self) -> None:
        """The end of ``freeze``."""
        self.signal(signal.SIGCONT, names=SSHD_NAMES)

    def signal(self, number: int, match: str = "", names: Sequence[str] = ()) -> list[int]:
        """Send a signal to the machine's processes of these names (all, if none) whose command line holds ``match``."""
        sent: list[int] = self._order("signal", match=match, number=int(number), names=list(names))["sent"]
        return sent

    def processes(self, match: str = "") -> list[list[str]]:
        """The command lines of the processes that run there, process 1 left out."""
        found = self._order("processes")["processes"]
        return [words for _, _, words in found if match in " ".join(words)]

    def run(self, argv: Sequence[str], stdin: bytes = b"", limit_s: float = 60) -> bytes:
        """What a command prints there, as root; it must succeed."""
        answer = self._order("run", argv=list(argv), stdin=base64.b64encode(stdin).decode(), limit_s=limit_s)
        assert answer["status"] == 0, answer["stderr"]
        return base64.b64decode(answer["stdout"])

    def swap_host_key(self) -> None:
        """Other host keys of the same types; sshd is started anew, sessions break."""
        self.kill_sshd()
        make_host_keys(self.folder / "ssh", self.machine.host_key_types)
        self.restart_sshd()

    def public_host_keys(self) -> list[str]:
        """``type base64`` of each host key."""
        files = sorted((self.folder / "ssh").glob("bed_*_key.pub"))
        return [" ".join(file.read_text("ascii").split()[:2]) for file in files]

    def log(self) -> str:
        """What sshd said so far."""
        return (self.folder / "sshd.log").read_text("utf-8", "replace")

    def _order(self, do: str, **words: Any) -> dict[str, Any]:
        assert self._init is not None, f"{self.name} is shut down"
        assert self._init.stdin is not None
        self._init.stdin.write(json.dumps({"do": do, **words}).encode() + b"\n")
        self._init.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._init is not None
        assert self._init.stdout is not None
        deadline = time.monotonic() + ANSWER_LIMIT_S
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._init.stdout], [], [], max(0.0, deadline - time.monotonic()))
            more = os.read(self._init.stdout.fileno(), 65536) if ready else b""
            if not more:
                raise AssertionError(f"{self.name} is gone: {(self.folder / 'init.log').read_text('utf-8', 'replace')}")
            line += more
        answer: dict[str, Any] = json.loads(line)
        return answer


def _boot_id() -> str:
    digits = secrets.token_hex(16)
    return "-".join([digits[:8], digits[8:12], "4" + digits[13:16], "8" + digits[17:20], digits[20:]])
