from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

from agent_program import AgentProgram
from fake_machine import FakeMachine
from rerig_agent.facts.page_cache import file_system_magic

TMPFS = 0x01021994


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """An empty fake machine: one processor, an ext4 root on no device."""
    return FakeMachine(tmp_path)


@pytest.fixture
def disk_path(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk; /tmp is memory on many systems, where nothing is ever evicted."""
    probe = tmp_path / "probe"
    with probe.open("wb") as file:
        on_disk = file_system_magic(file.fileno()) != TMPFS
    probe.unlink()
    if on_disk:
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="rerig-test-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(str(folder))


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A folder on a disk that other users may enter; pytest's own are private."""
    folder = Path(tempfile.mkdtemp(prefix="rerig-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(str(folder))


@pytest.fixture
def agent(disk_path: Path) -> Iterator[AgentProgram]:
    """The agent as one file, with files to measure; no run outlives the test."""
    program = AgentProgram(disk_path)
    try:
        yield program
    finally:
        program.end()
