"""What a connection goes through: another machine (ProxyJump) or a command (ProxyCommand), as a socket."""

from __future__ import annotations

import contextlib
import shlex
import socket
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.remote.lost import Unreachable
from rerig.text import bounded, printable

if TYPE_CHECKING:
    from fabric import Connection

LONGEST_REASON = 200
END_LIMIT_S = 5


class Tunnel:
    """A socket that ends what is behind it when it is closed."""

    def __init__(self, inner: Any, end: Callable[[], None]) -> None:
        self._inner = inner
        self._end = end
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def close(self) -> None:
        """Close the way and what carries it, also if that is broken; more than once does no harm."""
        from paramiko.ssh_exception import SSHException

        if self._closed:
            return
        self._closed = True
        try:
            with contextlib.suppress(OSError, EOFError, SSHException):  # a channel says goodbye, to nobody maybe
                self._inner.close()
        finally:
            self._end()


def through(hop: Connection, address: str, port: int, limit_s: float) -> Tunnel:
    """The way to ``address`` through an open connection, which is closed with it. Raises Unreachable."""
    from paramiko.ssh_exception import SSHException

    try:
        channel = hop.transport.open_channel("direct-tcpip", (address, port), ("", 0), timeout=limit_s)
    except (SSHException, OSError, EOFError) as error:
        hop.close()
        reason = bounded(printable(str(getattr(error, "text", "") or error or "no word")), LONGEST_REASON)
        raise Unreachable(
            f"{printable(hop.host)} can't reach {printable(address)} port {port}: {reason.rstrip('.')}."
        ) from None
    return Tunnel(channel, hop.close)


def by_command(command: str, address: str, port: int, user: str) -> Tunnel:
    """The way that a ProxyCommand makes; it is split into words, no shell reads it. Raises UserError."""
    known = {"%h": address, "%p": str(port), "%r": user, "%%": "%"}
    try:
        words = [_expand(word, known) for word in shlex.split(command)]
    except ValueError:
        words = []
    if words[:1] == ["exec"]:
        del words[0]
    if not words:
        raise UserError(f"The ProxyCommand can't be read: {printable(command)}.")
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = subprocess.Popen(words, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL)
        except OSError as error:
            ours.close()
            raise UserError(f"The ProxyCommand can't be started: {printable(words[0])}: {error.strerror}.") from None
    return Tunnel(ours, lambda: _end(process))


def _expand(word: str, known: dict[str, str]) -> str:
    parts = word.split("%")
    found, parts = parts[0], parts[1:]
    while parts:
        part = parts.pop(0)
        if part == "" and parts:  # %%
            found += "%" + parts.pop(0)
        else:
            found += known.get("%" + part[:1], "%" + part[:1]) + part[1:]
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_LIMIT_S)
        return
    process.kill()
    process.wait()
