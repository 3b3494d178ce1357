"""Machines that are connected and ready: each host's agent, with sudo's password asked once for all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rerig.errors import UserError
from rerig.hosts import Host, find_hosts
from rerig.remote.agent import RemoteAgent
from rerig.remote.lost import ConnectionLost
from rerig.remote.steady import SteadyShell
from rerig.runner import LocalAgent
from rerig.side_by_side import run_side_by_side
from rerig.text import printable

if TYPE_CHECKING:
    from fabric import Connection

    from rerig.remote.shell import Shell
    from rerig.remote.sudo import Sudo


class Door:
    """Opens shells on one host; a new one closes the connection before. ``sudo`` is set once it was asked for."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.sudo: Sudo | None = None
        self._unused: Connection | None = None
        self._used: Connection | None = None
        self._closed = False

    def connect(self) -> Connection:
        """A connection, which the next shell will use. Raises UserError."""
        if self._closed:
            raise UserError(f"The connection to {printable(self.host.name)} was closed.")
        if self._unused is None:
            from rerig.remote.connection import open_connection

            self._unused = open_connection(self.host)
        return self._unused

    def __call__(self) -> Shell:
        """A shell over a connection that no shell has used."""
        from rerig.remote.shell import SshShell

        _close(self._used)  # it is dead, as a rule
        self._used = None
        self._used, self._unused = self.connect(), None
        return SshShell(self._used, self.sudo)

    def close(self) -> None:
        """Close what is open, for good."""
        self._closed = True
        _close(self._used)
        _close(self._unused)


@dataclass
class Met:
    """The machines that can be worked with, and why the others can't, both by name in the order asked."""

    machines: dict[str, LocalAgent | RemoteAgent] = field(default_factory=dict)
    failures: dict[str, UserError] = field(default_factory=dict)
    doors: list[Door] = field(default_factory=list)

    def other(self, name: str) -> RemoteAgent:
        """The agent on another machine. Raises the UserError that says why it can't be reached."""
        if name in self.failures:
            raise self.failures[name]
        machine = self.machines[name]
        if isinstance(machine, LocalAgent):
            raise UserError(f"{printable(name)} is this machine.")
        return machine

    def close(self) -> None:
        """Close every connection; what still wants one gets a UserError."""
        for door in self.doors:
            door.close()


def _close(connection: Connection | None) -> None:
    if connection is not None:
        with contextlib.suppress(Exception):  # nothing is lost with it
            connection.close()


def hosts_of(words: list[str], inventory: str, sudo: bool) -> list[Host]:
    """The hosts that the user means; ``sudo`` makes root of the agent on every other machine. Raises UserError."""
    if inventory and not words:
        raise UserError("--inventory says where hosts are looked up, and --host which of them are meant: name one.", 2)
    hosts = find_hosts(words, inventory or None)
    if sudo and all(host.local for host in hosts):
        raise UserError("--sudo is for other machines; to be root on this one, start ./inv with sudo.", 2)
    return [host if host.local else replace(host, sudo=host.sudo or sudo) for host in hosts]


def meet(hosts: list[Host], local: LocalAgent, outs: Mapping[str, Path]) -> Met:
    """Connect to all of them at once and become root where that is wanted; one that fails stops no other.

    ``outs``: where each one's runs are kept here, by its name.
    """
    doors = {host.name: Door(host) for host in hosts if not host.local}
    if doors:
        # Here and whole, before there are threads: those that import parts of it at once meet half-made modules.
        import fabric  # noqa: F401 - for its being loaded
    connections = run_side_by_side(doors, Door.connect)
    failures = {name: answer for name, answer in connections.items() if isinstance(answer, UserError)}
    _become_root([door for name, door in doors.items() if door.host.sudo and name not in failures], failures)
    met = Met(
        failures={host.name: failures[host.name] for host in hosts if host.name in failures},
        doors=list(doors.values()),
    )
    for host in hosts:
        if host.local:
            met.machines[host.name] = local
        elif host.name not in failures:
            met.machines[host.name] = RemoteAgent(host, SteadyShell(doors[host.name]), local.built(), outs[host.name])
    return met


def _become_root(doors: list[Door], failures: dict[str, UserError]) -> None:
    """Root on all at once where sudo asks nothing; then the password for the others, asked once in this thread."""
    if not doors:
        return
    by_name = {door.host.name: door for door in doors}
    answers = run_side_by_side(by_name, lambda door: _sudo(door, _refuse_to_ask))
    wanting = [door for name, door in by_name.items() if isinstance(answers[name], _PasswordWanted)]
    ask = _AskOnce([door.host.name for door in wanting])
    answers.update({door.host.name: _answer(door, ask) for door in wanting})
    for name, answer in answers.items():
        if isinstance(answer, UserError):
            failures[name] = answer
        else:
            by_name[name].sudo = answer


def _answer(door: Door, ask: Callable[[str], str]) -> Sudo | UserError:
    try:
        return _sudo(door, ask)
    except UserError as error:
        return error


def _sudo(door: Door, ask: Callable[[str], str]) -> Sudo:
    from rerig.remote.sudo import ask_sudo

    try:
        (sudo,) = ask_sudo([door.connect()], ask, door.host.python)
    except ConnectionLost as error:
        why = str(error).rstrip(".")
        raise UserError(f"The connection to {printable(door.host.name)} was lost: {why}.") from error
    return sudo


class _PasswordWanted(UserError):
    """sudo wants a password, which another thread is to ask for."""


def _refuse_to_ask(prompt: str) -> str:
    raise _PasswordWanted(prompt)


class _AskOnce:
    """Asks for the password when the first machine wants one; the prompt names all that get to see it."""

    def __init__(self, names: list[str]) -> None:
        self._prompt = f"sudo password on {', '.join(map(printable, names))}: "
        self._answer: str | UserError | None = None

    def __call__(self, _prompt: str) -> str:
        from rerig.remote.sudo import ask_terminal

        if self._answer is None:
            try:
                self._answer = ask_terminal(self._prompt)
            except UserError as error:
                self._answer = error
        if isinstance(self._answer, UserError):
            raise self._answer
        return self._answer
