"""How root is had, which roles are played, and with which flags; Ansible itself is started by tests/roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rerig import play, provision, restore
from rerig.errors import UserError
from rerig.play import Played
from rerig.play_events import HostOutcome
from rerig.play_hosts import PlayHosts
from rerig.provision import Wish

Plays = list[tuple[str, PlayHosts, list[str]]]


def user(monkeypatch: pytest.MonkeyPatch, path: Path, euid: int = 1000, terminal: bool = False) -> None:
    monkeypatch.setattr("os.geteuid", lambda: euid)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr("sys.stdin.isatty", lambda: terminal, raising=False)


def add_sudo(path: Path, script: str) -> None:
    sudo = path / "sudo"
    sudo.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    sudo.chmod(0o755)


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Plays:
    """What would be played; every machine comes out as it should be."""
    seen: Plays = []

    def run_play(playbook: str, hosts: PlayHosts, flags: list[str]) -> Played:
        seen.append((playbook, hosts, flags))
        return Played(0, {name: HostOutcome() for name in hosts.names})

    for module in (provision, restore):
        monkeypatch.setattr(module, "run_play", run_play)
    return seen


def flags_of(plays: Plays, **wish: Any) -> list[str]:
    assert provision.provision(["me@orin"], None, Wish(**wish)) == 0
    return plays[-1][2]


def become() -> list[str]:
    return provision.become_flags("Installing tools", "sudo apt-get install fio")


def test_root_needs_no_sudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, euid=0)
    assert become() == ["--extra-vars=ansible_become=false"]


def test_sudo_without_a_password_is_asked_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, terminal=True)
    add_sudo(tmp_path, f'echo "$*" > "{tmp_path}/asked"')
    assert become() == []
    assert (tmp_path / "asked").read_text("utf-8") == "-n true\n"


def test_a_password_is_asked_for_on_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, terminal=True)
    add_sudo(tmp_path, "exit 1")
    assert become() == ["--ask-become-pass"]


def test_without_a_terminal_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path)
    add_sudo(tmp_path, "exit 1")
    with pytest.raises(UserError, match=r"there is no terminal to ask on: sudo apt-get install fio\.$"):
        become()


def test_without_sudo_it_says_what_root_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path, terminal=True)
    with pytest.raises(UserError, match=r"there is no sudo here; as root: apt-get install fio\.$"):
        become()


def test_the_parts_are_the_roles_of_site_yml_but_for_measuring() -> None:
    assert provision.site_roles() == ["power_mode", "headless", "bench_tools"]


def test_everything_but_measuring_is_played(plays: Plays) -> None:
    flags = flags_of(plays)
    assert plays[0][0] == "site.yml"
    assert flags == ["--tags", "power_mode,headless,bench_tools", "--skip-tags", "measure"]


def test_only_some_parts_are_played_in_their_own_order(plays: Plays) -> None:
    assert flags_of(plays, only=["headless", "power_mode", "headless"])[:2] == ["--tags", "power_mode,headless"]


@pytest.mark.parametrize("name", ["", "headles", "measure", "board_state", "super_mode", "x\n"])
def test_a_part_that_is_none_is_one_sentence(name: str, plays: Plays) -> None:
    with pytest.raises(UserError, match=r"there are power_mode, headless, bench_tools\.$") as caught:
        provision.provision(["me@orin"], None, Wish(only=["headless", name]))
    assert caught.value.exit_status == 2
    assert plays == []


def test_check_and_diff_are_ansibles_own(plays: Plays) -> None:
    assert flags_of(plays, check=True, diff=True)[:2] == ["--check", "--diff"]


def test_nothing_may_reboot_unless_it_is_said(plays: Plays) -> None:
    assert not any("reboot" in flag for flag in flags_of(plays))
    assert '--extra-vars={"headless_reboot_ok": true}' in flags_of(plays, reboot=True)
    assert sum("reboot_ok" in flag for flag in flags_of(plays, reboot=True, only=["power_mode"])) == 1


def test_a_password_takes_a_terminal(monkeypatch: pytest.MonkeyPatch, plays: Plays, tmp_path: Path) -> None:
    user(monkeypatch, tmp_path)
    with pytest.raises(UserError, match=r"^--ask-become-pass needs a terminal to ask on, and there is none\.$"):
        flags_of(plays, ask_become_pass=True)
    user(monkeypatch, tmp_path, terminal=True)
    assert "--ask-become-pass" in flags_of(plays, ask_become_pass=True)


def test_restore_puts_back_in_the_opposite_order(plays: Plays, capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    assert restore.restore(["me@orin"], None, Wish(check=True)) == 0
    assert [(playbook, flags) for playbook, _hosts, flags in plays] == [("restore.yml", ["--check"])]
    (played,) = yaml.safe_load((provision.ROOT / "playbooks" / "restore.yml").read_text("utf-8"))
    roles = [task["ansible.builtin.import_role"] for task in played["tasks"]]
    assert [role["name"] for role in roles] == provision.site_roles()[::-1]
    assert {role["tasks_from"] for role in roles} == {"restore"}


def test_tools_are_installed_on_this_machine_alone(monkeypatch: pytest.MonkeyPatch, plays: Plays) -> None:
    monkeypatch.setattr(provision, "become_flags", lambda what, by_hand: [])
    provision.install_tools()
    ((playbook, hosts, _flags),) = plays
    assert (playbook, list(hosts.names), hosts.local) == ("tools.yml", ["localhost"], True)


def test_a_playbook_that_fails_is_a_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provision, "become_flags", lambda what, by_hand: [])
    monkeypatch.setattr(
        play,
        "playbook_command",
        lambda name, local: [
            "sh",
            "-c",
            'echo \'{"event": "end", "hosts": {"localhost": {"failures": 1}}}\' > "$RERIG_PLAY_LINES"; exit 2',
        ],
    )
    with pytest.raises(UserError, match=r"could not be installed \(ansible-playbook: status 2\)"):
        provision.install_tools()
