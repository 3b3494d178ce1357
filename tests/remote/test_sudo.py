"""Root through sudo: with and without a password, which is asked once and leaves no trace."""

from __future__ import annotations

import io
import logging
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.remote.call import Call
from rerig.remote.first_look import look
from rerig.remote.shell import SshShell
from rerig.remote.sudo import Sudo, ask_sudo
from ssh_bed import BedHost, SshBed, User

pytestmark = pytest.mark.root

Connect = Callable[..., Any]
SECRET = "correct horse 한글 " + "$HOME'"
WRONG = "wrong" + " horse"


class Answers:
    """Stands for the terminal; keeps the prompts."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answer


def no_terminal(prompt: str) -> str:
    raise AssertionError(f"asked for {prompt!r}")


def start(bed: SshBed, name: str = "box", sudo: str = "password", **settings: Any) -> BedHost:
    return bed.start(name, users=[User("jetson", sudo=sudo, password=SECRET)], **settings)


@pytest.fixture
def everything_logged() -> Iterator[io.StringIO]:
    """What any logger says, paramiko's talkative one above all."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(1)
    logging.getLogger("paramiko").setLevel(1)
    yield said
    logging.getLogger("paramiko").setLevel(logging.NOTSET)
    root.setLevel(level)
    root.removeHandler(handler)


def test_without_a_password_nothing_is_asked(bed: SshBed, connect: Connect) -> None:
    start(bed, sudo="nopasswd")
    connection = connect()
    (sudo,) = ask_sudo([connection], no_terminal)
    assert sudo == Sudo()
    assert SshShell(connection, sudo).run(["sh", "-c", "id -u; cat"], b"data").stdout == b"0\ndata"


def test_a_password_opens_and_no_byte_of_stdin_is_lost_to_it(bed: SshBed, connect: Connect) -> None:
    start(bed)
    connection = connect()
    (sudo,) = ask_sudo([connection], Answers(SECRET))
    shell = SshShell(connection, sudo)
    data = bytes(range(256)) * 4096
    for _ in range(2):  # sudo remembers the first time
        assert shell.run(["cat"], data).stdout == data
    assert shell.run(["id", "-u"]).stdout == b"0\n"
    assert look(shell, "python3").state_dir == "/root/.local/state/rerig"


def test_one_password_is_asked_for_all_machines_that_want_one(bed: SshBed, connect: Connect) -> None:
    start(bed, "one")
    start(bed, "free", sudo="nopasswd")
    start(bed, "two")
    answers = Answers(SECRET)
    connections = [connect("one"), connect("free"), connect("two")]
    assert ask_sudo(connections, answers) == [Sudo(SECRET), Sudo(), Sudo(SECRET)]
    assert answers.prompts == ["sudo password on one, two: "]


def test_a_wrong_password_is_told_in_sudos_words(bed: SshBed, connect: Connect) -> None:
    start(bed)
    with pytest.raises(UserError, match=r"^sudo on box refuses: 1 incorrect password attempt\.$"):
        ask_sudo([connect()], Answers(WRONG))


def test_a_user_who_may_not_become_root_is_told(bed: SshBed, connect: Connect) -> None:
    start(bed, sudo="no")
    with pytest.raises(UserError, match=r"^sudo on box refuses: jetson is not in the sudoers file\.$"):
        ask_sudo([connect()], Answers(SECRET))


def test_a_machine_without_sudo_is_told(bed: SshBed, connect: Connect) -> None:
    start(bed, without=["/usr/bin/sudo"])
    with pytest.raises(UserError, match=r"^There is no sudo on box; log in as root instead\.$"):
        ask_sudo([connect()], no_terminal)


def test_a_machine_without_python_is_told_by_the_first_look(bed: SshBed, connect: Connect) -> None:
    start(bed, sudo="nopasswd", without=["/usr/bin/python3"])
    connection = connect()
    (sudo,) = ask_sudo([connection], no_terminal)
    with pytest.raises(UserError, match=r"^There is no python3 on the machine: "):
        look(SshShell(connection, sudo), "python3")


@pytest.mark.parametrize(
    "line", ["jetson ALL=(ALL) NOPASSWD: /usr/bin/true", "jetson ALL=(ALL) NOPASSWD: /usr/bin/python3"]
)
def test_rules_for_single_programs_never_send_the_password_to_one(bed: SshBed, connect: Connect, line: str) -> None:
    start(bed, sudoers=line)
    answers = Answers(SECRET)
    connection = connect()
    (sudo,) = ask_sudo([connection], answers)
    assert bool(answers.prompts) == ("python3" not in line)
    assert SshShell(connection, sudo).run(["python3", "-I", "-c", "print(input())"], b"data\n").stdout == b"data\n"


@pytest.mark.parametrize("line", ["Defaults use_pty", "Defaults !use_pty", "Defaults timestamp_timeout=0"])
def test_other_settings_of_sudo_change_nothing(bed: SshBed, connect: Connect, line: str) -> None:
    start(bed, sudoers=line)
    connection = connect()
    (sudo,) = ask_sudo([connection], Answers(SECRET))
    done = SshShell(connection, sudo).run(["sh", "-c", "cat; echo oops >&2; exit 7"], b"a\nb\n")
    assert (done.status, done.stdout, done.stderr) == (7, b"a\nb\n", b"oops\n")


