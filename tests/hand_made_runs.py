"""Run directories that no agent has made: a plan and a journal with any events. For Python 3.8 too."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rerig_agent.identity import read_boot_id, read_pid_start
from rerig_agent.journal import Journal
from small_run import MIB, dd_case

PLAN = {"format": "rerig-plan", "run_id": "x", "cases": [dd_case("a", "t", MIB), {"id": "b", "skip": {"code": "c"}}]}


def run_of(folder: Path, *events: dict, **plan: Any) -> Path:
    (folder / "plan.json").write_text(json.dumps({**PLAN, **plan}))
    journal = Journal(folder)
    for event in events:
        journal.append(**event)
    journal.close()
    return folder


def begun(pid: int = 1, pid_start: int | None = None, boot_id: str | None = None) -> dict:
    return {"event": "run-start", "pid": pid, "pid_start": pid_start, "boot_id": boot_id or read_boot_id()}


def myself() -> dict:
    return begun(os.getpid(), read_pid_start(os.getpid()))


def ended(stopped_by: object, exit_status: object) -> dict:
    return {"event": "run-end", "stopped_by": stopped_by, "exit_status": exit_status}
