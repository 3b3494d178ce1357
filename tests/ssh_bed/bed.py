"""The bed itself: machines that run at once, and the home of the user who connects to them."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from ssh_bed.host import BedHost
from ssh_bed.machine import Machine
from ssh_bed.machine_files import generate_key
from waiting import wait_for


class SshBed:
    """A context manager: everything it started is ended with it, and with this process."""

    def __init__(self, folder: Path, tools: Path) -> None:
        self._folder = folder
        self._tools = tools
        self._undo = contextlib.ExitStack()
        self.hosts: dict[str, BedHost] = {}
        self.home = folder / "controller home"
        self.ssh = self.home / ".ssh"
        self.ssh.mkdir(parents=True, mode=0o700)
        self.config = self.ssh / "config"
        self.known_hosts = self.ssh / "known_hosts"
        self.config.touch(mode=0o600)
        self.known_hosts.touch(mode=0o600)
        self.key = self.make_key("id_ed25519")

    def __enter__(self) -> SshBed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.__exit__(kind, error, trace)

    def start(self, name: str = "box", known: bool = True, **settings: Any) -> BedHost:
        """A machine as ``settings`` (the fields of Machine) describe it; ssh_config gets an alias for it.

        ``known``: known_hosts has its keys.
        """
        machine = Machine(**settings)
        folder = self._folder / name
        folder.mkdir()
        host = BedHost(name, machine, folder, self._tools, [self.key.with_suffix(".pub")])
        self._undo.callback(host.close)
        host.boot()
        self.hosts[name] = host
        self.add_alias(name, Port=host.port, User=machine.users[0].name)
        if known:
            self.know(host)
        return host

    def add_alias(self, name: str, **options: object) -> None:
        """A Host of ssh_config, at 127.0.0.1 unless ``options`` say otherwise; it comes before the earlier ones."""
        lines = [f"Host {name}"]
        lines += [
            f"  {key} {value}" for key, value in {"HostName": "127.0.0.1", **options}.items() if value is not None
        ]
        self.config.write_text("\n".join(lines) + "\n" + self.config.read_text("utf-8"), "utf-8")

    def know(self, host: BedHost, name: str = "") -> None:
        """Put a machine's keys into known_hosts, as ssh would under the first connection (or under ``name``)."""
        with self.known_hosts.open("a", encoding="utf-8") as file:
            for key in host.public_host_keys():
                file.write(f"{name or f'[127.0.0.1]:{host.port}'} {key}\n")

    def make_key(self, name: str, key_type: str = "ed25519", passphrase: str = "") -> Path:
        """A key in the user's .ssh; the path of its private part."""
        generate_key(self.ssh / name, key_type, passphrase)
        return self.ssh / name

    def ssh_agent(self, *keys: Path) -> Path:
        """The socket of an ssh-agent that holds these keys."""
        socket = self._folder / f"agent{len(list(self._folder.glob('agent*')))}"
        process = subprocess.Popen(
            ["ssh-agent", "-D", "-a", str(socket)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        self._undo.callback(_end, process)
        wait_for(socket.exists)
        for key in keys:
            subprocess.run(
                ["ssh-add", "-q", str(key)], env={**os.environ, "SSH_AUTH_SOCK": str(socket)}, check=True, timeout=60
            )
        return socket

    def environment(self, base: dict[str, str]) -> dict[str, str]:
        """``base`` for a controller whose user has this bed's home, and no ssh-agent."""
        return {**{name: value for name, value in base.items() if name != "SSH_AUTH_SOCK"}, "HOME": str(self.home)}

    def openssh(self, host: BedHost, *words: str) -> subprocess.CompletedProcess[str]:
        """OpenSSH's own client on this bed's files, for comparison."""
        options = [
            "-F",
            str(self.config),
            "-o",
            f"UserKnownHostsFile={shlex.quote(str(self.known_hosts))}",
            "-o",
            f"IdentityFile={shlex.quote(str(self.key))}",
        ]
        argv = ["ssh", "-o", "BatchMode=yes", *options, host.name, *words]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()
