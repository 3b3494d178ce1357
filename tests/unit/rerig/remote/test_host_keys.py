"""Which lines of known_hosts speak of a machine, and what follows from them."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.errors import UserError
from rerig.remote.host_keys import KnownKeys, find_known_keys, fingerprint, look_up

KEY, OTHER = b"\0\0\0\x0bssh-ed25519 one", b"\0\0\0\x0bssh-ed25519 two"


def text_of(key: bytes) -> str:
    return base64.b64encode(key).decode("ascii")


def line(names: str, key: bytes = KEY, kind: str = "ssh-ed25519") -> str:
    return f"{names} {kind} {text_of(key)}"


def hashed(name: str) -> str:
    salt = b"twenty bytes of salt"
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{text_of(salt)}|{text_of(digest)}"


def is_known(lines: list[str], name: str) -> bool:
    return ("ssh-ed25519", KEY) in look_up(lines, name).trusted


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ("orin", "orin"),
        ("Orin", "oRIN"),
        ("other,orin", "orin"),
        ("*.example.net", "orin.example.net"),
        ("orin?", "orin7"),
        ("[orin]:2222", "[orin]:2222"),
        ("[*]:2222", "[orin]:2222"),
        ("*,!other", "orin"),
        ("fd00::7", "fd00::7"),
    ],
)
def test_a_name_is_found_by_its_pattern(names: str, name: str) -> None:
    assert is_known([line(names)], name)


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ("orin", "orin2"),
        ("orin", "[orin]:2222"),
        ("[orin]:2222", "orin"),
        ("*.example.net", "example.net"),
        ("orin,!orin", "orin"),
        ("!other", "orin"),
        ("[o]rin", "orin"),
        ("[!x]rin", "orin"),
        ("o.in", "orin"),
        ("", "orin"),
    ],
)
def test_a_name_is_not_found_by_the_pattern_of_others(names: str, name: str) -> None:
    assert not is_known([line(names)], name)


def test_a_hashed_name_is_found_and_no_other() -> None:
    assert is_known([line(hashed("orin"))], "orin")
    assert is_known([line(hashed("[orin]:2222"))], "[Orin]:2222")
    assert not is_known([line(hashed("orin"))], "orim")


@pytest.mark.parametrize("names", ["|1|", "|1||", "|1|x|y", "|1|===|===", "|2|a|b", "|1|aGk=|한글"])
def test_a_hash_that_is_none_is_passed_over(names: str) -> None:
    assert not is_known([line(names)], "orin")


def test_what_is_no_line_is_passed_over() -> None:
    lines = [
        "",
        "# orin ssh-ed25519 comment",
        "orin",
        "orin ssh-ed25519",
        "orin ssh-ed25519 ***",
        "@odd " + line("orin", OTHER),
        "@revoked",
        "  " + line("orin") + " a comment of several words",
    ]
    assert look_up(lines, "orin") == KnownKeys("orin", {("ssh-ed25519", KEY)})


@given(st.lists(st.text(max_size=80), max_size=5), st.text(max_size=20))
def test_no_text_is_an_error(lines: list[str], name: str) -> None:
    look_up([*lines, *(f"{text} ssh-ed25519 {text_of(KEY)}" for text in lines)], name)


def test_a_known_key_is_accepted_and_nothing_else() -> None:
    known = look_up([line("orin")], "orin")
    known.verify("ssh-ed25519", KEY)
    with pytest.raises(UserError, match="has changed"):
        known.verify("ssh-ed25519", OTHER)
    with pytest.raises(UserError, match="has changed"):
        known.verify("ssh-rsa", KEY)
    with pytest.raises(UserError, match="is not in known_hosts: compare"):
        look_up([line("other")], "orin").verify("ssh-ed25519", KEY)


def test_a_revoked_key_is_refused_wherever_it_also_stands() -> None:
    for lines in ([line("orin"), "@revoked " + line("*")], ["@revoked " + line("*"), line("orin")]):
        with pytest.raises(UserError, match="marked @revoked"):
            look_up(lines, "orin").verify("ssh-ed25519", KEY)


def test_an_authority_is_no_key() -> None:
    known = look_up(["@cert-authority " + line("*.example.net")], "orin.example.net")
    with pytest.raises(UserError, match="only an authority that rerig does not ask: compare"):
        known.verify("ssh-ed25519", KEY)


def test_signatures_that_fit_the_known_keys_are_asked_for_first() -> None:
    known = look_up([line("orin"), line("orin", OTHER, "ssh-rsa")], "orin")
    assert known.key_types() == ["ssh-ed25519", "rsa-sha2-512", "rsa-sha2-256"]


def test_what_a_machine_shows_can_not_move_the_cursor() -> None:
    with pytest.raises(UserError) as caught:
        KnownKeys("or\x1b[2Jin").verify("ssh-\x1b]0;x", KEY)
    assert str(caught.value).isprintable()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Options of ssh_config that name two files of this test, which are empty yet."""
    for name in ("user", "global"):
        (tmp_path / name).touch()
    return {"userknownhostsfile": str(tmp_path / "user"), "globalknownhostsfile": str(tmp_path / "global")}


