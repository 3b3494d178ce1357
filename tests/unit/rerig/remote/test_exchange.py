"""One command over a channel that is a double: every way in which it may end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote import exchange
from rerig.remote.exchange import Exchange
from rerig.remote.lost import ConnectionLost


class Clock:
    """What the module sees of the time; ``now`` moves when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Channel:
    """Gives what ``script`` holds: bytes, a number of seconds of silence (TimeoutError), or None for the end."""

    def __init__(self, clock: Clock, script: list[Any], complaints: list[Any] | None = None) -> None:
        self.clock = clock
        self.script = list(script)
        self.complaints = list(complaints or [])
        self.eof_received = False
        self.status_event = threading.Event()
        self.status = 0
        self.sent = b""
        self.shut = threading.Event()
        self.closed = False
        self.command = b""
        self.takes = 10**6
        self.complained = threading.Event()

    def settimeout(self, seconds: float) -> None:
        pass

    def exec_command(self, command: bytes) -> None:
        self.command = command

    def recv(self, _size: int) -> bytes:
        step = self.script.pop(0)
        if callable(step):
            step = step()
        if isinstance(step, int | float):
            self.clock.now += step
            raise TimeoutError
        if step is None:
            self.eof_received = True
            self.status_event.set()
            return b""
        return bytes(step)

    def recv_stderr(self, _size: int) -> bytes:
        if not self.complaints:
            self.complained.set()
            return b""
        return bytes(self.complaints.pop(0))

    def send(self, data: Any) -> int:
        if self.takes == 0:
            raise OSError("Socket is closed")
        taken = bytes(data)[: self.takes]
        self.sent += taken
        return len(taken)

    def shutdown_write(self) -> None:
        self.shut.set()

    def recv_exit_status(self) -> int:
        return self.status

    def close(self) -> None:
        self.closed = True


class Transport:
    def __init__(self, channel: Any) -> None:
        self.channel = channel
        self.alive = True

    def open_session(self, timeout: float) -> Any:
        if isinstance(self.channel, Exception):
            raise self.channel
        return self.channel

    def is_active(self) -> bool:
        return self.alive

    def join(self, _seconds: float) -> None:
        pass


class Connection:
    def __init__(self, transport: Any) -> None:
        self.transport = transport


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(exchange, "time", clock)
    return clock


def run(
    channel: Channel, stdin: bytes = b"", transport: Transport | None = None, **limits: float
) -> tuple[int, bytes, bytes]:
    """Status, stdout and stderr."""
    out = bytearray()
    status, stderr = Exchange(Connection(transport or Transport(channel)), b"command", stdin).run(out.extend, **limits)
    return status, bytes(out), stderr


def lost(channel: Channel, transport: Transport | None = None, **limits: float) -> str:
    with pytest.raises(ConnectionLost) as caught:
        run(channel, transport=transport, **limits)
    assert channel.closed
    return str(caught.value)


def test_a_command_ends_with_its_status_and_both_outputs(clock: Clock) -> None:
    channel = Channel(clock, [b"one", b"two", None], [b"oops", b"!"])
    channel.status = 3
    assert run(channel, b"data") == (3, b"onetwo", b"oops!")
    assert (channel.command, channel.sent, channel.closed) == (b"command", b"data", True)
    assert channel.shut.is_set()


def test_a_stdin_that_is_taken_in_pieces_arrives_whole(clock: Clock) -> None:
    channel = Channel(clock, [])
    channel.takes = 7
    channel.script = [lambda: b"x" if channel.shut.wait(60) else b"", None]
    assert run(channel, bytes(range(256)) * 3)[1] == b"x"
    assert channel.sent == bytes(range(256)) * 3


def test_a_command_that_reads_no_more_still_ends_with_its_status(clock: Clock) -> None:
    channel = Channel(clock, [None])
    channel.takes = 0
    assert run(channel, b"data")[0] == 0


def test_silence_is_measured_from_the_last_byte(clock: Clock) -> None:
    assert run(Channel(clock, [9, b"x", 9, b"x", 9, None]), silence_s=10)[1] == b"xx"
    assert lost(Channel(clock, [9, b"x", 9, 2, None]), silence_s=10) == "Nothing was heard for 10 seconds."


def test_what_is_said_on_stderr_breaks_the_silence(clock: Clock) -> None:
    class Complaining(Channel):
        said_at_9, noted = threading.Event(), threading.Event()

        def recv_stderr(self, _size: int) -> bytes:
            if self.said_at_9.is_set():
                self.noted.set()  # whoever asks again has noted the first answer
                return b""
            while self.clock.now < 9:
                self.said_at_9.wait(0.01)
            self.said_at_9.set()
            return b"still here"

    channel = Complaining(clock, [])

    def wait_for_the_complaint() -> float:
        clock.now = 9
        assert channel.noted.wait(60)
        return 0.5

    channel.script = [wait_for_the_complaint, 9, None]
    assert run(channel, silence_s=10)[0] == 0


