"""Fresh twins for tests: a booted state restored in seconds, and ended with the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from twin.architecture import AMD64, ARM64, Architecture
from twin.errors import TwinError
from twin.machine import Machine
from twin.snapshot import Snapshot, booted_snapshot, restore


@pytest.fixture(scope="session")
def snapshot_amd64() -> Snapshot:
    """A booted amd64 twin's saved state. Where none can be had the test is skipped, and fails in CI."""
    return _snapshot(AMD64)


@pytest.fixture(scope="session")
def snapshot_arm64() -> Snapshot:
    """As ``snapshot_amd64``, with the device tree of a Jetson."""
    return _snapshot(ARM64)


@pytest.fixture
def twin_amd64(snapshot_amd64: Snapshot, tmp_path: Path) -> Iterator[Machine]:
    """A machine of its own, just booted."""
    yield from _restored(snapshot_amd64, tmp_path)


@pytest.fixture
def twin_arm64(snapshot_arm64: Snapshot, tmp_path: Path) -> Iterator[Machine]:
    """A machine of its own, just booted."""
    yield from _restored(snapshot_arm64, tmp_path)


@pytest.fixture(scope="module")
def shared_twin_amd64(snapshot_amd64: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One machine for all tests of a module that leave it as they found it."""
    yield from _restored(snapshot_amd64, tmp_path_factory.mktemp("twin"))


@pytest.fixture(scope="module")
def shared_twin_arm64(snapshot_arm64: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One machine for all tests of a module that leave it as they found it."""
    yield from _restored(snapshot_arm64, tmp_path_factory.mktemp("twin"))


def _restored(snapshot: Snapshot, folder: Path) -> Iterator[Machine]:
    with restore(snapshot, folder / "machine", "test") as machine:
        machine.wait_ready()
        yield machine


def _snapshot(architecture: Architecture) -> Snapshot:
    try:
        return booted_snapshot(architecture)
    except TwinError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
