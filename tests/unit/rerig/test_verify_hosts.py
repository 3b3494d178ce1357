"""Which machines ./inv verify means, and how testinfra is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import testinfra.backend

from rerig import verify_hosts
from rerig.errors import UserError
from rerig.verify_hosts import find_subjects

LAB = "boards: {hosts: {orin: {power_mode_name: 25W}, nano: {}}}\n"
DEFAULTS = {"power_mode_name": "MAXN_SUPER"}


@pytest.fixture
def lab(tmp_path: Path) -> str:
    (tmp_path / "lab.yml").write_text(LAB, "utf-8")
    return str(tmp_path / "lab.yml")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str | None, list[str]]]:
    """What Ansible was asked to fill in."""
    calls: list[tuple[str | None, list[str]]] = []

    def render(inventory: str | None, hosts: list[str]) -> dict[str, dict[str, Any]]:
        calls.append((inventory, hosts))
        return {host: {**DEFAULTS, "of": host} for host in hosts}

    monkeypatch.setattr(verify_hosts, "render_desired", render)
    return calls


def test_without_a_word_it_is_this_machine(asked: list[Any]) -> None:
    (subject,) = find_subjects([], None)
    assert (subject.label, subject.spec, subject.inventory) == ("this machine", "local://", None)
    assert asked == [(None, ["localhost"])]


def test_hosts_of_the_inventory_have_its_values_and_others_the_defaults(lab: str, asked: list[Any]) -> None:
    subjects = find_subjects(["boards", "me@box:2222", "orin", "alias"], lab)
    assert [(subject.label, subject.spec, subject.inventory) for subject in subjects] == [
        ("orin", "ansible://orin", lab),
        ("nano", "ansible://nano", lab),
        ("me@box:2222", "ssh://me@box:2222", None),
        ("alias", "ssh://alias", None),
    ]
    assert asked == [(lab, ["orin", "nano"]), ("localhost,", ["localhost"])]
    assert [subject.desired["of"] for subject in subjects] == ["orin", "nano", "localhost", "localhost"]


@pytest.mark.parametrize(
    ("word", "name", "user", "port"),
    [
        ("me@[fd00::7]:22", "fd00::7", "me", "22"),
        ("me@fe80::1%eth0", "fe80::1%eth0", "me", None),
        ("a,b@odd,name:1", "odd,name", "a,b", "1"),
        ("me:x@box", "box", "me:x", None),
    ],
)
def test_testinfra_understands_the_destination(
    asked: list[Any], word: str, name: str, user: str, port: str | None
) -> None:
    (subject,) = find_subjects([word], None)
    assert "," not in subject.spec
    (backend,) = testinfra.backend.get_backends([subject.spec])
    assert (backend.host.name, backend.host.user, backend.host.port) == (name, user, port)


def test_wrong_words_are_one_sentence(lab: str, asked: list[Any]) -> None:
    for words, sentence in (([], "name one"), (["@"], "is no host")):
        with pytest.raises(UserError, match=sentence):
            find_subjects(words, lab)
    assert asked == []
