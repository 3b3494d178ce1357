"""The conversation with qemu: answers, events between them, refusals, and an end."""

from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from twin.errors import TwinError
from twin.qmp import Qmp

GREETING = {"QMP": {"version": {}, "capabilities": []}}
EVENT = {"event": "DEVICE_DELETED", "data": {"device": "nvme1"}, "timestamp": {"seconds": 1, "microseconds": 2}}


@contextmanager
def qemu(*answers: list[dict[str, Any]]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """A socket that greets, agrees to capabilities, then answers each command with the next list of lines."""
    asked: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{name}/qmp")
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rwb", buffering=0) as stream:
                stream.write(json.dumps(GREETING).encode() + b"\r\n")
                for lines in [[{"return": {}}], *answers]:
                    asked.append(json.loads(stream.readline()))
                    for line in lines:
                        stream.write(json.dumps(line).encode() + b"\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield Path(name) / "qmp", asked
        thread.join(60)


def test_a_command_returns_its_answer_and_events_between_are_kept() -> None:
    with qemu([EVENT, {"return": {"status": "running"}}]) as (path, asked), Qmp(path) as qmp:
        assert qmp.execute("query-status") == {"status": "running"}
        assert qmp.wait_event("DEVICE_DELETED") == EVENT
    assert [line["execute"] for line in asked] == ["qmp_capabilities", "query-status"]


def test_underscores_are_qemus_dashes() -> None:
    with qemu([{"return": {}}]) as (path, asked), Qmp(path) as qmp:
        qmp.execute("blockdev-add", node_name="disk")
    assert asked[1]["arguments"] == {"node-name": "disk"}


def test_a_refusal_is_told_in_qemus_words() -> None:
    refusal = {"error": {"class": "GenericError", "desc": "State blocked by non-migratable device"}}
    with (
        qemu([refusal]) as (path, _),
        Qmp(path) as qmp,
        pytest.raises(TwinError, match=r"^qemu refuses migrate: State blocked by non-migratable device\.$"),
    ):
        qmp.execute("migrate", uri="exec:cat")


def test_the_human_monitor_is_asked_by_its_line() -> None:
    with qemu([{"return": "line one\r\nline two\r\n"}]) as (path, asked), Qmp(path) as qmp:
        assert qmp.hmp("info usernet") == "line one\nline two\n"
    assert asked[1]["arguments"] == {"command-line": "info usernet"}


def test_a_qemu_that_ends_is_told() -> None:
    with (
        qemu() as (path, _),
        Qmp(path) as qmp,
        pytest.raises(TwinError, match=r"qemu has ended|connection to qemu broke"),
    ):
        qmp.execute("query-status")


def test_an_event_that_does_not_come_is_told() -> None:
    with qemu([{"return": {}}]) as (path, _), Qmp(path) as qmp:
        with pytest.raises(TwinError, match="does not answer"):
            qmp.wait_event("RESET", 0.05)
        qmp.execute("quit")


def test_no_socket_is_told(tmp_path: Path) -> None:
    with pytest.raises(TwinError, match=r"can't be reached"):
        Qmp(tmp_path / "none", 0.05)
