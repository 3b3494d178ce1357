"""Machines to connect to, and a user whose home has the keys for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kill_scene import KillScene, end
from rerig.hosts import parse_destination
from ssh_bed import SshBed, prepare_tools


@pytest.fixture(scope="session")
def ssh_tools() -> Path:
    """What the machines of a bed are made of."""
    return prepare_tools()


@pytest.fixture
def bed(tmp_path: Path, ssh_tools: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshBed]:
    """A bed without machines yet; this process is its user."""
    with SshBed(tmp_path, ssh_tools) as bed:
        monkeypatch.setenv("HOME", str(bed.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        yield bed


@pytest.fixture
def connect(bed: SshBed) -> Iterator[Callable[[str], Any]]:
    """An open connection to a machine of the bed, closed at the end."""
    from rerig.remote.connection import open_connection

    with ExitStack() as stack:

        def connect(word: str = "box") -> Any:
            connection = open_connection(parse_destination(word))
            stack.callback(connection.close)
            return connection

        yield connect


@pytest.fixture
def scene(bed: SshBed, tmp_path: Path) -> KillScene:
    """A machine whose runs can be made to stand still, and rerig in a directory of its own."""
    directory = tmp_path / "here"
    directory.mkdir()
    return KillScene(bed, directory)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, ssh_tools: Path) -> dict[str, Any]:
    """The result of such a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with SshBed(folder, ssh_tools) as bed:
        scene = KillScene(bed, folder)
        end(scene.rerun(), 0)
        return scene.document()
