"""What a machine of the bed is like, as a test asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

NO_SUDO, NOPASSWD, PASSWORD = "no", "nopasswd", "password"
FIRST_UID = 2001


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

    def owners(self) -> dict[str, int]:
        """The uid (and gid) of each user by the home."""
        return {home_of(user): number for number, user in enumerate(self.users, FIRST_UID)}


def home_of(user: User) -> str:
    """A user's home, as the machine names it."""
    return user.home or f"/home/{user.name}"