def write(file: str, *lines: str) -> None:
    Path(file).write_text("\n".join(lines) + "\n", "utf-8")


def test_both_files_are_read(files: dict[str, Any]) -> None:
    write(files["userknownhostsfile"], line("orin", OTHER))
    write(files["globalknownhostsfile"], line("orin"), "@revoked " + line("*", OTHER))
    known = find_known_keys(files, "orin", 22)
    known.verify("ssh-ed25519", KEY)
    with pytest.raises(UserError, match="marked @revoked"):
        known.verify("ssh-ed25519", OTHER)


def test_several_files_may_stand_in_one_option(files: dict[str, Any], tmp_path: Path) -> None:
    write(str(tmp_path / "with space"), line("orin"))
    for value in (f'/none" "{tmp_path}/with space', f'/none "{tmp_path}/with space"', str(tmp_path / "with space")):
        find_known_keys({**files, "userknownhostsfile": value}, "orin", 22).verify("ssh-ed25519", KEY)


def test_words_in_a_files_name_are_replaced(files: dict[str, Any], tmp_path: Path) -> None:
    write(str(tmp_path / "orin 2222%"), line("[orin]:2222"))
    options = {**files, "userknownhostsfile": f"{tmp_path}/%h %p%%"}
    find_known_keys(options, "orin", 2222).verify("ssh-ed25519", KEY)


def test_an_alias_stands_for_the_address_and_the_port(files: dict[str, Any]) -> None:
    write(files["userknownhostsfile"], line("board"), line("[orin]:2222", OTHER))
    known = find_known_keys({**files, "hostkeyalias": "board"}, "orin", 2222)
    assert known.trusted == {("ssh-ed25519", KEY)}


def test_a_key_for_the_port_goes_before_that_of_the_address(files: dict[str, Any]) -> None:
    write(files["userknownhostsfile"], line("orin"), line("[orin]:2222", OTHER))
    known = find_known_keys(files, "orin", 2222)
    known.verify("ssh-ed25519", OTHER)
    with pytest.raises(UserError, match=r"The host key of \[orin\]:2222 has changed"):
        known.verify("ssh-ed25519", KEY)


def test_a_key_of_the_address_vouches_for_a_port_that_is_not_known(files: dict[str, Any]) -> None:
    write(files["userknownhostsfile"], line("orin"), "@revoked " + line("orin", OTHER))
    known = find_known_keys(files, "orin", 2222)
    assert known.key_types() == ["ssh-ed25519"]
    known.verify("ssh-ed25519", KEY)
    with pytest.raises(UserError, match="marked @revoked"):
        known.verify("ssh-ed25519", OTHER)
    with pytest.raises(UserError, match=r"The host key of \[orin\]:2222 .* is not in known_hosts"):
        known.verify("ssh-ed25519", b"third")


def test_a_fingerprint_is_written_as_ssh_keygen_does() -> None:
    assert fingerprint(b"") == "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
