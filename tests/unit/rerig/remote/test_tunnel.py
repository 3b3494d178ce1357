"""Ways to a machine: their ends end with them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.remote import tunnel
from rerig.remote.tunnel import Tunnel, by_command


class Inner:
    """A socket that counts how often it is closed, and may fail at it."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.closed = 0

    def close(self) -> None:
        self.closed += 1
        if self.error:
            raise self.error

    def fileno(self) -> int:
        return 7


@pytest.mark.parametrize("error", [None, OSError(9, "Bad file descriptor"), EOFError()])
def test_a_way_is_closed_once_with_what_carries_it_also_when_it_is_broken(error: BaseException | None) -> None:
    inner, ended = Inner(error), []
    way = Tunnel(inner, lambda: ended.append(True))
    assert way.fileno() == 7
    way.close()
    way.close()
    assert (inner.closed, ended) == (1, [True])


def test_a_command_carries_bytes_and_ends_with_its_way() -> None:
    way = by_command("exec cat", "orin", 22, "jetson")
    way.settimeout(60)
    way.sendall(b"ping")
    assert way.recv(4) == b"ping"
    way.close()


def test_a_command_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnel, "END_LIMIT_S", 0.1)
    way = by_command("sh -c 'trap : TERM; echo; while :; do sleep 0.1; done'", "orin", 22, "jetson")
    way.settimeout(60)
    assert way.recv(1) == b"\n"
    way.close()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo %h %p %r", "orin 22 jetson"),
        ("echo 100%% %%h %x %", "100% %h %x %"),
        ("echo 'a  b' $HOME ; *", "a  b $HOME ; *"),
    ],
)
def test_words_are_replaced_and_no_shell_reads_them(command: str, said: str) -> None:
    way = by_command(command, "orin", 22, "jetson")
    way.settimeout(60)
    found = b""
    while not found.endswith(b"\n"):
        found += way.recv(1000)
    way.close()
    assert found.decode().strip() == said


def test_a_command_that_can_not_be_started_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"can't be started: .*/none: No such file or directory\.$"):
        by_command(f"{tmp_path}/none %h", "orin", 22, "jetson")
    for empty in ("", "exec", "exec "):
        with pytest.raises(UserError, match=r"^The ProxyCommand can't be read: "):
            by_command(empty, "orin", 22, "jetson")


def test_an_address_is_one_word_whatever_it_holds() -> None:
    way = by_command("printf %%s.%%s. %h %r", "a b;c", 22, "$(id)")
    way.settimeout(60)
    found = b""
    while found.count(b".") < 2:
        found += way.recv(1000)
    way.close()
    assert found == b"a b;c.$(id)."


def test_nothing_runs_on_behind_a_closed_way() -> None:
    way = by_command("sleep 1000.125", "orin", 22, "jetson")
    way.close()
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 1000.125" not in listed
