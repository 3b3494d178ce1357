"""Ansible's inventory, read by Ansible: groups, variables, and one sentence for what is no inventory."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.hosts import Host, find_hosts
from rerig.inventory import read_inventory

LAB = """\
all:
  children:
    boards:
      hosts:
        orin: {ansible_host: 10.0.0.7, ansible_port: 2222}
        nano:
      vars: {ansible_user: jetson}
"""


def test_hosts_have_the_variables_of_their_groups(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(LAB)
    assert find_hosts(["boards"], str(tmp_path / "lab.yml")) == [
        Host("orin", "10.0.0.7", user="jetson", port=2222),
        Host("nano", "nano", user="jetson"),
    ]


def test_a_locale_without_utf8_and_a_home_that_is_missing_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab.yml").write_text(LAB)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    assert read_inventory(str(tmp_path / "lab.yml")).hosts_of("nano") == ["nano"]


def test_the_inventory_that_comes_with_the_clone_is_this_machine() -> None:
    (host,) = find_hosts(["localhost"], str(ROOT / "inventory" / "localhost"))
    assert host.local


def test_the_example_is_a_group_that_can_be_measured() -> None:
    hosts = find_hosts(["benches"], str(ROOT / "inventory" / "example"))
    assert sorted(host.name for host in hosts) == ["desk.example.net", "orin.example.net"]
    assert not any(host.local for host in hosts)


@pytest.mark.parametrize("text", ["- 3\n- x", "all: ["])
def test_what_is_no_inventory_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "lab.yml").write_text(text)
    with pytest.raises(UserError, match="The inventory can't be read: ") as caught:
        read_inventory(str(tmp_path / "lab.yml"))
    assert len(str(caught.value).splitlines()) == 1


def test_an_inventory_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or directory") as caught:
        read_inventory(str(tmp_path / "missing"))
    assert caught.value.exit_status == 2
