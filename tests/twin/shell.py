"""ssh to a twin: one connection that stays open, quoted words, files as one stream."""

from __future__ import annotations

import io
import shlex
import subprocess
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from twin.errors import TwinError
from twin.tools import need

ALIAS = "twin"
CONFIG = """\
Host {alias}
    HostName {host}
    Port {port}
    User root
    IdentityFile "{key}"
    IdentitiesOnly yes
    UserKnownHostsFile "{known_hosts}"
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 10
"""


@dataclass(frozen=True)
class File:
    """A regular file to put; ``owner`` is a user's and group's number."""

    data: bytes | str
    mode: int = 0o644
    owner: int = 0


@dataclass(frozen=True)
class Link:
    """A symbolic link to put."""

    target: str


class Shell:
    """Runs commands on one machine. ``config`` is an ssh_config that knows the machine as ``twin``."""

    def __init__(self, host: str, port: int, keys: Path, folder: Path, sockets: Path) -> None:
        need("ssh")
        self.host, self.port = host, port
        self.key = folder / "id"
        self.known_hosts = folder / "known_hosts"
        self.config = folder / "ssh_config"
        self._control = sockets / "ssh"
        self._write_files(keys)

    def _write_files(self, keys: Path) -> None:
        self.key.unlink(missing_ok=True)
        self.key.touch(0o600)
        self.key.write_bytes((keys / "id").read_bytes())
        host_key = " ".join((keys / "host.pub").read_text("ascii").split()[:2])
        name = self.host if self.port == 22 else f"[{self.host}]:{self.port}"  # as ssh looks it up
        self.known_hosts.write_text(f"{name} {host_key}\n", "ascii")
        names = {"alias": ALIAS, "host": self.host, "port": self.port, "key": self.key, "known_hosts": self.known_hosts}
        self.config.write_text(CONFIG.format(**names), "utf-8")

    def run(
        self,
        words: Sequence[str],
        *,
        input: bytes = b"",
        check: bool = True,
        limit_s: float = 120,
        user: str = "root",
    ) -> subprocess.CompletedProcess[bytes]:
        """The command there with just these words. Raises TwinError after the limit, and for a failure if ``check``."""
        try:
            done = subprocess.run(
                self.command(words, user), input=input, capture_output=True, timeout=limit_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise TwinError(f"On the twin, {shlex.join(words)[:200]} has not ended after {limit_s:.0f} s.") from None
        if check and done.returncode:
            said = (done.stderr + done.stdout).decode("utf-8", "replace").strip().splitlines() or ["no word"]
            raise TwinError(f"On the twin, {shlex.join(words)[:200]} failed ({done.returncode}): {said[-1]}")
        return done

    def command(self, words: Sequence[str], user: str = "root", *options: str) -> list[str]:
        """The argv of the ssh here that runs the words there."""
        shared = ["-o", "ControlMaster=auto", "-o", f"ControlPath={self._control}-%r", "-o", "ControlPersist=600"]
        return ["ssh", "-F", str(self.config), *shared, *options, "-l", user, ALIAS, "--", shlex.join(words)]

    def script(self, text: str, *, limit_s: float = 120) -> str:
        """What a script of sh says; it ends at the first command that fails. Raises TwinError."""
        return self.run(["sh", "-eu", "-s"], input=text.encode(), limit_s=limit_s).stdout.decode("utf-8", "replace")

    def put(self, files: Mapping[str, bytes | str | File | Link], mode: int = 0o644) -> None:
        """Files at absolute paths, all in one go; folders are made, what is there is replaced."""
        self.run(["tar", "-x", "-f", "-", "-C", "/", "--no-overwrite-dir"], input=pack(files, mode))

    def read(self, path: str) -> bytes:
        """What is in a file there."""
        return self.run(["cat", "--", path]).stdout

    def wait_ready(self, limit_s: float) -> None:
        """Return when a command runs there. Raises TwinError after the limit."""
        deadline = time.monotonic() + limit_s
        while True:
            said = self._try_once(max(1.0, min(15.0, deadline - time.monotonic())))
            if said is None:
                return
            if time.monotonic() > deadline:
                raise TwinError(f"The twin does not answer after {limit_s:.0f} s: {said}")
            time.sleep(0.2)

    def _try_once(self, limit_s: float) -> str | None:
        try:
            done = self.run(["true"], check=False, limit_s=limit_s)
        except TwinError as error:
            return str(error)
        return None if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip() or "ssh fails."

    def disconnect(self) -> None:
        """End the connections that stay open."""
        for control in self._control.parent.glob(f"{self._control.name}-*"):
            words = ["ssh", "-F", str(self.config), "-o", f"ControlPath={control}", "-O", "exit", ALIAS]
            subprocess.run(words, capture_output=True, timeout=60, check=False)
            control.unlink(missing_ok=True)


def pack(files: Mapping[str, bytes | str | File | Link], mode: int = 0o644) -> bytes:
    """The files as a tar archive, whose names are relative to the root folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, what in files.items():
            member = tarfile.TarInfo(path.lstrip("/"))
            if isinstance(what, Link):
                member.type, member.linkname, member.mode = tarfile.SYMTYPE, what.target, 0o777
                archive.addfile(member)
                continue
            file = what if isinstance(what, File) else File(what, mode)
            data = file.data.encode() if isinstance(file.data, str) else file.data
            member.size, member.mode, member.uid, member.gid = len(data), file.mode, file.owner, file.owner
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()
