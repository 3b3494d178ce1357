"""Containers for tests: real systemd and sshd, up in two seconds, ended with the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from twin.container import Container
from twin.debian_tree import amd64_tree
from twin.errors import TwinError
from twin.loop_disk import LoopDisk

StartContainer = Callable[..., Container]


@pytest.fixture(scope="session")
def container_tree() -> Path:
    """What containers are made of. Where it can't be had the test is skipped, and fails in CI."""
    try:
        return amd64_tree()
    except TwinError as error:
        give_up(error)


@pytest.fixture
def start_container(container_tree: Path, tmp_path: Path) -> Iterator[StartContainer]:
    """Starts a container with the given disks, and waits until it answers."""
    with ExitStack() as stack:

        def start(*disks: LoopDisk) -> Container:
            folder = tmp_path / f"container-{len(list(tmp_path.glob('container-*')))}"
            container = stack.enter_context(started(folder, *disks))
            container.wait_ready()
            return container

        yield start


@pytest.fixture
def fast_twin(start_container: StartContainer) -> Container:
    """A container of its own, just booted."""
    return start_container()


@pytest.fixture(scope="module")
def shared_fast_twin(container_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """One container for all tests of a module that leave it as they found it."""
    with started(tmp_path_factory.mktemp("container")) as container:
        container.wait_ready()
        yield container


@pytest.fixture
def loop_disk(container_tree: Path, tmp_path: Path) -> Iterator[LoopDisk]:
    """An empty disk of 96 MiB for a container."""
    with LoopDisk(tmp_path / "disk.img", 96 * 2**20) as disk:
        yield disk


def started(folder: Path, *disks: LoopDisk) -> Container:
    """A container, or what the user can mend as the reason to skip."""
    try:
        return Container(folder, disks)
    except TwinError as error:
        give_up(error)


def give_up(error: TwinError) -> NoReturn:
    """Skip the test; in CI, fail."""
    if os.environ.get("CI"):
        pytest.fail(str(error))
    pytest.skip(str(error))
