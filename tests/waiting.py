"""Waiting for what another process does, with a limit that only a failure meets."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object], limit_s: float = 60) -> None:
    """Return as soon as ``condition()`` is true."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
