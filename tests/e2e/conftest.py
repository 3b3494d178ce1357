"""rerig in a directory of its own, with or without fio, and a file to measure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from command_line import Cli, cli_with_fio, environment, path_without_fio


@pytest.fixture
def cli(tmp_path: Path, real_fio: Path) -> Cli:
    """rerig on a machine with fio."""
    return cli_with_fio(tmp_path, real_fio)


@pytest.fixture
def bare_cli(tmp_path: Path) -> Cli:
    """rerig on a machine without fio."""
    path = path_without_fio()
    if shutil.which("dd", path=path) is None:
        pytest.skip("dd and fio share a folder here, so fio can't be hidden alone")
    return Cli(tmp_path, environment(path))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A user's file of 48 MiB and a bit."""
    path = tmp_path / "model 한글.safetensors"
    path.write_bytes(os.urandom(48 * 2**20 + 333))
    return path
