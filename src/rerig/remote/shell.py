"""Commands on another machine: argv in, status and output out, over an open ssh connection."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

from rerig.remote.exchange import Exchange
from rerig.remote.sudo import Sudo

if TYPE_CHECKING:
    from fabric import Connection

LARGEST_OUTPUT_BYTES = 64 * 2**20
LARGEST_NOISE_BYTES = 2**20


@dataclass(frozen=True)
class Completed:
    """What a command left: its exit status (128: ended by a signal), its output, and the end of its complaints."""

    status: int
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    """Runs commands on one machine. Every method raises ConnectionLost when the machine or the way to it is gone."""

    def run(self, argv: list[str], stdin: bytes = b"", limit_s: float = 60) -> Completed:
        """Run a command to its end, within ``limit_s`` seconds."""
        ...

    def stream(self, argv: list[str], on_line: Callable[[bytes], None], silence_s: float) -> Completed:
        """Hand on the lines of stdout as they come, without their newline; a line that is torn by a lost connection
        is not handed on. ConnectionLost after ``silence_s`` seconds without a byte. ``stdout`` of the answer is empty.
        """
        ...

    def save(self, argv: list[str], file: BinaryIO, mark: bytes, silence_s: float) -> Completed:
        """Write stdout into ``file``, without what a login shell printed up to the line that ends with ``mark``.

        ``stdout`` of the answer is empty. A command that ended without a word of ``mark`` has written nothing.
        """
        ...


class SshShell:
    """A Shell over an open connection; ``sudo`` makes every command run as root."""

    def __init__(self, connection: Connection, sudo: Sudo | None = None) -> None:
        self._connection = connection
        self._sudo = sudo

    def run(self, argv: list[str], stdin: bytes = b"", limit_s: float = 60) -> Completed:
        kept = bytearray()

        def keep(data: bytes) -> None:
            if len(kept) < LARGEST_OUTPUT_BYTES:
                kept.extend(data)

        status, stderr = self._exchange(argv, stdin).run(keep, limit_s=limit_s)
        return Completed(status, bytes(kept), stderr)

    def stream(self, argv: list[str], on_line: Callable[[bytes], None], silence_s: float) -> Completed:
        lines = _Lines(on_line)
        status, stderr = self._exchange(argv).run(lines.take, silence_s=silence_s)
        lines.end()
        return Completed(status, b"", stderr)

    def save(self, argv: list[str], file: BinaryIO, mark: bytes, silence_s: float) -> Completed:
        status, stderr = self._exchange(argv).run(AfterMark(file, mark).take, silence_s=silence_s)
        return Completed(status, b"", stderr)

    def _exchange(self, argv: list[str], stdin: bytes = b"") -> Exchange:
        words = ["env", "LC_ALL=C", "LANGUAGE=", *(self._sudo.argv(argv) if self._sudo else argv)]
        first = self._sudo.first_line() if self._sudo else b""
        command = shlex.join(words).encode("utf-8", "surrogateescape")
        return Exchange(self._connection, command, first + stdin)


class _Lines:
    """Cuts a stream of bytes into lines."""

    def __init__(self, on_line: Callable[[bytes], None]) -> None:
        self._on_line = on_line
        self._rest = b""

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._on_line(line)

    def end(self) -> None:
        if self._rest:
            self._on_line(self._rest)


class AfterMark:
    """Writes what follows the first line that ends with ``mark`` into ``file``."""

    def __init__(self, file: BinaryIO, mark: bytes) -> None:
        self._file = file
        self._end = mark + b"\n"
        self._noise: bytes | None = b""

    def take(self, data: bytes) -> None:
        if self._noise is None:
            self._file.write(data)
            return
        noise, found, rest = (self._noise + data).partition(self._end)
        self._noise = None if found else noise[-LARGEST_NOISE_BYTES:]
        self._file.write(rest)
