"""One command over one ssh channel: what goes in, what comes out, and when to give up on it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.remote.lost import ConnectionLost

if TYPE_CHECKING:
    from fabric import Connection

CHUNK_BYTES = 65536
LARGEST_STDERR_BYTES = 65536
TICK_S = 0.5  # how often a waiting thread looks at the clock
OPEN_LIMIT_S = 30
LAST_BYTES_LIMIT_S = 5
ENDED_BY_SIGNAL = 128


class Exchange:
    """A command that is yet to be started; ``run`` may be called once."""

    def __init__(self, connection: Connection, command: bytes, stdin: bytes) -> None:
        self._transport = connection.transport
        self._command = command
        self._stdin = stdin
        self._stderr = bytearray()
        self._heard = time.monotonic()
        self._over = threading.Event()

    def run(
        self, on_bytes: Callable[[bytes], None], limit_s: float | None = None, silence_s: float | None = None
    ) -> tuple[int, bytes]:
        """Hand on stdout as it comes; the exit status and the end of stderr.

        Raises ConnectionLost when the connection is gone, nothing came for ``silence_s``, or all took ``limit_s``.
        """
        channel = self._open()
        helpers = [threading.Thread(target=work, args=[channel], daemon=True) for work in (self._write, self._complain)]
        try:
            channel.settimeout(TICK_S)
            for helper in helpers:
                helper.start()
            self._read(channel, on_bytes, limit_s, silence_s)
            status = self._status(channel)
            helpers[1].join(LAST_BYTES_LIMIT_S)  # what was still said when it ended
        finally:
            self._over.set()
            with contextlib.suppress(OSError, EOFError):  # closing is told to sshd too
                channel.close()
            for helper in helpers:
                if helper.ident is not None:
                    helper.join()
        return status, bytes(self._stderr)

    def _open(self) -> Any:
        from paramiko.ssh_exception import ChannelException, SSHException

        try:
            channel = self._transport.open_session(timeout=OPEN_LIMIT_S)
            channel.exec_command(self._command)
        except ChannelException as error:
            raise UserError(f"The machine starts no further command over this connection: {error.text}.") from None
        except (SSHException, OSError, EOFError, AttributeError) as error:
            if isinstance(error, SSHException) and "Timeout" not in str(error) and self._stays_alive():
                raise UserError("The machine lets this user run no commands over ssh.") from None
            raise ConnectionLost("The connection is gone.") from None
        return channel

    def _read(
        self, channel: Any, on_bytes: Callable[[bytes], None], limit_s: float | None, silence_s: float | None
    ) -> None:
        started = self._heard = time.monotonic()
        while True:
            try:
                data = channel.recv(CHUNK_BYTES)
            except TimeoutError:
                data = None
            except (OSError, EOFError):  # what was read is confirmed to sshd, over a connection that is gone
                raise ConnectionLost("The connection broke.") from None
            now = time.monotonic()
            if data:
                self._heard = now
                on_bytes(data)
            elif data is not None:
                self._check_end(channel)
                return
            elif silence_s is not None and now - self._heard > silence_s:
                raise ConnectionLost(f"Nothing was heard for {silence_s:g} seconds.")
            if limit_s is not None and now - started > limit_s:
                raise ConnectionLost(f"The machine did not finish within {limit_s:g} seconds.")

    def _check_end(self, channel: Any) -> None:
        """sshd may tell the exit status before the last bytes: what a lost connection cut is no end."""
        if not channel.eof_received:
            self._check_transport()

    def _check_transport(self) -> None:
        if not self._stays_alive():
            raise ConnectionLost("The connection broke.")

    def _status(self, channel: Any) -> int:
        """An end without a status is one by a signal, or no end at all but that of the connection."""
        if not channel.status_event.wait(OPEN_LIMIT_S):
            raise ConnectionLost("The machine did not say how the command ended.")
        status: int = channel.recv_exit_status()
        if status >= 0:
            return status
        self._check_transport()
        return ENDED_BY_SIGNAL

    def _stays_alive(self) -> bool:
        """A transport that dies closes its channels a moment earlier."""
        self._transport.join(TICK_S)
        return bool(self._transport.is_active())

    def _write(self, channel: Any) -> None:
        rest = memoryview(self._stdin)
        with contextlib.suppress(OSError, EOFError):  # it reads no more: its status says why
            while rest and not self._over.is_set():
                with contextlib.suppress(TimeoutError):
                    rest = rest[channel.send(rest[:CHUNK_BYTES]) :]
                    self._heard = time.monotonic()
            channel.shutdown_write()

    def _complain(self, channel: Any) -> None:
        while not self._over.is_set():
            try:
                data = channel.recv_stderr(CHUNK_BYTES)
            except TimeoutError:
                continue
            except (OSError, EOFError):
                return
            if not data:
                return
            self._heard = time.monotonic()
            self._stderr.extend(data)
            del self._stderr[:-LARGEST_STDERR_BYTES]
