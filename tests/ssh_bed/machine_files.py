"""Everything that a machine finds when it starts: accounts, keys, sshd's settings, programs, disks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssh_bed.clock import PYTHON, wrong_clock
from ssh_bed.gates import write_gated
from ssh_bed.machine import FIRST_UID, NO_SUDO, NOPASSWD, Machine, User, home_of

POINTS = ("home", "srv", "tmp", "var/tmp", "root")


@dataclass(frozen=True)
class MachineFiles:
    """The files of ``machine`` in ``folder``; ``keys`` (public key files) open it to every user."""

    name: str
    machine: Machine
    folder: Path
    tools: Path
    port: int
    keys: Sequence[Path]

    def path(self, inside: str) -> Path:
        """Where a file of the machine lies on this side."""
        return self.folder / "root" / inside.lstrip("/")

    def write(self) -> None:
        """Everything; machine.json tells process 1 what to do with it."""
        for point in POINTS:
            (self.folder / "root" / point).mkdir(parents=True)
        (self.folder / "root" / "srv" / "gate").mkdir()
        etc, ssh = self.folder / "etc", self.folder / "ssh"
        for folder in (ssh / "keys", self.folder / "etc.work", self.folder / "usr/local/bin", etc / "pam.d"):
            folder.mkdir(parents=True)
        _write_accounts(self.machine, etc, self.name)
        for user in [*self.machine.users, User("root")]:
            keys = self.keys if user.keys is None else user.keys
            (ssh / "keys" / user.name).write_text("".join(key.read_text("utf-8") for key in keys), "utf-8")
        self._make_home_directories()
        make_host_keys(ssh, self.machine.host_key_types)
        (ssh / "bed_config").write_text(self._sshd_config(), "utf-8")
        self._make_programs()
        config = {
            "name": self.name,
            "folder": str(self.folder),
            "tools": str(self.tools),
            "disks": self._make_disks(),
            "remount": [
                *((point, "noexec") for point in ("/tmp", "/var/tmp") if self.machine.noexec_tmp),  # noqa: S108 - inside
                *((point, "ro") for point in ("/home", "/root") if self.machine.readonly_home),
            ],
            "clock": self._clock(),
            "passwords": "".join(f"{user.name}:{user.password}\n" for user in self.machine.users if user.password),
        }
        (self.folder / "machine.json").write_text(json.dumps(config), "utf-8")

    def _clock(self) -> dict[str, str]:
        return wrong_clock(self.tools, self.machine.faketime) if self.machine.faketime else {}

    def _make_home_directories(self) -> None:
        for point in ("tmp", "var/tmp", "srv/gate"):
            self.path(point).chmod(0o1777)
        self.path("root").chmod(0o700)
        for home, owner in self.machine.owners().items():
            path = self.path(home)
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o755)
            os.chown(path, owner, owner)

    def _make_programs(self) -> None:
        programs = self.folder / "usr" / "local" / "bin"
        for name, text in {**({"python3": PYTHON} if self._clock() else {}), **self.machine.programs}.items():
            (programs / name).write_text(text, "utf-8")
            (programs / name).chmod(0o755)
        for name in self.machine.gated:
            write_gated(programs / name)
        for name in self.machine.without:
            file = self.folder / name.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            os.mknod(file, 0o600 | 0o020000, os.makedev(0, 0))  # what overlayfs takes for "not there"

    def _make_disks(self) -> list[dict[str, Any]]:
        disks = []
        owners = self.machine.owners()
        for number, (point, size_bytes) in enumerate(self.machine.disks.items()):
            image = self.folder / f"disk{number}.img"
            with image.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size_bytes)
            subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True, capture_output=True)
            self.path(point).mkdir(parents=True, exist_ok=True)
            mode = 0o755 if point in owners else 0o1777
            disks.append({"image": image.name, "point": point, "owner": owners.get(point, 0), "mode": mode})
        return disks

    def _sshd_config(self) -> str:
        environment = {**self.machine.environment, **self._clock()}
        if self.machine.locale:
            environment |= {"LANG": self.machine.locale, "LC_ALL": self.machine.locale}
            environment |= {"LANGUAGE": self.machine.locale.partition("_")[0]}
        lines = [
            # What a test adds comes first: sshd takes the first value of an option.
            *self.machine.sshd_config.splitlines(),
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            *(f"HostKey /etc/ssh/bed_{key_type}_key" for key_type in self.machine.host_key_types),
            "AuthorizedKeysFile /etc/ssh/keys/%u",
            "PidFile none",
            "UsePAM no",
            "StrictModes no",
            "PermitRootLogin yes",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "MaxStartups 100",
            "MaxSessions 100",
            "LogLevel VERBOSE",
            "Subsystem sftp internal-sftp",
            *(
                ["SetEnv " + " ".join(f'"{name}={value}"' for name, value in environment.items())]
                if environment
                else []
            ),
        ]
        return "\n".join(lines) + "\n"


def _write_accounts(machine: Machine, etc: Path, name: str) -> None:
    """The files in /etc that say who there is, and who may become root."""
    passwd = ["root:x:0:0:root:/root:/bin/bash", "sshd:x:101:65534::/run/sshd:/usr/sbin/nologin"]
    passwd += ["nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"]
    group = ["root:x:0:", "nogroup:x:65534:", "tty:x:5:"]
    sudoers = ["Defaults lecture=never", "root ALL=(ALL:ALL) ALL"]
    for number, user in enumerate(machine.users, FIRST_UID):
        passwd.append(f"{user.name}:x:{number}:{number}::{home_of(user)}:{user.login_shell}")
        group.append(f"{user.name}:x:{number}:")
        if user.sudo != NO_SUDO:
            sudoers.append(f"{user.name} ALL=(ALL:ALL) {'NOPASSWD: ' if user.sudo == NOPASSWD else ''}ALL")
    sudoers += machine.sudoers.splitlines()  # the last rule that fits is the one that counts
    shadow = [f"{line.partition(':')[0]}:*:19000:0:99999:7:::" for line in passwd]
    pam = ["auth required pam_unix.so", "account required pam_unix.so", "session required pam_permit.so"]
    files = {
        "passwd": (passwd, 0o644),
        "group": (group, 0o644),
        "shadow": (shadow, 0o600),
        "sudoers": (sudoers, 0o440),
        "pam.d/sudo": (pam, 0o644),
        "hosts": (["127.0.0.1 localhost", f"127.0.1.1 {name}"], 0o644),
        "hostname": ([name], 0o644),
        "nsswitch.conf": (["passwd: files", "group: files", "shadow: files", "hosts: files"], 0o644),
    }
    for file, (lines, mode) in files.items():
        (etc / file).write_text("\n".join(lines) + "\n", "utf-8")
        (etc / file).chmod(mode)


def make_host_keys(ssh: Path, key_types: Sequence[str]) -> None:
    """A new host key of each type."""
    for key_type in key_types:
        file = ssh / f"bed_{key_type}_key"
        for old in (file, file.with_suffix(".pub")):
            old.unlink(missing_ok=True)
        generate_key(file, key_type)


def generate_key(file: Path, key_type: str, passphrase: str = "") -> None:
    """A key pair in ``file`` and ``file``.pub."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", key_type, "-N", passphrase, "-C", "bed", "-f", str(file)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
