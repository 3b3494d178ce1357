"""A controller, and this machine as its host."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_plays import LOCAL, Controller
from command_line import path_without_fio


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    """A user whose inventory is empty still; there is no fio, here or on hosts that are this machine."""
    return Controller(tmp_path / "controller", path_without_fio())


@pytest.fixture
def box(controller: Controller, tmp_path: Path) -> dict[str, Any]:
    """The variables of the host ``box``, which is this machine; ``place`` is where the role keeps things there."""
    controller.hosts["box"] = {**LOCAL, "place": str(tmp_path / "host" / "rerig"), "path": os.environ["PATH"]}
    return controller.hosts["box"]
