"""How a command becomes root's, and what nobody gets to see."""

from __future__ import annotations

from rerig.remote.sudo import Sudo

SECRET = "pass" + "word 한글"


def test_without_a_password_sudo_is_told_never_to_ask() -> None:
    assert Sudo().argv(["id", "-u"]) == ["sudo", "-n", "--", "id", "-u"]
    assert Sudo().first_line() == b""


def test_with_a_password_sudo_reads_it_first_whatever_it_remembers() -> None:
    assert Sudo(SECRET).argv(["id", "-u"]) == ["sudo", "-k", "-S", "-p", "", "--", "id", "-u"]
    assert Sudo(SECRET).first_line() == SECRET.encode() + b"\n"


def test_a_password_is_shown_by_nothing() -> None:
    assert SECRET not in f"{Sudo(SECRET)} {Sudo(SECRET)!r} {[Sudo(SECRET)]}"
    assert "with a password" in repr(Sudo(SECRET))
