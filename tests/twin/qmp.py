"""qemu's machine protocol: one JSON object a line over a unix socket (QEMU's docs/interop/qmp-spec)."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

from twin.errors import TwinError

LIMIT_S = 120.0


class Qmp:
    """One connection; qemu serves one at a time, so close it when done."""

    def __init__(self, path: Path, limit_s: float = LIMIT_S) -> None:
        self._socket = _connect(path, limit_s)
        self._lines = b""
        self._events: list[dict[str, Any]] = []
        try:
            self._receive(time.monotonic() + limit_s)  # the greeting
            self.execute("qmp_capabilities")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Qmp:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def execute(self, command: str, **arguments: Any) -> Any:
        """What the command returns; an argument's ``_`` stands for ``-``. Raises TwinError with qemu's own words."""
        words = {name.replace("_", "-"): value for name, value in arguments.items()}
        return self.execute_raw(command, words)

    def execute_raw(self, command: str, arguments: dict[str, Any]) -> Any:
        """As :meth:`execute`, with the arguments as they are."""
        try:
            self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        except OSError as error:
            raise TwinError(f"The connection to qemu broke: {error.strerror}.") from error
        deadline = time.monotonic() + LIMIT_S
        while True:
            answer = self._receive(deadline)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise TwinError(f"qemu refuses {command}: {answer['error'].get('desc', 'no word')}.")
            self._events.append(answer)

    def hmp(self, line: str) -> str:
        """The answer of the human monitor, for what QMP has no command for."""
        return str(self.execute_raw("human-monitor-command", {"command-line": line})).replace("\r", "")

    def wait_event(self, name: str, limit_s: float = LIMIT_S) -> dict[str, Any]:
        """The next event of that name, those that came already included. Raises TwinError after the limit."""
        deadline = time.monotonic() + limit_s
        while True:
            for event in self._events:
                if event.get("event") == name:
                    self._events.remove(event)
                    return event
            self._events.append(self._receive(deadline))

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\n" not in self._lines:
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                raise TwinError("qemu does not answer.") from None
            except OSError as error:
                raise TwinError(f"The connection to qemu broke: {error.strerror}.") from error
            if not data:
                raise TwinError("qemu has ended.")
            self._lines += data
        line, _, self._lines = self._lines.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _connect(path: Path, limit_s: float) -> socket.socket:
    deadline = time.monotonic() + limit_s
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(limit_s)
            connection.connect(str(path))
        except OSError as error:
            connection.close()
            if time.monotonic() > deadline:
                raise TwinError(f"qemu's socket {path} can't be reached: {error.strerror}.") from error
            time.sleep(0.05)
        else:
            return connection
