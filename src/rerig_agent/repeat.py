"""One repeat of one case: counters and residency right before and after its tool, all of it kept raw."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Callable

from . import cache, counters
from .cases import build_argv
from .cases.fio_read import ALIAS_NAME, needs_alias
from .child import StopFlag, Stopped, run_child
from .files import write_json
from .guard import Guard
from .journal import utc_now
from .knobs import Knob

# A network server that gives not one byte for so long is called hung; a disk that spins up needs some 10 s.
STALL_S = 60.0


def run_repeat(
    case: dict[str, Any],
    repeat: dict[str, Any],
    path: str,
    evidence: dict[str, Any],
    classified: dict[str, Any],
    directory: Path,
    guard: Guard,
    knob: Knob | None,
    stop: StopFlag,
    tick: Callable[[float], None],
) -> dict[str, Any]:
    """Measure ``path`` once; writes ``record.json``, ``stdout``, ``stderr`` into ``directory``, returns the record.

    ``knob``: the read-ahead that is set for this case; the record says what it was (null: it changed meanwhile).
    """
    directory.mkdir(parents=True)
    if case["identity"]["kind"] == "fio_read" and needs_alias(path):
        (directory / ALIAS_NAME).symlink_to(path)
    argv = build_argv(case, repeat, path)
    evict = bool(case["parameters"].get("evict"))
    ask_s = min(cache.LIMIT_S, case["limit_s"])
    residency_before = (guard.evict if evict else cache.residency)(path, ask_s, stop.check)
    in_force = {} if knob is None else {"read_ahead_kb": knob.read_number()}
    started_at = utc_now()
    before = counters.take(classified, evidence)
    outcome = run_child(
        argv,
        directory,
        case["limit_s"],
        stop,
        stall_s=min(STALL_S, case["limit_s"]) if case["identity"]["kind"] != "fio_read" else None,
        tick=tick,
    )
    after = counters.take(classified, evidence)
    if knob is not None and knob.read_number() != in_force["read_ahead_kb"]:
        in_force["read_ahead_kb"] = None
    hung = outcome["timed_out"] or outcome["unkillable"]
    record = {
        "argv": argv,
        "program": program_path(argv[0]),
        "started_at": started_at,
        **in_force,
        **outcome,
        "counters_before": before,
        "counters_after": after,
        "residency_before": residency_before,
        "residency_after": cache.unknown_residency("the file did not answer")
        if hung
        else _residency_after(path, ask_s, stop),
    }
    write_json(directory / "record.json", record)
    return record


def program_path(name: str) -> str | None:
    """The binary that a tool's name stands for, links followed (to busybox, say); None where there is none."""
    found = shutil.which(name)
    return None if found is None else os.path.realpath(found)


def _residency_after(path: str, limit_s: float, stop: StopFlag) -> dict[str, Any]:
    try:
        return cache.residency(path, limit_s, stop.check)
    except Stopped:  # the loop will see it too; what was measured is kept
        return cache.unknown_residency("the run was stopped")
