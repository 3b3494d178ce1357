"""How root is had, and what is run; Ansible itself is started by tests/roles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rerig import provision
from rerig.errors import UserError


def user(monkeypatch: pytest.MonkeyPatch, path: Path, euid: int = 1000, terminal: bool = False) -> None:
    monkeypatch.setattr("os.geteuid", lambda: euid)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr("sys.stdin.isatty", lambda: terminal, raising=False)


def play(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    """Let ``command`` stand in for ansible-playbook."""
    monkeypatch.setattr(provision, "become_flags", list)
    monkeypatch.setattr(provision, "playbook_command", lambda name, flags: command)


def add_sudo(path: Path, script: str) -> None:
    sudo = path / "sudo"
    sudo.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    sudo.chmod(0o755)


def test_root_needs_no_sudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, euid=0)
    assert provision.become_flags() == []


def test_sudo_without_a_password_is_asked_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, terminal=True)
    add_sudo(tmp_path, f'echo "$*" > "{tmp_path}/asked"')
    assert provision.become_flags() == []
    assert (tmp_path / "asked").read_text("utf-8") == "-n true\n"


def test_a_password_is_asked_for_on_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, terminal=True)
    add_sudo(tmp_path, "exit 1")
    assert provision.become_flags() == ["--ask-become-pass"]


def test_without_a_terminal_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path)
    add_sudo(tmp_path, "exit 1")
    with pytest.raises(UserError, match=r"there is no terminal to ask on: sudo apt-get install fio\.$"):
        provision.become_flags()


def test_without_sudo_it_says_what_root_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, terminal=True)
    with pytest.raises(UserError, match=r"there is no sudo here; as root: apt-get install fio\.$"):
        provision.become_flags()


def test_the_playbook_runs_from_this_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(provision, "SYSTEM_PYTHON", tmp_path)
    command = provision.playbook_command("tools.yml", ["--ask-become-pass"])
    assert command[:4] == [sys.executable, "-m", "ansible", "playbook"]
    assert command[4:-1] == ["--inventory", str(provision.INVENTORY), "--ask-become-pass"]
    assert Path(command[-1]).is_file()


def test_an_image_without_a_system_python_uses_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(provision, "SYSTEM_PYTHON", tmp_path / "missing")
    assert "--extra-vars" in provision.playbook_command("tools.yml", [])


def test_a_playbook_that_fails_is_a_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, ["sh", "-c", "exit 4"])
    with pytest.raises(UserError, match=r"could not be installed \(ansible-playbook: status 4\)"):
        provision.install_tools()


def test_ansibles_words_do_not_get_into_a_result(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    play(monkeypatch, ["echo", "PLAY RECAP"])
    provision.install_tools()
    assert capfd.readouterr() == ("", "PLAY RECAP\n")


def test_ansible_gets_no_home_and_no_language(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []
    monkeypatch.setenv("LANGUAGE", "ko")
    monkeypatch.setattr(provision, "become_flags", list)

    def remember(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        seen.append(env)
        assert Path(env["ANSIBLE_HOME"]).is_dir()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("subprocess.run", remember)
    provision.install_tools()
    [environment] = seen
    assert "LANGUAGE" not in environment
    assert environment["LC_ALL"] == "C.UTF-8"
    assert not Path(environment["ANSIBLE_HOME"]).exists()