def test_a_sudo_that_wants_a_terminal_says_so(bed: SshBed, connect: Connect) -> None:
    start(bed, sudo="nopasswd", sudoers="Defaults requiretty")
    with pytest.raises(UserError, match=r"^sudo on box refuses: sorry, you must have a tty to run sudo\.$"):
        ask_sudo([connect()], Answers(SECRET))


def test_a_root_shell_speaks_english_and_finds_the_machines_tools(bed: SshBed, connect: Connect) -> None:
    start(bed, sudo="nopasswd", locale="de_DE.UTF-8")
    shell = SshShell(connect(), Sudo())
    assert b"No such file or directory" in shell.run(["ls", "/none"]).stderr
    assert shell.run(["fio", "--version"]).status == 0


def test_the_password_leaves_no_trace(
    bed: SshBed, connect: Connect, tmp_path: Path, everything_logged: io.StringIO
) -> None:
    host = start(bed)
    connection = connect()
    (sudo,) = ask_sudo([connection], Answers(SECRET))
    shell = SshShell(connection, sudo)
    seen: list[list[str]] = []

    def on_line(_line: bytes) -> None:
        seen.extend(host.processes())
        seen.append(
            host.run(["sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null; true"]).decode("utf-8", "replace").split("\0")
        )
        host.path("/srv/seen").touch()

    waiting = "echo here; until [ -e /srv/seen ]; do sleep 0.1; done"
    assert shell.stream(["sh", "-c", waiting], on_line, 60).stdout == b""
    assert any(waiting in words for words in seen)
    assert any("-S" in words for words in seen), "sudo itself was seen"
    shell.run(["sh", "-c", "cat; exit 3"], b"more")
    with pytest.raises(UserError) as wrong:
        ask_sudo([connection], Answers(WRONG))
    assert [words for words in seen if SECRET in " ".join(words)] == []
    assert SECRET not in repr(sudo) + str(sudo) + str(vars(Host("x", "x")))
    assert WRONG not in str(wrong.value)
    logged = everything_logged.getvalue()
    assert "paramiko" in logged or "Authentication" in logged
    assert SECRET not in logged
    assert WRONG not in logged
    found = [file for file in tmp_path.rglob("*") if file.is_file() and holds(file, SECRET.encode(), WRONG.encode())]
    assert found == [host.folder / "machine.json"], "where the test itself keeps it"


def holds(file: Path, *secrets: bytes) -> bool:
    data = file.read_bytes()
    escaped = [secret.decode().encode("ascii", "backslashreplace") for secret in secrets]
    return any(secret in data for secret in [*secrets, *escaped])


_ASKING = """
import sys
from rerig.hosts import parse_destination
from rerig.remote.connection import open_connection
from rerig.remote.sudo import ask_sudo
from rerig.remote.shell import SshShell
from rerig.errors import UserError
connections = [open_connection(parse_destination(word)) for word in sys.argv[1:]]
try:
    shells = [SshShell(connection, sudo) for connection, sudo in zip(connections, ask_sudo(connections))]
except UserError as error:
    print(error)
else:
    print(*(shell.run(["id", "-u"]).stdout.decode().strip() for shell in shells))
for connection in connections:
    connection.close()
"""


def asking(*words: str) -> list[str]:
    return [sys.executable, "-c", _ASKING, *words]


def child_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forkpty beside threads of paramiko: the child execs at once
def test_the_terminal_is_asked_once_and_shows_nothing_of_the_answer(bed: SshBed) -> None:
    start(bed, "one")
    start(bed, "two")
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, asking("one", "two"), child_environment())  # noqa: S606 - an argv list
    shown = b""
    answered = False
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # EIO: the child is gone
            break
        if not data:
            break
        shown += data
        if not answered and shown.endswith(b"sudo password on one, two: "):
            os.write(terminal, SECRET.encode() + b"\n")
            answered = True
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert re.sub(r"\s+", " ", shown.decode()).strip() == "sudo password on one, two: 0 0"


def test_without_a_terminal_the_cure_is_told(bed: SshBed) -> None:
    start(bed, "one")
    done = subprocess.run(
        asking("one"),
        env=child_environment(),
        input=SECRET + "\n",
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=120,
    )
    assert done.stdout == (
        "There is no terminal to ask for the sudo password on one on; let sudo work without one (NOPASSWD).\n"
    )
    assert done.stderr == ""


def test_an_agent_as_root_is_called_with_the_password_ahead_of_its_plan(bed: SshBed, connect: Connect) -> None:
    host = start(bed)
    program = host.path("/srv/agent.py")
    program.write_text("import os, sys\nprint(sys.argv[2])\nprint(os.geteuid(), sys.stdin.read())\n")
    connection = connect()
    (sudo,) = ask_sudo([connection], Answers(SECRET))
    answer = Call("python3", "/srv/agent.py").run(SshShell(connection, sudo), ["start"], b"plan")
    assert answer.stdout == b"0 plan\n"
