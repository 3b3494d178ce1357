"""A machine that is a folder: what would go there over ssh runs here, by hand, over connections that can be cut.

The agent there is the real one, in an archive, started by a real shell; its dd waits when a test wants it to.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from rerig.remote.first_look import Look
from rerig.remote.lost import ConnectionLost, Unreachable
from rerig.remote.shell import AfterMark, Completed
from rerig_agent.journal import is_alive, read_journal
from waiting import wait_for

MIB = 2**20
SUITE = """\
format: rerig-suite
format_version: "1.0"
name: by-hand
version: "1.0"
title: three small reads
scratch_bytes: 16777216
cases:
  - {name: first, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {default: 4194304}, repeats: 2}
  - {name: second, kind: dd_read, direct: true, block_bytes: 65536, read_bytes: {default: 4194304}, repeats: 2}
  - {name: third, kind: dd_read, direct: true, block_bytes: 4194304, read_bytes: {default: 4194304}, repeats: 1}
"""
# A call for the version passes; calls are counted, and those after ``shut`` many wait.
DD = """\
#!/bin/sh
[ "$1" = --version ] && exec {dd} "$@"
if [ -e {gate}/shut ]; then
  echo >> {gate}/calls
  if [ "$(wc -l < {gate}/calls)" -gt "$(cat {gate}/shut)" ]; then
    : > {gate}/reached
    while [ -e {gate}/shut ]; do sleep 0.05; done
  fi
fi
exec {dd} "$@"
"""


class HandMachine:
    """``cut``: which exchange (from 1, all connections together) loses its connection, and when: before the command
    is started, within its output, or after its end. ``down``: no connection comes about.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.runs = self.state / "runs"
        self.model = folder / "model.bin"
        self.cut: dict[int, str] = {}
        self.down = False
        self.exchanges: list[list[str]] = []
        self.connections: list[HandShell] = []
        self._gate = folder / "gate"
        self.runs.mkdir(parents=True)
        self._gate.mkdir()
        self.model.write_bytes(os.urandom(4 * MIB))
        self._write_dd(folder / "bin")
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path}

    def _write_dd(self, folder: Path) -> None:
        dd = shutil.which("dd")
        assert dd is not None
        folder.mkdir()
        (folder / "dd").write_text(DD.format(dd=shlex.quote(dd), gate=shlex.quote(str(self._gate))))
        (folder / "dd").chmod(0o755)

    def connect(self) -> HandShell:
        """A new connection. Raises Unreachable while the machine is ``down``."""
        if self.down:
            raise Unreachable("There is no way to the machine.")
        self.connections.append(HandShell(self))
        return self.connections[-1]

    def look(self) -> Look:
        """What a first look finds, without a home directory to look into."""
        return Look(platform.python_version(), str(self.state), [str(self.runs)])

    def shut(self, after: int = 0) -> None:
        """Let dd wait from now on, once ``after`` reads have passed."""
        for name in ("calls", "reached"):
            (self._gate / name).unlink(missing_ok=True)
        (self._gate / "calls").touch()
        (self._gate / "aside").write_text(f"{after}\n")
        (self._gate / "aside").rename(self._gate / "shut")

    def open(self) -> None:
        (self._gate / "shut").unlink(missing_ok=True)

    def wait_until_shut(self) -> None:
        """Return when a dd waits."""
        wait_for((self._gate / "reached").exists)

    def kill_agent(self) -> None:
        """SIGKILL for the agent of the only run that goes on."""
        (run_dir,) = [path for path in self.runs.iterdir() if is_alive(path)]
        pid = [event["pid"] for event in read_journal(run_dir) if event["event"] == "run-start"][-1]
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(run_dir))

    def lose_connections(self) -> None:
        """Cut every connection that stands."""
        for shell in self.connections:
            shell.lose()

    def end(self) -> None:
        """End what still goes on, by its own number."""
        self.down = True
        self.lose_connections()
        self.open()
        for run_dir in self.runs.iterdir():
            for event in read_journal(run_dir):
                if event["event"] == "run-start" and is_alive(run_dir):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(event["pid"], signal.SIGKILL)
            wait_for(lambda: not is_alive(run_dir))  # noqa: B023 - it is called at once


class HandShell:
    """One connection to a HandMachine, as a Shell."""

    def __init__(self, machine: HandMachine) -> None:
        self.machine = machine
        self.lost = False
        self._process: subprocess.Popen[bytes] | None = None

    def lose(self) -> None:
        """The connection is gone; the command that runs over it as well, as under sshd."""
        self.lost = True
        if self._process is not None:
            self._process.kill()

    def run(self, argv: list[str], stdin: bytes = b"", limit_s: float = 60) -> Completed:
        kept = bytearray()
        status, stderr = self._exchange(argv, stdin, kept.extend)
        return Completed(status, bytes(kept), stderr)

    def stream(self, argv: list[str], on_line: Callable[[bytes], None], silence_s: float) -> Completed:
        status, stderr = self._exchange(argv, b"", lambda line: on_line(line.rstrip(b"\n")))
        return Completed(status, b"", stderr)

    def save(self, argv: list[str], file: BinaryIO, mark: bytes, silence_s: float) -> Completed:
        status, stderr = self._exchange(argv, b"", AfterMark(file, mark).take)
        return Completed(status, b"", stderr)

    def _exchange(self, argv: list[str], stdin: bytes, on_line: Callable[[bytes], None]) -> tuple[int, bytes]:
        self.machine.exchanges.append(argv)
        moment = self.machine.cut.pop(len(self.machine.exchanges), None)
        if moment == "before":
            self.lose()
        self._check()
        command = ["sh", "-c", f"echo Welcome to this machine; {shlex.join(argv)}"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=self.machine.environment) as process:
            self._process = process
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.close()
            for number, line in enumerate(process.stdout):
                if moment == "within" and number > 4:  # behind the greeting, the mark, and some events
                    self.lose()
                self._check()
                on_line(line)
            stderr = process.stderr.read()
            status = process.wait()
        if moment is not None:
            self.lose()
        self._check()
        return status, stderr

    def _check(self) -> None:
        if self.lost:
            raise ConnectionLost("The connection broke.")
