"""The main job: plan, measure, build, validate, keep. Showing it is the caller's business."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rerig import store
from rerig.build import build_result
from rerig.errors import UserError
from rerig.plan import PlanOptions, expand_plan
from rerig.rundir import changed_files, read_run
from rerig.runner import LocalAgent
from rerig.suite import load_suite
from rerig.text import bounded, printable


@dataclass(frozen=True)
class Request:
    """What the user asked for. No ``paths``: a scratch file in ``scratch`` is measured."""

    paths: list[str] = field(default_factory=list)
    scratch: str = "."
    suite: str = "storage"
    labels: dict[str, str] = field(default_factory=dict)
    repeats: int | None = None
    size_bytes: int | None = None


@dataclass(frozen=True)
class Planned:
    """A plan and what the probe said; ``refusals`` are the sentences of files that can't be measured."""

    plan: dict[str, Any]
    refusals: list[str]


def new_run_id() -> str:
    """``20260131T081500Z-1a2b3c``: sorts by time, and two runs of one second differ."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def make_plan(agent: LocalAgent, request: Request) -> Planned:
    """Look at the machine and expand the suite. Raises UserError where nothing could be measured."""
    suite = load_suite(request.suite)
    try:
        paths = [str(Path(path).absolute()) for path in request.paths]
        scratch = None if paths else str(Path(request.scratch).absolute())
    except FileNotFoundError as error:
        raise UserError("The current directory was deleted: go to another one first.") from error
    probe = agent.probe(paths, scratch)
    options = PlanOptions(new_run_id(), request.size_bytes, request.repeats, request.labels)
    plan = expand_plan(suite, probe, agent.identity(), options)
    refusals = [
        target["classified"]["refusal"] for target in probe["targets"] if target["classified"]["refusal"] is not None
    ]
    if paths and len(refusals) == len(paths):
        raise UserError("Nothing can be measured. " + " ".join(refusals))
    return Planned(plan, refusals)


def execute(
    agent: LocalAgent, plan: dict[str, Any], out: Path, on_event: Callable[[dict[str, Any]], None]
) -> tuple[Path, int]:
    """Run the plan and keep the result: its path, and the agent's exit status (1 also without one usable figure).

    The result is built, validated and written also when the user stopped the run.
    """
    run_dir = store.new_run_directory(out, plan["run_id"])
    with tempfile.TemporaryDirectory(prefix="rerig-plan-") as directory:
        plan_path = Path(directory) / "plan.json"
        store.write_document(plan_path, plan)
        status = agent.run(plan_path, run_dir, on_event)
    result = build_result(read_run(run_dir))
    measured = any(case["validity"]["verdict"] in ("valid", "doubtful") for case in result["cases"])
    return _keep(result, run_dir), status or int(not measured)


def rebuild(run_dir: Path) -> Path:
    """Build the result anew from the raw files of ``run_dir``, validate it and write ``result.json``; gives its path.

    Raises UserError where the raw files are not as an agent of this version leaves them.
    """
    run = read_run(run_dir)
    try:
        result = build_result(run)
    except Exception as error:
        # The raw files may have been edited or come from any version: no list of what can be wrong would be complete.
        if os.environ.get("RERIG_TRACEBACK"):
            raise
        raise UserError(
            f"{run_dir} can't be built: its raw files are damaged or of another version ({_short(error)})."
        ) from error
    return _keep(result, run_dir)


def changed_since_built(run_dir: Path) -> list[str]:
    """Names of raw files that changed since ``result.json`` was built; none where there is no readable result."""
    from rerig.documents import load_valid_document

    try:
        result = load_valid_document(run_dir / "result.json", "rerig-result")
    except UserError:
        return []
    return changed_files(run_dir, result)


def _keep(result: dict[str, Any], run_dir: Path) -> Path:
    from rerig.schema import validate_or_raise

    validate_or_raise(result, f"The result built from {run_dir} (whose raw files are kept)")
    path = run_dir / "result.json"
    store.write_document(path, result)
    return path


def _short(error: Exception) -> str:
    return bounded(printable(f"{type(error).__name__}: {error}"), 100)
