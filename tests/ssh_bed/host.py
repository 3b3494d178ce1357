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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssh_bed.clock import PYTHON, wrong_clock
from ssh_bed.gates import Gates, write_gated
from ssh_bed.tools import LOCALE

INIT = Path(__file__).with_name("init.py")
ANSWER_LIMIT_S = 120
SSHD_NAMES = ["sshd", "sshd-session", "sshd-auth"]
FIRST_UID = 2001
POINTS = ("home", "srv", "tmp", "var/tmp", "root")
NO_SUDO, NOPASSWD, PASSWORD = "no", "nopasswd", "password"


@dataclass(frozen=True)
class User:
    """A user of a machine, who may log in with the bed's own key, or with ``keys`` (public key files) alone."""

    name: str
    sudo: str = NO_SUDO
    password: str = ""
    home: str = ""
    login_shell: str = "/bin/bash"
    keys: Sequence[Path] | None = None


@dataclass(frozen=True)
class Machine:
    """What a machine is like. ``disks`` are small ext4 file systems: mount point to size in bytes.

    ``programs`` are scripts found before all others; ``gated`` names tools that a gate can hold (see gates.py).
    ``without`` lists files below /usr that aren't there.
    """

    users: Sequence[User] = (User("jetson"),)
    port: int = 0
    faketime: str = ""
    noexec_tmp: bool = False
    readonly_home: bool = False
    locale: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    disks: Mapping[str, int] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    gated: Sequence[str] = ()
    without: Sequence[str] = ()
    host_key_types: Sequence[str] = ("ed25519",)
    sshd_config: str = ""
    sudoers: str = ""


class BedHost:
    """A running machine. Paths of the machine below /home, /srv, /tmp, /var/tmp and /root are ``path(...)`` here."""

    def __init__(self, name: str, machine: Machine, folder: Path, tools: Path, public_keys: Sequence[Path]) -> None:
        self.name = name
        self.machine = machine
        self.folder = folder
        self._tools = tools
        self._public_keys = public_keys
        self._clock = wrong_clock(tools, machine.faketime) if machine.faketime else {}
        self._init: subprocess.Popen[bytes] | None = None
        # Bound and never listening: it keeps the port for sshd, which shares it (SO_REUSEADDR), for good.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", machine.port))
        self.port: int = self._reserved.getsockname()[1]
        for point in POINTS:
            (folder / "root" / point).mkdir(parents=True)
        (folder / "root" / "srv" / "gate").mkdir()
        self.gates = Gates(folder / "root" / "srv" / "gate")
        self._write_files()

    def path(self, inside: str) -> Path:
        """Where a file of the machine lies on this side; not for files on one of its small disks."""
        return self.folder / "root" / inside.lstrip("/")

    def home(self, user: str = "") -> str:
        """A user's home, by default the first one's, as the machine names it."""
        found = next(one for one in self.machine.users if user in ("", one.name))
        return found.home or f"/home/{found.name}"

    def boot(self) -> None:
        """Start the machine and its sshd."""
        (self.folder / "boot_id").write_text(_boot_id() + "\n", "ascii")
        words = ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
        words += [sys.executable, "-I", "-S", str(INIT), str(self.folder / "machine.json")]
        with (self.folder / "init.log").open("ab") as log:
            self._init = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        if error := self._answer()["error"]:
            raise AssertionError(f"{self.name}: {error}")
        self.restart_sshd()

    def shut_down(self) -> None:
        """End every process of the machine, as a power cut does."""
        if self._init is not None:
            self._init.kill()
            self._init.wait()
            for pipe in (self._init.stdin, self._init.stdout):
                if pipe:
                    pipe.close()
            self._init = None

    def close(self) -> None:
        """Shut down and give the port back."""
        self.shut_down()
        self._reserved.close()

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
        self._make_host_keys()
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

    def _write_files(self) -> None:
        etc, ssh = self.folder / "etc", self.folder / "ssh"
        for folder in (ssh / "keys", self.folder / "etc.work", self.folder / "usr/local/bin", etc / "pam.d"):
            folder.mkdir(parents=True)
        _Accounts(self.machine, etc, self.name).write()
        for user in [*self.machine.users, User("root")]:
            keys = self._public_keys if user.keys is None else user.keys
            (ssh / "keys" / user.name).write_text("".join(key.read_text("utf-8") for key in keys), "utf-8")
        self._make_home_directories()
        self._make_host_keys()
        (ssh / "bed_config").write_text(self._sshd_config(), "utf-8")
        self._make_programs()
        config = {
            "name": self.name,
            "folder": str(self.folder),
            "tools": str(self._tools),
            "disks": self._make_disks(),
            "remount": [
                *((point, "noexec") for point in ("/tmp", "/var/tmp") if self.machine.noexec_tmp),  # noqa: S108 - inside
                *((point, "ro") for point in ("/home", "/root") if self.machine.readonly_home),
            ],
            "clock": self._clock,
            "passwords": "".join(f"{user.name}:{user.password}\n" for user in self.machine.users if user.password),
        }
        (self.folder / "machine.json").write_text(json.dumps(config), "utf-8")

    def _make_home_directories(self) -> None:
        for point in ("tmp", "var/tmp", "srv/gate"):
            self.path(point).chmod(0o1777)
        self.path("root").chmod(0o700)
        for number, user in enumerate(self.machine.users):
            home = self.path(self.home(user.name))
            home.mkdir(parents=True, exist_ok=True)
            home.chmod(0o755)
            os.chown(home, FIRST_UID + number, FIRST_UID + number)

    def _make_host_keys(self) -> None:
        for key_type in self.machine.host_key_types:
            file = self.folder / "ssh" / f"bed_{key_type}_key"
            for old in (file, file.with_suffix(".pub")):
                old.unlink(missing_ok=True)
            _keygen(file, key_type)

    def _make_programs(self) -> None:
        programs = self.folder / "usr" / "local" / "bin"
        for name, text in {**({"python3": PYTHON} if self._clock else {}), **self.machine.programs}.items():
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
        owners = {self.home(user.name): FIRST_UID + number for number, user in enumerate(self.machine.users)}
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
        environment = {**self.machine.environment, **self._clock}
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


