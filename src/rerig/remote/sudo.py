"""Being root on another machine through sudo, with a password that is asked once and kept in memory alone."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerig.errors import UserError
from rerig.text import bounded, printable

if TYPE_CHECKING:
    from fabric import Connection

    from rerig.remote.shell import Completed

SUDO_LIMIT_S = 60
LONGEST_REASON = 200
NOT_FOUND = 127


@dataclass(frozen=True, repr=False)
class Sudo:
    """How to become root; without a password sudo is told never to ask."""

    password: str | None = None

    def argv(self, argv: Sequence[str]) -> list[str]:
        """``argv`` as root. -k: no earlier login decides whether the first line of stdin is read as a password."""
        return ["sudo", *(["-n"] if self.password is None else ["-k", "-S", "-p", ""]), "--", *argv]

    def first_line(self) -> bytes:
        """What sudo reads before the command does."""
        return b"" if self.password is None else self.password.encode("utf-8", "surrogateescape") + b"\n"

    def __repr__(self) -> str:
        return f"Sudo({'without a password' if self.password is None else 'with a password'})"


def ask_sudo(
    connections: Sequence[Connection], ask: Callable[[str], str] | None = None, python: str = "python3"
) -> list[Sudo]:
    """How to become root on each of these machines, checked there with the very program that will run (``python``).

    A password that sudo doesn't want for it would end up in what that program reads. Where sudo wants one, ``ask`` (by
    default the terminal) is asked once for all machines. Raises UserError: no sudo there, not allowed, a wrong
    password, no terminal.
    """
    found = [None if _refusal(connection, Sudo(), python) else Sudo() for connection in connections]
    wanting = [connection for connection, sudo in zip(connections, found, strict=True) if sudo is None]
    if not wanting:
        return [sudo for sudo in found if sudo]
    names = ", ".join(dict.fromkeys(printable(str(connection.original_host)) for connection in wanting))
    secret = Sudo((ask or ask_terminal)(f"sudo password on {names}: "))
    for connection in wanting:
        if refusal := _refusal(connection, secret, python):
            raise UserError(f"sudo on {printable(str(connection.original_host))} refuses: {refusal}.")
    return [sudo or secret for sudo in found]


def _refusal(connection: Connection, sudo: Sudo, python: str) -> str | None:
    """Why not, in sudo's own words; None where it works, or would if Python were there. Raises UserError."""
    from rerig.remote.shell import SshShell

    shell = SshShell(connection)
    program = [python, "-I", "-S", "-c", "pass"]
    # -k here too: a login that sudo still remembers would be forgotten in the middle of a long run.
    argv = ["sudo", "-k", "-n", "--", *program] if sudo.password is None else sudo.argv(program)
    done = shell.run(argv, sudo.first_line(), SUDO_LIMIT_S)
    if done.status == 0 or b": command not found" in done.stderr:
        return None
    if done.status == NOT_FOUND:
        raise UserError(f"There is no sudo on {printable(str(connection.original_host))}; log in as root instead.")
    return _last_words(done)


def _last_words(done: Completed) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    words = [line.removeprefix("sudo: ") for line in lines if "no password was provided" not in line] or ["no word"]
    return bounded(printable(words[-1].rstrip(".")), LONGEST_REASON)


def ask_terminal(prompt: str) -> str:
    """A password from the terminal, unseen. Raises UserError where there is none."""
    try:
        Path("/dev/tty").open("rb").close()  # getpass would read it from stdin, and show it
    except OSError:
        raise UserError(
            f"There is no terminal to ask for the {prompt.rstrip(': ')} on; let sudo work without one (NOPASSWD)."
        ) from None
    return getpass.getpass(prompt)
