"""Commands over a real sshd: what goes in and comes out, and what a lost connection looks like at each moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote.lost import ConnectionLost
from rerig.remote.shell import SshShell
from ssh_bed import BedHost, SshBed, User
from ssh_bed.tools import LOCALE
from waiting import wait_for

pytestmark = pytest.mark.root

Connect = Callable[..., Any]
MIB = 2**20


@pytest.fixture
def host(bed: SshBed) -> BedHost:
    return bed.start()


@pytest.fixture
def shell(host: BedHost, connect: Connect) -> SshShell:
    return SshShell(connect())


def test_status_output_and_complaints_come_apart(shell: SshShell) -> None:
    done = shell.run(["sh", "-c", "echo out; echo oops >&2; exit 3"])
    assert (done.status, done.stdout, done.stderr) == (3, b"out\n", b"oops\n")


def test_words_arrive_as_they_are(shell: SshShell) -> None:
    words = [
        "a b",
        "$HOME",
        "'",
        '"',
        "*",
        "",
        "`id`",
        "한글",
        "line\nbreak",
        os.fsdecode(b"odd\xff"),
        "!x",
        "\\",
        "-n",
    ]
    done = shell.run(["printf", "%s\\0", *words])
    assert done.stdout.split(b"\0")[:-1] == [os.fsencode(word) for word in words]


def test_every_byte_of_a_large_stdin_arrives_and_comes_back(shell: SshShell) -> None:
    data = bytes(range(256)) * 4096 * 5
    assert shell.run(["cat"], data).stdout == data


def test_a_command_that_reads_nothing_of_a_large_stdin_ends_all_the_same(shell: SshShell) -> None:
    assert shell.run(["true"], bytes(20 * MIB)).status == 0


def test_much_output_on_both_ways_at_once_blocks_nothing(shell: SshShell) -> None:
    done = shell.run(["sh", "-c", "head -c 8M /dev/zero >&2 & head -c 8M /dev/zero; wait; echo end >&2"])
    assert len(done.stdout) == 8 * MIB
    assert done.stderr.endswith(b"\0end\n")
    assert len(done.stderr) == 65536


def test_an_end_by_a_signal_has_the_status_128(shell: SshShell) -> None:
    assert shell.run(["sh", "-c", "kill -KILL $$"]).status == 128


def test_commands_speak_english_on_a_german_machine(bed: SshBed, connect: Connect) -> None:
    bed.start("german", locale=LOCALE)
    assert b"No such file or directory" in SshShell(connect("german")).run(["ls", "/none"]).stderr


def test_lines_are_handed_on_as_they_come(shell: SshShell, host: BedHost) -> None:
    lines: list[bytes] = []
    gate = host.path("/srv/gate/go")

    def on_line(line: bytes) -> None:
        lines.append(line)
        gate.touch()

    script = "echo one; until [ -e /srv/gate/go ]; do sleep 0.05; done; printf 'two\\n\\nlast'"
    assert shell.stream(["sh", "-c", script], on_line, 60).status == 0
    assert lines == [b"one", b"two", b"", b"last"]


def test_what_a_login_shell_prints_first_is_no_part_of_a_file(bed: SshBed, connect: Connect) -> None:
    host = bed.start("noisy")
    host.path("/home/jetson/.bashrc").write_text("echo Welcome; echo to all >&2\n")
    file = BytesIO()
    done = SshShell(connect("noisy")).save(["sh", "-c", "echo mark; head -c 3M /dev/zero"], file, b"mark", 60)
    assert done.status == 0
    assert file.getvalue() == bytes(3 * MIB)
    assert SshShell(connect("noisy")).run(["true"]).stdout == b"Welcome\n"


def test_a_command_that_never_says_the_mark_writes_nothing(shell: SshShell) -> None:
    file = BytesIO()
    assert shell.save(["sh", "-c", "echo nothing; exit 5"], file, b"mark", 60).status == 5
    assert file.getvalue() == b""


@pytest.mark.parametrize("end", ["kill_sessions", "kill_sshd", "reboot"])
def test_a_broken_connection_is_no_end(shell: SshShell, host: BedHost, end: str) -> None:
    lines: list[bytes] = []

    def on_line(line: bytes) -> None:
        lines.append(line)
        if len(lines) == 1:
            getattr(host, end)()

    with pytest.raises(ConnectionLost):
        shell.stream(["sh", "-c", "printf 'whole\\ntorn'; sleep 600; echo late"], on_line, 600)
    assert lines == [b"whole"]
    with pytest.raises(ConnectionLost):
        shell.run(["true"])


def test_a_file_that_was_cut_by_a_broken_connection_is_no_whole_one(shell: SshShell, host: BedHost) -> None:
    """sshd tells the exit status before the last bytes, which wait until those before them were read."""

    class Breaking(BytesIO):
        broken = False

        def write(self, data: Any) -> int:
            if data and not self.broken:
                self.broken = True
                wait_for(lambda: not host.processes("head -c"))
                host.kill_sessions()
            return super().write(data)

    file, more_than_a_window = Breaking(), 2 * MIB + 32768
    with pytest.raises(ConnectionLost, match=r"^The connection broke\.$"):
        shell.save(["sh", "-c", f"echo mark; head -c {more_than_a_window} /dev/zero"], file, b"mark", 60)
    assert 0 < len(file.getvalue()) < more_than_a_window


def test_a_command_that_says_nothing_for_too_long_is_given_up(shell: SshShell) -> None:
    with pytest.raises(ConnectionLost, match=r"^Nothing was heard for 0\.5 seconds\.$"):
        shell.stream(["sh", "-c", "echo one; sleep 600"], lambda line: None, 0.5)
    assert shell.run(["echo", "here"]).stdout == b"here\n"


def test_a_frozen_machine_is_given_up(shell: SshShell, host: BedHost) -> None:
    with pytest.raises(ConnectionLost, match="Nothing was heard"):
        shell.stream(["sh", "-c", "while :; do echo x; sleep 0.1; done"], lambda line: host.freeze(), 1)


def test_a_command_that_takes_too_long_is_given_up(shell: SshShell) -> None:
    with pytest.raises(ConnectionLost, match=r"^The machine did not finish within 0\.5 seconds\.$"):
        shell.run(["sh", "-c", "while :; do echo x; sleep 0.1; done"], limit_s=0.5)


def test_a_command_goes_on_when_its_output_was_given_up(shell: SshShell, host: BedHost) -> None:
    script = "trap '' PIPE HUP; (sleep 1; touch /srv/gate/done) & sleep 600"
    with pytest.raises(ConnectionLost):
        shell.run(["sh", "-c", script], limit_s=0.2)
    wait_for(host.path("/srv/gate/done").exists)


def test_a_machine_that_allows_no_session_says_so(bed: SshBed, connect: Connect) -> None:
    bed.start("closed", sshd_config="MaxSessions 0")
    with pytest.raises(UserError, match=r"^The machine starts no further command over this connection: .*\.$"):
        SshShell(connect("closed")).run(["true"])


def test_a_user_without_a_login_shell_gets_its_answer(bed: SshBed, connect: Connect) -> None:
    bed.start("closed", users=[User("jetson", login_shell="/usr/sbin/nologin")])
    done = SshShell(connect("closed")).run(["true"])
    assert done.status == 1
    assert b"not available" in done.stdout


def test_nothing_of_a_connection_stays_when_it_is_closed(host: BedHost, bed: SshBed, connect: Connect) -> None:
    before = set(threading.enumerate())
    connection = connect()
    SshShell(connection).run(["true"])
    connection.close()
    wait_for(lambda: set(threading.enumerate()) <= before)
    wait_for(lambda: len(host.processes("sshd")) == 1)
