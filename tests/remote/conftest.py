"""Machines to connect to, and a user whose home has the keys for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
