"""The main job on one machine: plan, measure, build, validate, keep. Showing it is the caller's business."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

from rerig import store
from rerig.build import build_result
from rerig.errors import UserError
from rerig.outcome import Outcome
from rerig.plan import PlanOptions, expand_plan
from rerig.plan_power import check_options, reads_files
from rerig.rundir import changed_files, read_run
from rerig.suite import load_suite
from rerig.text import bounded, printable

OnEvent = Callable[[dict[str, Any]], None]


class Agent(Protocol):
    """What measures on one machine, this one or another."""

    def identity(self) -> dict[str, str]:
        """Version and sha256 of the agent's archive."""
        ...

    def target_path(self, path: str) -> str:
        """A file that the user named, absolute on that machine. Raises UserError."""
        ...

    def scratch_directory(self, directory: str | None) -> str:
        """Where a scratch file goes on that machine, by default too. Raises UserError."""
        ...

    def probe(self, paths: list[str], scratch_directory: str | None) -> dict[str, Any]:
        """The agent's report on the tools, the given files, and the directory of the scratch file."""
        ...

    def commands(self, plan: dict[str, Any]) -> list[str]:
        """Every command line that the plan would run there."""
        ...

    def run(self, plan: dict[str, Any], run_dir: Path, on_event: OnEvent) -> Outcome:
        """Run the plan; afterwards ``run_dir`` here holds what there is. UserError where nothing was begun."""
        ...

    def resume(self, run_dir: Path, on_event: OnEvent) -> Outcome:
        """Go on with the run of that name; otherwise as ``run``."""
        ...


@dataclass(frozen=True)
class Request:
    """What the user asked for. No ``paths``: a scratch file in ``scratch`` (None: the agent's choice) is measured.

    ``gpu_load``: the command that loads the GPU in a power budget; None: as the suite says.
    """

    paths: list[str] = field(default_factory=list)
    scratch: str | None = None
    suite: str = "storage"
    labels: dict[str, str] = field(default_factory=dict)
    repeats: int | None = None
    size_bytes: int | None = None
    gpu_load: list[str] | None = None


@dataclass(frozen=True)
class Planned:
    """A plan and what the probe said; ``refusals`` are the sentences of files that can't be measured.

    ``servers``: where the files of a network file system lie; kept for a warning alone, and in no document.
    """

    plan: dict[str, Any]
    refusals: list[str]
    servers: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Finished:
    """A run that is over: its result (None: nothing to build one from), the exit status, and what remains to be said.

    The status is 1 also where no figure can be used.
    """

    path: Path | None
    status: int
    sentence: str | None = None


def new_run_id() -> str:
    """``20260131T081500Z-1a2b3c``: sorts by time, and two runs of one second differ."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def make_plan(agent: Agent, request: Request) -> Planned:
    """Look at the machine and expand the suite. Raises UserError where nothing could be measured."""
    suite = load_suite(request.suite)
    check_options(suite, paths=bool(request.paths), scratch=request.scratch is not None)
    paths = [agent.target_path(path) for path in request.paths]
    needs_scratch = reads_files(suite) and not paths
    probe = agent.probe(paths, agent.scratch_directory(request.scratch) if needs_scratch else None)
    if request.gpu_load and "/" in request.gpu_load[0]:  # a bare name is looked up on that machine's PATH
        program, *words = request.gpu_load
        request = replace(request, gpu_load=[agent.target_path(program), *words])
    return plan_from_probe(suite, probe, agent.identity(), request)


def plan_from_probe(
    suite: dict[str, Any], probe: dict[str, Any], identity: dict[str, str], request: Request
) -> Planned:
    """The plan of a machine that was looked at, for the agent of that ``identity``; otherwise as ``make_plan``."""
    options = PlanOptions(new_run_id(), request.size_bytes, request.repeats, request.labels, request.gpu_load)
    plan = expand_plan(suite, probe, identity, options)
    refusals = [
        target["classified"]["refusal"] for target in probe["targets"] if target["classified"]["refusal"] is not None
    ]
    if probe["targets"] and len(refusals) == len(probe["targets"]):
        raise UserError("Nothing can be measured. " + " ".join(refusals))
    return Planned(plan, refusals, servers_of(probe))


def servers_of(probe: dict[str, Any]) -> set[str]:
    """The servers that the probed files lie on, as the machine names them."""
    seen = [*probe["targets"], *([probe["scratch"]] if probe.get("scratch") else [])]
    mounts = [(found.get("evidence") or {}).get("mount") or {} for found in seen]
    sources = [str(mount.get("source") or "") for mount in mounts if _is_network(str(mount.get("fs_type") or ""))]
    return {_server(source) for source in sources} - {""}


def execute(agent: Agent, plan: dict[str, Any], out: Path, on_event: OnEvent) -> Finished:
    """Run the plan and keep the result, which is built, validated and written also when the run was stopped."""
    run_dir = out / plan["run_id"]
    return finish(run_dir, agent.run(plan, run_dir, on_event))


def finish(run_dir: Path, outcome: Outcome) -> Finished:
    """Build and keep the result of a run that is over. Raises UserError where there is nothing to build it from."""
    try:
        result = build_result(read_run(run_dir))
    except UserError:
        if outcome.sentence is None:
            raise
        return Finished(None, outcome.status, outcome.sentence)
    measured = any(case["validity"]["verdict"] in ("valid", "doubtful") for case in result["cases"])
    return Finished(_keep(result, run_dir), outcome.status or int(not measured), outcome.sentence)


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


def _is_network(fs_type: str) -> bool:
    return fs_type.startswith(("nfs", "cifs", "smb", "ceph", "glusterfs", "fuse.sshfs", "fuse.glusterfs", "9p", "afs"))


def _server(source: str) -> str:
    """``nas:/export``, ``//nas/share`` and ``user@nas:/x`` as ``nas``."""
    if source.startswith("//"):
        return source[2:].partition("/")[0].lower()
    return source.partition(":/")[0].rpartition("@")[2].lower() if ":/" in source else ""
