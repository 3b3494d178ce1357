"""Which keys are tried, and in which order, on a machine that is a double."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote import login
from rerig.remote.login import Login, login_of
from rerig.remote.lost import Unreachable


class Key:
    """A public key, of an agent or a file."""

    public_blob = None

    def __init__(self, name: str) -> None:
        self.name = name

    def asbytes(self) -> bytes:
        return self.name.encode()


class Machine:
    """A transport that lets ``good`` in, and closes the connection after ``patience`` others."""

    def __init__(self, good: str = "", patience: int = 100, answers: dict[str, Any] | None = None) -> None:
        self.good, self.patience, self.answers = good, patience, answers or {}
        self.tried: list[str] = []

    def auth_publickey(self, _user: str, key: Any) -> list[str]:
        from paramiko.ssh_exception import AuthenticationException

        self.tried.append(key.name)
        answer = self.answers.get(key.name)
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            return list(answer)
        if key.name != self.good:
            raise AuthenticationException("Authentication failed.")
        return []

    def is_active(self) -> bool:
        return len(self.tried) < self.patience


class Agent:
    def __init__(self, *names: str) -> None:
        self.keys = tuple(Key(name) for name in names)
        self.closed = False

    def get_keys(self) -> tuple[Any, ...]:
        return self.keys

    def _close(self) -> None:
        self.closed = True


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which a private key is a file that holds its own name."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / ".ssh").mkdir()
    monkeypatch.setattr(Login, "_load", lambda self, file: Key(file.read_text()) if file.is_file() else None)
    return tmp_path / ".ssh"


def make(folder: Path, name: str, private: bool = True) -> None:
    if private:
        (folder / name).write_text(name)
    (folder / f"{name}.pub").write_text(f"ssh-ed25519 {base64.b64encode(name.encode()).decode()} of somebody\n")


def tried(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], *of_agent: str, key_file: str | None = None
) -> list[str]:
    """The keys that are tried on a machine that takes none."""
    agent, machine = Agent(*of_agent), Machine()
    monkeypatch.setattr(login, "_open_agent", lambda path: agent)
    with pytest.raises(Unreachable):
        login_of("orin", "jetson", key_file, options).authenticate(machine)
    assert agent.closed
    return machine.tried


def test_default_files_are_tried_after_the_agents_keys(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("id_ed25519", "id_rsa", "id_work"):
        make(files, name)
    assert tried(monkeypatch, {}, "a", "b") == ["a", "b", "id_rsa", "id_ed25519"]


def test_a_named_file_replaces_the_default_ones(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("id_rsa", "work", "inventory"):
        make(files, name)
    assert tried(monkeypatch, {"identityfile": [str(files / "work")]}, "a") == ["a", "work"]
    options = {"identityfile": [str(files / "work"), str(files / "none"), str(files / "work")]}
    assert tried(monkeypatch, options, key_file="~/.ssh/inventory") == ["inventory", "work"]


def test_the_agents_key_of_a_named_file_goes_first_and_is_tried_once(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("work", "home"):
        make(files, name)
    options = {"identityfile": [str(files / "work"), str(files / "home")]}
    assert tried(monkeypatch, options, "a", "work", "b") == ["work", "a", "b", "home"]


@pytest.mark.parametrize("name", ["work", "work.pub"])
def test_a_public_half_names_a_key_of_the_agent(files: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    make(files, "work", private=False)
    options = {"identityfile": [str(files / name)], "identitiesonly": "yes"}
    assert tried(monkeypatch, options, "a", "work", "b") == ["work"]


def test_with_identities_only_the_agents_other_keys_are_left_out(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(files, "id_rsa")
    assert tried(monkeypatch, {"identitiesonly": "yes"}, "a", "id_rsa", "b") == ["id_rsa"]
    assert tried(monkeypatch, {"identitiesonly": "no"}, "a") == ["a", "id_rsa"]


def test_a_certificate_is_tried_first_and_then_the_key_alone(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(files, "id_rsa")
    seen = []

    class Certified(Key):
        public_blob: Any = "certificate"

    class Watching(Machine):
        def auth_publickey(self, user: str, key: Any) -> list[str]:
            seen.append(key.public_blob)
            return super().auth_publickey(user, key)

    monkeypatch.setattr(Login, "_load", lambda self, file: Certified(file.name))
    with pytest.raises(Unreachable):
        login_of("orin", "jetson", None, {"identityagent": "none"}).authenticate(Watching())
    assert seen == ["certificate", None]


def test_the_first_key_that_opens_ends_it(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("id_rsa", "id_ecdsa", "id_ed25519"):
        make(files, name)
    machine = Machine(good="id_ecdsa")
    login_of("orin", "jetson", None, {}).authenticate(machine)
    assert machine.tried == ["id_rsa", "id_ecdsa"]


def refusal(machine: Machine, kind: type[UserError] = UserError) -> str:
    with pytest.raises(UserError) as caught:
        login_of("or\x1bin", "jet\nson", None, {}).authenticate(machine)
    assert type(caught.value) is kind
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_each_end_has_its_sentence(files: Path) -> None:
    from paramiko.ssh_exception import AuthenticationException, BadAuthenticationType, SSHException

    assert refusal(Machine(), Unreachable).startswith("There is no key to log in to or\\x1bin with: ")
    for name in ("id_rsa", "id_ecdsa"):
        make(files, name)
    assert refusal(Machine(), Unreachable).startswith("or\\x1bin does not let jet\\nson in with any key at hand: ")
    assert "closed the connection at the login of jet\\nson." in refusal(Machine(patience=1), Unreachable)
    assert "closed the connection after 2 keys: name the right one" in refusal(Machine(patience=2), Unreachable)
    first = {"id_rsa": BadAuthenticationType("no", ["password", "odd\n"])}
    assert "takes no keys, only password, odd\\n, and rerig" in refusal(Machine(answers=first))
    first = {"id_rsa": ["keyboard-interactive"]}
    assert "wants more than a key (keyboard-interactive)" in refusal(Machine(answers=first))
    first = {"id_rsa": AuthenticationException("Authentication timeout.")}
    assert refusal(Machine(answers=first), Unreachable) == "or\\x1bin did not answer to the login within 60 s."
    for passing in (SSHException("agent refused operation"), OSError(9, "x"), EOFError(), ValueError("x")):
        machine = Machine(good="id_ecdsa", answers={"id_rsa": passing})
        login_of("orin", "jetson", None, {}).authenticate(machine)


def test_the_agents_socket_is_the_sessions_or_the_one_that_is_named(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def socket(**options: str) -> str | None:
        return login_of("orin", "jetson", None, options).agent_socket

    assert socket() is None
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("MY_AGENT", "/run/mine")
    assert socket() == "/run/agent"
    assert socket(identityagent="none") is None
    assert socket(identityagent="SSH_AUTH_SOCK") == "/run/agent"
    assert socket(identityagent="$MY_AGENT") == "/run/mine"
    assert socket(identityagent="${MY_AGENT}.2") == "/run/mine.2"
    assert socket(identityagent="~/.agent/socket") == str(files.parent / ".agent/socket")
    assert socket(identityagent="%d/.agent/socket") == str(files.parent / ".agent/socket")
    assert socket(identityagent="$NONE") is None


def test_an_agent_that_talks_nonsense_is_passed_over(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket
    import threading

    path = str(files / "s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(100)
                client.sendall(b"\0\0\0\1\5")

        thread = threading.Thread(target=serve)
        thread.start()
        make(files, "id_rsa")
        machine = Machine(good="id_rsa")
        login_of("orin", "jetson", None, {"identityagent": path}).authenticate(machine)
        thread.join()
    assert machine.tried == ["id_rsa"]


def test_an_inventorys_key_must_be_there(files: Path) -> None:
    with pytest.raises(UserError, match=r"^The key ~/\.ssh/none can't be read\.$"):
        login_of("orin", "jetson", "~/.ssh/none", {})