class _Accounts:
    """The files in /etc that say who there is, and who may become root."""

    def __init__(self, machine: Machine, etc: Path, name: str) -> None:
        self._users = machine.users
        self._sudoers = machine.sudoers.splitlines()
        self._etc = etc
        self._name = name

    def write(self) -> None:
        passwd = ["root:x:0:0:root:/root:/bin/bash", "sshd:x:101:65534::/run/sshd:/usr/sbin/nologin"]
        passwd += ["nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"]
        group = ["root:x:0:", "nogroup:x:65534:", "tty:x:5:"]
        sudoers = ["Defaults lecture=never", "root ALL=(ALL:ALL) ALL"]
        for number, user in enumerate(self._users, FIRST_UID):
            passwd.append(f"{user.name}:x:{number}:{number}::{user.home or f'/home/{user.name}'}:{user.login_shell}")
            group.append(f"{user.name}:x:{number}:")
            if user.sudo != NO_SUDO:
                sudoers.append(f"{user.name} ALL=(ALL:ALL) {'NOPASSWD: ' if user.sudo == NOPASSWD else ''}ALL")
        sudoers += self._sudoers  # the last rule that fits is the one that counts
        shadow = [f"{line.partition(':')[0]}:*:19000:0:99999:7:::" for line in passwd]
        pam = ["auth required pam_unix.so", "account required pam_unix.so", "session required pam_permit.so"]
        files = {
            "passwd": (passwd, 0o644),
            "group": (group, 0o644),
            "shadow": (shadow, 0o600),
            "sudoers": (sudoers, 0o440),
            "pam.d/sudo": (pam, 0o644),
            "hosts": (["127.0.0.1 localhost", f"127.0.1.1 {self._name}"], 0o644),
            "hostname": ([self._name], 0o644),
            "nsswitch.conf": (["passwd: files", "group: files", "shadow: files", "hosts: files"], 0o644),
        }
        for file, (lines, mode) in files.items():
            (self._etc / file).write_text("\n".join(lines) + "\n", "utf-8")
            (self._etc / file).chmod(mode)


def _keygen(file: Path, key_type: str, passphrase: str = "") -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", key_type, "-N", passphrase, "-C", "bed", "-f", str(file)],
        check=True,
        stdin=subprocess.DEVNULL,
    )


def _boot_id() -> str:
    digits = secrets.token_hex(16)
    return "-".join([digits[:8], digits[8:12], "4" + digits[13:16], "8" + digits[17:20], digits[20:]])


__all__ = ["LOCALE", "NOPASSWD", "NO_SUDO", "PASSWORD", "BedHost", "Machine", "User"]