def test_a_command_has_its_limit_also_when_it_talks(clock: Clock) -> None:
    def talk() -> bytes:
        clock.now += 4
        return b"x"

    assert lost(Channel(clock, [talk, talk, talk, talk]), limit_s=10) == (
        "The machine did not finish within 10 seconds."
    )


def dying(channel: Channel, transport: Transport) -> Callable[[], bytes]:
    """The transport dies: the channel gives its end without having got one."""

    def die() -> bytes:
        transport.alive = False
        channel.status_event.set()
        return b""

    return die


@pytest.mark.parametrize("status", [-1, 0])
def test_a_connection_that_dies_is_no_end_even_after_the_status(clock: Clock, status: int) -> None:
    channel = Channel(clock, [])
    transport = Transport(channel)
    channel.status = status
    channel.script = [b"half", dying(channel, transport)]
    assert lost(channel, transport) == "The connection broke."


@pytest.mark.parametrize("error", [EOFError(), OSError("x")])
def test_a_connection_that_breaks_while_it_is_told_what_was_read_is_lost(clock: Clock, error: Exception) -> None:
    """Reading and closing send words to sshd; paramiko's transport may still call itself alive then."""

    def fail(*_: Any) -> bytes:
        raise error

    class Breaking(Channel):
        def close(self) -> None:
            super().close()
            fail()

        recv_stderr = fail

    channel = Breaking(clock, [b"half", fail])
    assert lost(channel) == "The connection broke."


def test_an_end_without_a_status_is_one_by_a_signal(clock: Clock) -> None:
    channel = Channel(clock, [None])
    channel.status = -1
    assert run(channel)[0] == 128


def test_a_machine_that_never_tells_the_status_is_given_up(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "OPEN_LIMIT_S", 0)
    channel = Channel(clock, [])

    def end() -> bytes:
        channel.eof_received = True
        return b""

    channel.script = [end]
    assert lost(channel) == "The machine did not say how the command ended."


def test_the_end_of_a_long_complaint_is_kept(clock: Clock) -> None:
    channel = Channel(clock, [], [b"a" * 65536, b"b" * 1000])
    channel.script = [lambda: b"x" if channel.complained.wait(60) else b"", None]
    assert run(channel)[2] == b"a" * (65536 - 1000) + b"b" * 1000


def test_a_connection_that_is_gone_before_the_command_is_lost(clock: Clock) -> None:
    for error in (EOFError(), OSError("x"), AttributeError("no transport")):
        transport = Transport(error)
        transport.alive = False
        with pytest.raises(ConnectionLost, match=r"^The connection is gone\.$"):
            run(Channel(clock, []), transport=transport)
    with pytest.raises(ConnectionLost):
        Exchange(Connection(None), b"x", b"").run(lambda data: None)


def test_a_connection_that_dies_under_the_command_is_lost_while_it_still_calls_itself_alive(clock: Clock) -> None:
    from paramiko.ssh_exception import SSHException

    with pytest.raises(ConnectionLost, match=r"^The connection is gone\.$"):
        run(Channel(clock, []), transport=Transport(EOFError()))

    class Dying(Transport):
        def join(self, _seconds: float) -> None:
            self.alive = False

    with pytest.raises(ConnectionLost, match=r"^The connection is gone\.$"):
        run(Channel(clock, []), transport=Dying(SSHException("Channel closed.")))


def test_a_machine_that_answers_no_more_is_lost_and_one_that_refuses_says_so(clock: Clock) -> None:
    from paramiko.ssh_exception import ChannelException, SSHException

    for late in (SSHException("Timeout opening channel."), TimeoutError()):
        with pytest.raises(ConnectionLost):
            run(Channel(clock, []), transport=Transport(late))
    with pytest.raises(UserError, match=r"^The machine starts no further command over this connection: .*\.$"):
        run(Channel(clock, []), transport=Transport(ChannelException(4, "Resource shortage")))
    with pytest.raises(UserError, match=r"^The machine lets this user run no commands over ssh\.$"):
        run(Channel(clock, []), transport=Transport(SSHException("Channel closed.")))


def test_a_caller_who_fails_is_told_and_the_channel_closed(clock: Clock) -> None:
    channel = Channel(clock, [b"x", None])

    def fail(_data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        Exchange(Connection(Transport(channel)), b"x", b"").run(fail)
    assert channel.closed
