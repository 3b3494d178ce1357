"""How the agent tells what goes on: JSON lines for the controller, plain lines for a person, or nothing."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable

QUIET_EVENTS = {"tick", "scratch", "repeat-start"}


def emitter(kind: str) -> Callable[..., None]:
    """A function ``emit(event, **data)``; ``kind``: ``json``, ``text`` or ``none``. A reader that left is no error."""

    def emit_json(event: str, **data: Any) -> None:
        _write(sys.stdout, json.dumps({"event": event, **data}) + "\n")

    def emit_text(event: str, **data: Any) -> None:
        if event not in QUIET_EVENTS:
            shown = " ".join(f"{k}={v}" for k, v in data.items() if v is not None)
            _write(sys.stderr, f"{event} {shown}\n")

    def emit_nothing(event: str, **data: Any) -> None:
        return None

    return {"json": emit_json, "text": emit_text, "none": emit_nothing}[kind]


def _write(stream: Any, line: str) -> None:
    try:
        stream.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))
        stream.flush()
    except (OSError, ValueError):
        pass  # the controller is gone; the run goes on, its journal tells the rest
