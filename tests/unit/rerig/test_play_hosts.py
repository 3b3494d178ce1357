"""On which machines a play runs: hosts and groups of an inventory, and ssh destinations that are in none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerig import inventory
from rerig.errors import UserError
from rerig.inventory import Inventory
from rerig.play_hosts import PlayHosts, find_play_hosts

LAB = Inventory(
    {"all": {"children": ["boards"]}, "boards": {"hosts": ["orin", "box"]}, "none": {}},
    {"orin": {"ansible_host": "{{ address }}"}, "box": {"ansible_connection": "local"}},
)


@pytest.fixture(autouse=True)
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "read_inventory", lambda path: LAB)


def added(word: str) -> dict[str, Any]:
    ((_, variables),) = find_play_hosts([word], None).added.items()
    return variables


def test_a_group_is_its_hosts_each_once() -> None:
    assert find_play_hosts(["orin", "boards"], "lab") == PlayHosts("lab", {"orin": "orin", "box": "box"})


def test_a_host_that_is_this_machine_is_known_to_be() -> None:
    assert find_play_hosts(["box"], "lab").local
    assert not find_play_hosts(["boards"], "lab").local


@pytest.mark.parametrize(
    ("word", "variables"),
    [
        ("jetson@nano", {"ansible_host": "nano", "ansible_user": "jetson"}),
        ("nano:2222", {"ansible_host": "nano", "ansible_port": 2222}),
        ("root@[fd00::7]:22", {"ansible_host": "fd00::7", "ansible_user": "root", "ansible_port": 22}),
    ],
)
def test_what_no_inventory_has_is_an_ssh_destination(word: str, variables: dict[str, Any]) -> None:
    found = added(word)
    assert variables.items() <= found.items()
    assert not {"ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_connection"} & set(found)


def test_root_needs_no_sudo_there() -> None:
    assert added("root@nano")["ansible_become"] is False
    assert "ansible_become" not in added("jetson@nano")


def test_each_destination_has_a_name_without_letters_of_patterns() -> None:
    words = ["[fd00::7]:22", "a_b:1", "a!b:1", "jetson@orin:22", "orin:22", "보드"]
    hosts = find_play_hosts([*words, *words], None)
    assert list(hosts.names.values()) == words
    assert len(set(hosts.names)) == len(words)
    assert not any(letter in name for name in hosts.names for letter in "[]:!&*?, ")


def test_an_inventorys_name_is_never_taken_for_another_machine() -> None:
    assert "boards" not in find_play_hosts(["boards@boards", "x@y"], None).added
    assert find_play_hosts(["orin", "me@orin", "orin:22"], "lab").names["orin"] == "orin"


@pytest.mark.parametrize("words", [[], ["none"], ["a b"], ["orin", "x@y"]])
def test_words_that_name_no_machine_are_one_sentence(words: list[str]) -> None:
    with pytest.raises(UserError, match=r"^[^\n]*\.$"):
        find_play_hosts(words, None)


def test_the_play_is_limited_to_exactly_these(tmp_path: Path) -> None:
    flags = find_play_hosts(["orin", "me@else"], "my lab").flags(tmp_path)
    assert flags[0] == "--inventory=my lab"
    sources = json.loads(Path(flags[1].removeprefix("--inventory=")).read_text("utf-8"))
    assert list(sources["all"]["hosts"]) == ["me@else"]
    assert Path(flags[2].removeprefix("--limit=@")).read_text("utf-8") == "orin\nme@else\n"


def test_ansibles_own_default_is_used_where_no_inventory_is_named(tmp_path: Path) -> None:
    assert [flag for flag in find_play_hosts(["orin"], None).flags(tmp_path) if "inventory" in flag] == []
