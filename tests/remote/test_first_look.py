"""The first look at machines of every kind: their Python, and where rerig may keep things."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote.call import Call
from rerig.remote.first_look import Look, look, put_agent
from rerig.remote.shell import SshShell
from rerig.zipapp import Agent
from ssh_bed import BedHost, SshBed, User
from ssh_bed.tools import LOCALE

pytestmark = pytest.mark.root

Connect = Callable[..., Any]
MIB = 2**20
FAKE_36 = """\
#!/bin/sh
exec /usr/bin/python3 -I -S -c '
import sys
sys.version_info = (3, 6, 9, "final", 0)
exec(sys.stdin.read())
'
"""


def look_at(connect: Connect, word: str = "box", python: str = "python3") -> Look:
    return look(SshShell(connect(word)), python)


def refusal(connect: Connect, python: str = "python3") -> str:
    with pytest.raises(UserError) as caught:
        look_at(connect, python=python)
    return str(caught.value)


def state_dir(found: Look, host: BedHost) -> Path:
    return host.path(found.state_dir)


@pytest.fixture
def built(tmp_path: Path) -> Agent:
    """A stand-in for the agent: it says the mark, then its words."""
    path = tmp_path / "agent.pyz"
    path.write_text("import sys\nprint(sys.argv[2], flush=True)\nprint(*sys.argv[3:])\n")
    return Agent(path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest(), version="0")


def test_a_private_directory_below_the_home_is_made(bed: SshBed, connect: Connect) -> None:
    host = bed.start()
    found = look_at(connect)
    assert found.state_dir == "/home/jetson/.local/state/rerig"
    assert found.runs_dirs == ["/home/jetson/.local/state/rerig/runs"]
    assert found.python_version.startswith("3.")
    for directory in (state_dir(found, host), state_dir(found, host) / "runs"):
        assert directory.stat().st_mode & 0o777 == 0o700
        assert list(directory.glob(".*")) == []
    assert look_at(connect) == found


def test_a_directory_that_others_may_read_is_closed(bed: SshBed, connect: Connect) -> None:
    host = bed.start()
    found = look_at(connect)
    state_dir(found, host).chmod(0o755)
    look_at(connect)
    assert state_dir(found, host).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("home", ["/home/a b/c'd", "/home/한글", "/home/$HOME"])
def test_a_home_of_any_name_will_do(bed: SshBed, connect: Connect, home: str, built: Agent) -> None:
    bed.start(users=[User("jetson", home=home)])
    found = look_at(connect)
    assert found.state_dir == f"{home}/.local/state/rerig"
    shell = SshShell(connect())
    assert Call("python3", put_agent(shell, found, built)).run(shell, ["x"]).stdout == b"x\n"


def test_with_a_read_only_home_another_place_is_taken(bed: SshBed, connect: Connect, built: Agent) -> None:
    bed.start(readonly_home=True, noexec_tmp=True)
    found = look_at(connect)
    assert found.state_dir == "/var/tmp/rerig-2001"  # noqa: S108 - on the machine
    shell = SshShell(connect())
    assert Call("python3", put_agent(shell, found, built)).run(shell, ["x"]).stdout == b"x\n"


def test_with_a_full_home_another_place_is_taken(bed: SshBed, connect: Connect) -> None:
    bed.start(disks={"/home/jetson": 8 * MIB})
    assert look_at(connect).state_dir == "/var/tmp/rerig-2001"  # noqa: S108 - on the machine


def test_runs_are_found_in_a_place_that_became_full(bed: SshBed, connect: Connect) -> None:
    host = bed.start(disks={"/home/jetson": 64 * MIB})
    assert look_at(connect).state_dir == "/home/jetson/.local/state/rerig"
    host.run(["sh", "-c", "head -c 100M /dev/zero > /home/jetson/more || true"])
    found = look_at(connect)
    assert found.state_dir == "/var/tmp/rerig-2001"  # noqa: S108 - on the machine
    assert found.runs_dirs == ["/home/jetson/.local/state/rerig/runs", "/var/tmp/rerig-2001/runs"]  # noqa: S108 - as above


def test_without_any_place_each_one_is_told_with_its_reason(bed: SshBed, connect: Connect) -> None:
    disks = {"/home/jetson": 8 * MIB, "/var/tmp": 8 * MIB}  # noqa: S108 - on the machine
    host = bed.start(disks=disks)
    host.path("/tmp/rerig-2001").symlink_to("/srv")  # noqa: S108 - on the machine
    said = refusal(connect)
    assert said.startswith("There is no place for rerig on the machine (/home/jetson/.local/state/rerig: only "), said
    assert said.count(" MiB are free there; ") == 2
    assert said.endswith("; /tmp/rerig-2001: it is a symbolic link)."), said
    assert list(host.path("/srv").iterdir()) == [host.path("/srv/gate")]


def test_a_disk_without_a_free_byte_is_one_sentence(bed: SshBed, connect: Connect) -> None:
    places = ["/home/jetson", "/var/tmp", "/tmp"]  # noqa: S108 - on the machine
    host = bed.start(disks=dict.fromkeys(places, 8 * MIB))
    for place in places:
        host.run(["sh", "-c", f"head -c 16M /dev/zero > {place}/more || true"])
    assert refusal(connect).count("No space left on device") == 3


def test_somebody_elses_directory_is_not_used(bed: SshBed, connect: Connect) -> None:
    host = bed.start(readonly_home=True)
    host.path("/var/tmp/rerig-2001").mkdir(mode=0o777)  # noqa: S108 - on the machine
    assert look_at(connect).state_dir == "/tmp/rerig-2001"  # noqa: S108 - on the machine


def test_a_user_without_a_home_gets_a_place(bed: SshBed, connect: Connect) -> None:
    host = bed.start()
    host.path("/home/jetson").rmdir()
    assert look_at(connect).state_dir == "/var/tmp/rerig-2001"  # noqa: S108 - on the machine


def test_a_noisy_login_shell_changes_nothing(bed: SshBed, connect: Connect, built: Agent) -> None:
    host = bed.start()
    host.path("/home/jetson/.bashrc").write_text("echo Welcome; printf 'no newline'; echo oops >&2\n")
    found = look_at(connect)
    assert found.state_dir == "/home/jetson/.local/state/rerig"
    shell = SshShell(connect())
    call = Call("python3", put_agent(shell, found, built))
    assert call.run(shell, ["status", "a b"]).stdout == b"status a b\n"
    lines: list[bytes] = []
    assert call.stream(shell, ["follow"], lines.append).status == 0
    assert lines == [b"follow"]


def test_a_machine_without_python_is_told(bed: SshBed, connect: Connect) -> None:
    bed.start(without=["/usr/bin/python3"])
    assert refusal(connect) == (
        "There is no python3 on the machine: install Python 3.8 or newer there, or name it "
        "(ansible_python_interpreter in an inventory)."
    )


def test_another_python_can_be_named(bed: SshBed, connect: Connect) -> None:
    bed.start(programs={"python3.12": '#!/bin/sh\nexec /usr/bin/python3 "$@"\n'}, without=["/usr/local/bin/python3"])
    assert look_at(connect, python="/usr/local/bin/python3.12").python == "/usr/local/bin/python3.12"
    assert refusal(connect, "/opt/none").startswith("There is no /opt/none on the machine: ")


def test_a_python_that_is_too_old_is_told_with_its_version(bed: SshBed, connect: Connect) -> None:
    bed.start(programs={"python3": FAKE_36})
    assert refusal(connect) == (
        "Python 3.8 or newer is needed on the machine, and python3 there is 3.6: install a newer one beside it and "
        "name it (ansible_python_interpreter in an inventory)."
    )


def test_a_python_that_can_not_be_started_is_told(bed: SshBed, connect: Connect) -> None:
    bed.start()
    assert refusal(connect, "/etc/passwd").startswith("/etc/passwd can't be started on the machine: ")


def test_a_python_that_is_none_is_told_with_its_words(bed: SshBed, connect: Connect) -> None:
    bed.start(programs={"python3": "#!/bin/sh\necho 'licence expired' >&2\nexit 9\n"})
    assert refusal(connect) == "python3 on the machine gave no answer (status 9): licence expired."


def test_a_user_who_may_not_run_commands_gets_the_machines_words(bed: SshBed, connect: Connect) -> None:
    bed.start(users=[User("jetson", login_shell="/usr/sbin/nologin")])
    assert refusal(connect) == (
        "python3 on the machine gave no answer (status 1): This account is currently not available."
    )


def test_the_agent_is_sent_once(bed: SshBed, connect: Connect, built: Agent) -> None:
    host = bed.start()
    shell, found = SshShell(connect()), look_at(connect)
    path = put_agent(shell, found, built)
    assert host.path(path).read_bytes() == Path(built["path"]).read_bytes()
    assert host.path(path).stat().st_mode & 0o777 == 0o600
    before = host.path(path).stat().st_ino
    assert put_agent(shell, found, built) == path
    assert host.path(path).stat().st_ino == before
    assert len(list(host.path(path).parent.iterdir())) == 1


@pytest.mark.parametrize("spoil", ["damaged", "writable", "link", "gone"])
def test_an_agent_that_can_not_be_trusted_is_replaced(bed: SshBed, connect: Connect, built: Agent, spoil: str) -> None:
    host = bed.start()
    shell, found = SshShell(connect()), look_at(connect)
    path = host.path(put_agent(shell, found, built))
    if spoil == "damaged":
        path.write_bytes(b"")
    elif spoil == "writable":
        path.chmod(0o666)
    else:
        path.unlink()
        if spoil == "link":
            path.symlink_to("/etc/passwd")
    put_agent(shell, found, built)
    assert not path.is_symlink()
    assert path.read_bytes() == Path(built["path"]).read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_agent_that_finds_no_room_is_told(bed: SshBed, connect: Connect, built: Agent) -> None:
    host = bed.start(disks={"/home/jetson": 64 * MIB})
    found = look_at(connect)
    assert found.state_dir == "/home/jetson/.local/state/rerig"
    Path(built["path"]).write_bytes(bytes(2 * MIB))
    large = Agent(path=built["path"], sha256=hashlib.sha256(bytes(2 * MIB)).hexdigest(), version="0")
    host.run(["sh", "-c", "head -c 100M /dev/zero > /home/jetson/more || true"])
    with pytest.raises(UserError, match=r"^The agent can't be written to /home/.*: No space left on device\.$"):
        put_agent(SshShell(connect()), found, large)
    assert host.run(["sh", "-c", "ls /home/jetson/.local/state/rerig/agents || true"]) == b""


def test_a_wrong_clock_and_a_foreign_language_change_nothing(bed: SshBed, connect: Connect, built: Agent) -> None:
    bed.start("plain")
    bed.start("odd", faketime="+1h", locale=LOCALE)
    assert dataclasses.asdict(look_at(connect, "odd")) == dataclasses.asdict(look_at(connect, "plain"))
    shell = SshShell(connect("odd"))
    assert Call("python3", put_agent(shell, look_at(connect, "odd"), built)).run(shell, ["x"]).stdout == b"x\n"
