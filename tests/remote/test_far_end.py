"""Calls of an agent over a connection that is opened anew: sshd dies, the machine reboots, keys change."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.hosts import parse_destination
from rerig.meeting import Door
from rerig.remote.far_end import FarEnd, GivenUp
from rerig.remote.lost import ConnectionLost
from rerig.remote.steady import SteadyShell
from rerig.zipapp import Agent
from ssh_bed import BedHost, SshBed
from waiting import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow]

AGENT = """\
import os, sys, time
print(sys.argv[2], flush=True)
if sys.argv[3] == "fail":
    sys.exit("rerig-agent: there is no such run.")
print(*sys.argv[3:], flush=True)
if sys.argv[3] == "wait":
    while not os.path.exists("/srv/gate/go"):
        time.sleep(0.05)
    print("went", flush=True)
"""


class Time:
    """A clock that only waiting moves; ``meanwhile`` is done in each wait."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits = 0
        self.meanwhile: Callable[[], object] = lambda: None

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.waits += 1
        self.meanwhile()

    def clock(self) -> float:
        return self.now


@pytest.fixture
def host(bed: SshBed) -> BedHost:
    return bed.start()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def end(host: BedHost, time: Time, tmp_path: Path) -> Iterator[FarEnd]:
    """The far end on the machine, which has not been spoken to yet."""
    path = tmp_path / "agent.pyz"
    path.write_text(AGENT)
    built = Agent(path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest(), version="0")
    door = Door(parse_destination("box"))
    yield FarEnd(door.host, SteadyShell(door, time.wait, time.clock), built)
    door.close()


def words(end: FarEnd, *said: str) -> bytes:
    return end.ask(list(said)).stdout.strip()


@pytest.mark.parametrize("harm", ["kill_sessions", "reboot", "sshd"])
def test_a_call_after_a_broken_connection_is_answered(end: FarEnd, host: BedHost, time: Time, harm: str) -> None:
    assert words(end, "one") == b"one"
    if harm == "sshd":
        host.kill_sshd()
        time.meanwhile = lambda: host.restart_sshd() if time.waits == 3 else None
    else:
        getattr(host, harm)()
    assert words(end, "two") == b"two"
    assert time.waits == (3 if harm == "sshd" else 1)


@pytest.mark.parametrize("harm", ["connection", "command"])
def test_a_call_that_is_cut_is_begun_anew(end: FarEnd, host: BedHost, harm: str) -> None:
    """A machine that goes down ends the command first, and then the connection."""
    said: list[bytes] = []

    def cut_once(line: bytes) -> None:
        said.append(line)
        if len(said) > 1:
            host.path("/srv/gate/go").touch()
        elif harm == "connection":
            host.kill_sessions()
        else:
            host.signal(signal.SIGKILL, "agents/", ["python3"])

    assert end.do(lambda call, shell: call.stream(shell, ["wait"], cut_once)).status == 0
    assert said == [b"wait", b"wait", b"went"]


def test_an_agent_that_a_reboot_took_away_is_brought_again(end: FarEnd, host: BedHost) -> None:
    assert words(end, "one") == b"one"
    agents = host.path(end.look().state_dir) / "agents"
    for file in agents.iterdir():
        file.unlink()
    assert words(end, "two") == b"two"
    for file in agents.iterdir():
        file.unlink()
    copy = BytesIO()
    assert end.do(lambda call, shell: call.save(shell, ["pack"], copy)).status == 0
    assert copy.getvalue() == b"pack\n"


def test_an_agent_that_complains_is_not_brought_again(end: FarEnd, host: BedHost) -> None:
    with pytest.raises(UserError, match=r"^There is no such run\.$"):
        end.ask(["fail"])
    answer = end.do(lambda call, shell: call.save(shell, ["fail"], BytesIO()))
    assert (answer.status, answer.last_line()) == (1, "There is no such run.")


def test_a_machine_that_shows_another_key_after_the_break_is_refused_at_once(
    end: FarEnd, host: BedHost, time: Time
) -> None:
    assert words(end, "one") == b"one"
    host.swap_host_key()
    with pytest.raises(UserError, match="has changed") as caught:
        end.ask(["two"])
    assert not isinstance(caught.value, GivenUp)
    assert time.waits == 1


def test_a_machine_that_lets_nobody_in_while_it_boots_is_waited_for(end: FarEnd, host: BedHost, time: Time) -> None:
    assert words(end, "one") == b"one"
    keys = host.folder / "ssh" / "keys" / "jetson"
    keys.rename(keys.with_name("later"))
    host.kill_sessions()
    time.meanwhile = lambda: keys.with_name("later").rename(keys) if time.waits == 3 else None
    assert words(end, "two") == b"two"
    assert time.waits == 3


def test_a_machine_that_stays_away_is_given_up_with_the_reason(end: FarEnd, host: BedHost, time: Time) -> None:
    assert words(end, "one") == b"one"
    host.kill_sshd()
    with pytest.raises(GivenUp) as caught:
        end.ask(["two"])
    assert caught.value.why.startswith(f"Nothing answers at 127.0.0.1 port {host.port}: ")
    assert str(caught.value).startswith("The connection to box was lost: Nothing answers at ")
    assert time.now >= 120


def test_nothing_but_the_last_connection_stays_open(end: FarEnd, host: BedHost) -> None:
    for number in range(3):
        assert words(end, str(number)) == str(number).encode()
        host.kill_sessions()
    assert words(end, "last") == b"last"
    wait_for(lambda: len(host.processes("sshd: jetson")) <= 2)  # the privileged half and the user's


def test_a_lost_call_of_a_direct_kind_tells_itself(end: FarEnd, host: BedHost) -> None:
    def lose(_shell: Any) -> None:
        raise ConnectionLost("The cable was pulled.")

    with pytest.raises(GivenUp, match=r"^The connection to box was lost: The cable was pulled\.$"):
        end.steadily(lose)
