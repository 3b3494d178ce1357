"""Which machines words mean: ssh destinations, hosts and groups of an inventory, and what can't be used of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig import inventory
from rerig.errors import UserError
from rerig.hosts import Host, find_hosts, host_of, parse_destination
from rerig.inventory import Inventory


@pytest.mark.parametrize(
    ("word", "host"),
    [
        ("box", Host("box", "box")),
        ("user@box", Host("user@box", "box", user="user")),
        ("box:2222", Host("box:2222", "box", port=2222)),
        ("a.b@box.example.net:22", Host("a.b@box.example.net:22", "box.example.net", user="a.b", port=22)),
        ("[fd00::7]:22", Host("[fd00::7]:22", "fd00::7", port=22)),
        ("[fe80::1%eth0]", Host("[fe80::1%eth0]", "fe80::1%eth0")),
        ("fd00::7", Host("fd00::7", "fd00::7")),
        ("user@fd00::7", Host("user@fd00::7", "fd00::7", user="user")),
        ("보드", Host("보드", "보드")),
    ],
)
def test_a_destination_is_read_as_ssh_reads_it(word: str, host: Host) -> None:
    assert parse_destination(word) == host


@pytest.mark.parametrize(
    "word",
    [
        "",
        "-oProxyCommand=x",
        "user@-x",
        "-x@box",
        "a b",
        "box:",
        "box:x",
        "box:0",
        "box:65536",
        "@box",
        "user@",
        "a/b",
        "box\n",
        "box\x1b[2J",
        "[box]",
        "a@b@c",
        "box:22:22x",
    ],
)
def test_what_is_no_destination_is_one_sentence(word: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_destination(word)
    assert caught.value.exit_status == 2
    assert str(caught.value).isprintable()


@given(st.text(max_size=30))
def test_no_word_becomes_an_option_of_a_command(word: str) -> None:
    try:
        host = parse_destination(word)
    except UserError:
        return
    assert not host.destination.startswith("-")
    assert not (host.user or "").startswith("-")
    assert host.destination.isprintable()
    assert " " not in host.destination


VARIABLES: dict[str, Any] = {
    "ansible_host": "10.0.0.7",
    "ansible_port": "2222",
    "ansible_user": "jetson",
    "ansible_ssh_private_key_file": "~/.ssh/lab",
    "ansible_python_interpreter": "/usr/bin/python3.10",
    "ansible_become": "yes",
}


def test_a_host_of_an_inventory_is_reached_by_its_variables() -> None:
    assert host_of("orin", VARIABLES) == Host(
        "orin", "10.0.0.7", False, "jetson", 2222, "~/.ssh/lab", "/usr/bin/python3.10", sudo=True
    )
    assert host_of("orin", {}) == Host("orin", "orin")
    assert host_of("here", {"ansible_connection": "local"}).local
    assert host_of("orin", {"ansible_python_interpreter": "auto_silent"}).python == "python3"
    assert host_of("orin", {"ansible_port": 22, "ansible_become": False}).port == 22


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ansible_host": "-x"}, "ansible_host of the inventory is no host"),
        ({"ansible_host": "a b"}, "ansible_host of the inventory is no host"),
        ({"ansible_port": "ssh"}, "ansible_port of the inventory is no port"),
        ({"ansible_port": 70000}, "ansible_port of the inventory is no port"),
        ({"ansible_user": "{{ lab_user }}"}, "is a template, which only Ansible can fill in"),
        ({"ansible_user": {"__ansible_vault": "x"}}, "is encrypted or no plain value"),
    ],
)
def test_a_variable_that_can_not_be_used_is_one_sentence(variables: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        host_of("orin", variables)


def test_ssh_arguments_of_an_inventory_are_said_to_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    host_of("orin", {"ansible_ssh_common_args": "-J jump"})
    assert "ansible_ssh_common_args of the inventory is not used here" in capsys.readouterr().err


LAB = Inventory(
    {
        "all": {"children": ["boards", "empty"]},
        "boards": {"hosts": ["orin", "nano"], "children": ["boards", "spare"]},
        "spare": {"hosts": ["orin", "old"]},
        "empty": {},
    },
    {"orin": {"ansible_user": "jetson"}},
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    found: list[str | None] = []

    def read(path: str | None) -> Inventory:
        found.append(path)
        return LAB

    monkeypatch.setattr(inventory, "read_inventory", read)
    return found


def test_a_group_is_its_hosts_each_once_and_other_words_are_destinations(asked: list[str | None]) -> None:
    hosts = find_hosts(["boards", "old", "box:22", "user@orin"], "lab.yml")
    assert [host.name for host in hosts] == ["orin", "nano", "old", "box:22", "user@orin"]
    assert hosts[0].user == "jetson"
    assert hosts[4] == Host("user@orin", "orin", user="user")
    assert asked == ["lab.yml"]


def test_an_empty_group_is_one_sentence(asked: list[str | None]) -> None:
    with pytest.raises(UserError, match="group empty of the inventory is empty"):
        find_hosts(["empty"], None)


def test_words_with_an_at_never_ask_the_inventory(asked: list[str | None]) -> None:
    assert find_hosts(["user@box"], None) == [Host("user@box", "box", user="user")]
    assert asked == []
