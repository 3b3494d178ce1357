"""Logging in with the user's keys, in ssh's order: the agent's that ssh_config names, the agent's others, then files.

Nothing is ever asked: no passphrase, no password. What a machine wants beyond a key is a sentence.
"""

from __future__ import annotations

import base64
import binascii
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.remote.lost import Unreachable
from rerig.text import printable

if TYPE_CHECKING:
    from paramiko import PKey, Transport
    from paramiko.agent import AgentSSH

LIMIT_S = 60  # somebody may have to touch a token
DEFAULT_FILES = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")
PUBLIC_KEY = ("ssh-", "ecdsa-", "sk-")


@dataclass
class Login:
    """What paramiko calls an AuthStrategy: who logs in on the machine ``name``, and with which keys."""

    name: str
    user: str
    files: list[Path]
    agent_socket: str | None
    named_only: bool
    _locked: list[Path] = field(default_factory=list)
    _unreadable: list[Path] = field(default_factory=list)

    def authenticate(self, transport: Transport) -> None:
        """Log in. Raises Unreachable: a machine that boots lets nobody in for a while, and then the same keys do."""
        agent = _open_agent(self.agent_socket)
        tried = 0
        try:
            for key in self._keys(agent.get_keys() if agent else ()):
                tried += 1
                if self._try(transport, key, tried):
                    return
        finally:
            if agent:
                agent._close()
        raise Unreachable(self._why_not(tried))

    def _try(self, transport: Transport, key: PKey, number: int) -> bool:
        from paramiko.ssh_exception import AuthenticationException, BadAuthenticationType, SSHException

        try:
            further = transport.auth_publickey(self.user, key)
        except BadAuthenticationType as error:
            raise UserError(
                f"{self._host} takes no keys, only {printable(', '.join(error.allowed_types))}, and rerig asks for no "
                "password."
            ) from None
        except AuthenticationException as error:
            if "timeout" in str(error).lower():
                raise Unreachable(f"{self._host} did not answer to the login within {LIMIT_S} s.") from None
        except (SSHException, OSError, EOFError, ValueError):
            pass  # an agent that does not sign, a kind of key that the machine doesn't know
        else:
            if further:
                wanted = printable(", ".join(further))
                raise UserError(f"{self._host} wants more than a key ({wanted}), which rerig can't give.")
            return True
        if not transport.is_active():
            raise Unreachable(self._why_cut(number))
        return False

    def _keys(self, of_agent: tuple[PKey, ...]) -> Iterator[PKey]:
        rest = list(of_agent)
        files = []
        for file in self.files:
            public = _public_bytes(file)
            matching = [key for key in rest if public is not None and key.asbytes() == public]
            yield from matching
            rest = [key for key in rest if key not in matching]
            if not matching:
                files.append(file)
        if not self.named_only:
            yield from rest
        for file in files:
            key = self._load(file)
            if key is None:
                continue
            yield key
            if key.public_blob is not None:  # its certificate was refused; now without
                key.public_blob = None
                yield key

    def _load(self, file: Path) -> PKey | None:
        from cryptography.exceptions import UnsupportedAlgorithm
        from paramiko import PKey
        from paramiko.ssh_exception import PasswordRequiredException, SSHException

        try:
            return PKey.from_path(file)
        except (PasswordRequiredException, TypeError):
            self._locked.append(file)
        except (OSError, SSHException, ValueError, UnsupportedAlgorithm):
            # A public half alone names a key of an agent that doesn't have it at the moment.
            if file.is_file() and file.suffix != ".pub":
                self._unreadable.append(file)
        return None

    @property
    def _host(self) -> str:
        return printable(self.name)

    def _why_not(self, tried: int) -> str:
        user = printable(self.user)
        if self._locked:
            locked = printable(str(self._locked[0]))
            return (
                f"{self._host} lets {user} in with no key at hand, and {locked} needs a passphrase: hand it to the "
                f"agent first (ssh-add {locked})."
            )
        if tried:
            return (
                f"{self._host} does not let {user} in with any key at hand: check the user, and copy a key there "
                "(ssh-copy-id)."
            )
        if self._unreadable:
            return f"The key {printable(str(self._unreadable[0]))} for {self._host} can't be read, or is none."
        return f"There is no key to log in to {self._host} with: make one (ssh-keygen) and copy it there (ssh-copy-id)."

    def _why_cut(self, number: int) -> str:
        if number == 1:
            return f"{self._host} closed the connection at the login of {printable(self.user)}."
        return (
            f"{self._host} closed the connection after {number} keys: name the right one in ssh_config (IdentityFile, "
            "and IdentitiesOnly yes)."
        )


def login_of(name: str, user: str, key_file: str | None, options: Any) -> Login:
    """How ``user`` logs in by the looked-up ``options``, with ``key_file`` first. Raises UserError if that is missing.

    Other files that aren't there are passed over, as ssh does.
    """
    if key_file and not os.access(Path(key_file).expanduser(), os.R_OK):
        raise UserError(f"The key {printable(key_file)} can't be read.")
    named = [*([key_file] if key_file else []), *options.get("identityfile", [])]
    files = [Path(name).expanduser() for name in dict.fromkeys(named or DEFAULT_FILES)]
    # A key that an agent holds may be named by its public half alone.
    there = [file for file in files if file.is_file() or file.with_name(file.name + ".pub").is_file()]
    only = str(options.get("identitiesonly", "no")).lower() in ("yes", "true")
    return Login(name, user, there, _agent_socket(options), only)


def _agent_socket(options: Any) -> str | None:
    """IdentityAgent: a path, a variable, or none; without it the agent of the session."""
    value = str(options.get("identityagent") or "SSH_AUTH_SOCK")
    if value.lower() == "none":
        return None
    if value == "SSH_AUTH_SOCK" or (value.startswith("$") and value[1:].isidentifier()):
        return os.environ.get(value.removeprefix("$")) or None
    return str(Path(os.path.expandvars(value.replace("%d", "~", 1))).expanduser())


def _open_agent(path: str | None) -> AgentSSH | None:
    from paramiko.agent import AgentSSH
    from paramiko.ssh_exception import SSHException

    if path is None:
        return None
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(LIMIT_S)
    agent = AgentSSH()
    try:
        link.connect(path)
        agent._connect(link)  # paramiko's own Agent knows no other way than a variable of the whole process
    except (OSError, SSHException, ValueError):
        link.close()  # it is gone: ssh goes on without, too
        return None
    return agent


def _public_bytes(file: Path) -> bytes | None:
    for candidate in (file.with_name(file.name + ".pub"), file):
        try:
            words = candidate.read_text("utf-8", "replace").split(None, 2)
        except OSError:
            continue
        if len(words) > 1 and words[0].startswith(PUBLIC_KEY):
            try:
                return base64.b64decode(words[1], validate=True)
            except (binascii.Error, ValueError):
                continue
    return None
