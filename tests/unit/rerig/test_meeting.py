"""Machines that are met: at once, one password for all of them, and no failure that stops another."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rerig import meeting
from rerig.errors import UserError
from rerig.hosts import Host
from rerig.meeting import Door, hosts_of, meet
from rerig.remote import connection as connection_module
from rerig.remote import sudo as sudo_module
from rerig.remote.agent import RemoteAgent
from rerig.remote.lost import ConnectionLost, Unreachable
from rerig.remote.sudo import Sudo
from rerig.runner import LocalAgent

LOCAL = LocalAgent(Path("agent.pyz"), "1.0", "0" * 64)
SECRET = "open " + "sesame"
SRC = str(Path(meeting.__file__).parents[1])


class FakeConnection:
    """A connection that notes its end."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Lab:
    """What is connected to and asked for; ``wants``: machines whose sudo asks for a password."""

    def __init__(self) -> None:
        self.opened: list[FakeConnection] = []
        self.prompts: list[str] = []
        self.down: set[str] = set()
        self.wants: dict[str, str] = {}
        self.lost: set[str] = set()

    def open_connection(self, host: Host) -> FakeConnection:
        if host.name in self.down:
            raise Unreachable(f"{host.name} does not answer.")
        self.opened.append(FakeConnection(host))
        return self.opened[-1]

    def ask_sudo(self, connections: list[FakeConnection], ask: Callable[[str], str], _python: str) -> list[Sudo]:
        (connection,) = connections
        name = connection.host.name
        if name in self.lost:
            raise ConnectionLost("It broke.")
        if name not in self.wants:
            return [Sudo()]
        word = ask("its own prompt")
        if word != self.wants[name]:
            raise UserError(f"sudo on {name} refuses: 1 incorrect password attempt.")
        return [Sudo(word)]

    def ask_terminal(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return SECRET


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab()
    monkeypatch.setattr(connection_module, "open_connection", lab.open_connection)
    monkeypatch.setattr(sudo_module, "ask_sudo", lab.ask_sudo)
    monkeypatch.setattr(sudo_module, "ask_terminal", lab.ask_terminal)
    return lab


def hosts(*names: str, sudo: bool = False) -> list[Host]:
    return [Host(name, name, sudo=sudo) for name in names]


def outs(found: list[Host]) -> dict[str, Path]:
    return {host.name: Path("runs") for host in found}


def test_a_machine_that_can_not_be_reached_stops_no_other(lab: Lab) -> None:
    lab.down = {"b"}
    asked = [*hosts("c", "b", "a"), Host("here", "here", local=True)]
    met = meet(asked, LOCAL, outs(asked))
    assert list(met.machines) == ["c", "a", "here"]
    assert {name: str(error) for name, error in met.failures.items()} == {"b": "b does not answer."}
    assert met.machines["here"] is LOCAL
    assert isinstance(met.other("a"), RemoteAgent)
    with pytest.raises(UserError, match="b does not answer"):
        met.other("b")
    with pytest.raises(UserError, match="here is this machine"):
        met.other("here")


def test_the_password_is_asked_once_and_for_those_alone_that_want_one(lab: Lab) -> None:
    lab.wants = {"a": SECRET, "c": SECRET}
    asked = hosts("a", "b", "c", sudo=True)
    met = meet(asked, LOCAL, outs(asked))
    assert lab.prompts == ["sudo password on a, c: "]
    assert [door.sudo for door in met.doors] == [Sudo(SECRET), Sudo(), Sudo(SECRET)]
    assert met.failures == {}
    assert SECRET not in repr(met.doors[0].sudo)


def test_a_password_that_is_wrong_on_one_machine_is_that_machines_failure(lab: Lab) -> None:
    lab.wants = {"a": "something else", "b": SECRET}
    asked = hosts("a", "b", sudo=True)
    met = meet(asked, LOCAL, outs(asked))
    assert list(met.machines) == ["b"]
    assert str(met.failures["a"]) == "sudo on a refuses: 1 incorrect password attempt."


def test_without_a_terminal_every_machine_that_wants_a_password_fails_and_it_is_tried_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_terminal(prompt: str) -> str:
        lab.prompts.append(prompt)
        raise UserError("There is no terminal.")

    monkeypatch.setattr(sudo_module, "ask_terminal", no_terminal)
    lab.wants = {"a": SECRET, "b": SECRET}
    asked = hosts("a", "b", "c", sudo=True)
    met = meet(asked, LOCAL, outs(asked))
    assert len(lab.prompts) == 1
    assert list(met.machines) == ["c"]
    assert {str(error) for error in met.failures.values()} == {"There is no terminal."}


def test_nobody_is_asked_for_a_password_without_sudo(lab: Lab) -> None:
    lab.wants = {"a": SECRET}
    asked = hosts("a")
    met = meet(asked, LOCAL, outs(asked))
    assert lab.prompts == []
    assert met.doors[0].sudo is None


def test_a_connection_that_breaks_while_sudo_is_tried_is_that_machines_failure(lab: Lab) -> None:
    lab.lost = {"a"}
    asked = hosts("a", "b", sudo=True)
    met = meet(asked, LOCAL, outs(asked))
    assert str(met.failures["a"]) == "The connection to a was lost: It broke."
    assert list(met.machines) == ["b"]


def test_a_door_uses_the_connection_that_stands_and_closes_it_for_the_next(lab: Lab) -> None:
    (host,) = hosts("a")
    door = Door(host)
    first = door.connect()
    door()
    assert lab.opened == [first]
    door()
    assert [connection.closed for connection in lab.opened] == [True, False]
    door.connect()
    door.close()
    assert [connection.closed for connection in lab.opened] == [True, True, True]
    with pytest.raises(UserError, match="was closed"):
        door()


def test_sudo_is_for_every_other_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [*hosts("a"), Host("here", "here", local=True)]
    monkeypatch.setattr(meeting, "find_hosts", lambda _words, _inventory: found)
    assert [host.sudo for host in hosts_of(["x"], "", sudo=True)] == [True, False]
    assert [host.sudo for host in hosts_of(["x"], "", sudo=False)] == [False, False]


@pytest.mark.parametrize(("inventory", "sudo"), [("lab.yml", False), ("", True)])
def test_flags_that_want_a_machine_are_refused_without_one(inventory: str, sudo: bool) -> None:
    with pytest.raises(UserError) as caught:
        hosts_of([], inventory, sudo)
    assert caught.value.exit_status == 2


ONLY_WHOLE = """
import sys
from pathlib import Path
from rerig import meeting
from rerig.hosts import Host
from rerig.runner import LocalAgent

def look(doors, work):
    print("fabric" in sys.modules, "paramiko" in sys.modules)
    raise SystemExit

meeting.run_side_by_side = look
print("fabric" in sys.modules)
meeting.meet([Host("user@box", "box")], LocalAgent(Path("agent.pyz"), "1.0", "0" * 64), {"user@box": Path("out")})
"""


def test_the_ssh_library_is_whole_before_threads_use_it() -> None:
    """Threads that import its parts at once met half-made modules; and who needs no ssh doesn't wait for it."""
    done = subprocess.run([sys.executable, "-c", ONLY_WHOLE], capture_output=True, text=True, env={"PYTHONPATH": SRC})
    assert (done.stdout, done.stderr) == ("False\nTrue True\n", "")
