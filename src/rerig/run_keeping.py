"""Stopping and removing runs, here and on other machines; what is kept nowhere else is only removed by force."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.known_runs import KnownRun
from rerig.meeting import Met, meet
from rerig.remote.agent import RemoteAgent
from rerig.rundir import changed_files
from rerig.runner import LocalAgent, local_agent
from rerig.text import printable

MUST_AGREE = ("run_id", "state", "exit_status", "sessions", "cases_done")

Verb = Callable[[KnownRun, LocalAgent, RemoteAgent | None], str]


def stop_runs(runs: list[KnownRun]) -> int:
    """Stop each run, which keeps what it has, and print how it is; the worst exit status.

    Raises UserError about a single run.
    """
    return _for_each(runs, _stop)


def clean_runs(runs: list[KnownRun], force: bool) -> int:
    """Remove each run; otherwise as ``stop_runs``.

    From another machine only where a whole copy with a valid result is here, and a run of this machine never, unless
    ``force``. No copy is removed together with what it is a copy of.
    """
    return _for_each(runs, lambda run, local, machine: _clean(run, local, machine, force))


def _stop(run: KnownRun, local: LocalAgent, machine: RemoteAgent | None) -> str:
    status = local.stop(run.run_dir) if machine is None else machine.stop(run.run_id)
    if status.get("state") == "ended":
        return f"The run {run.word} is complete: ./inv rerun --attach {run.word} shows its result."
    return (
        f"The run {run.word} was {status.get('state')} and keeps what it had measured: ./inv rerun --resume {run.word} "
        f"continues it, --attach {run.word} shows what there is."
    )


def _clean(run: KnownRun, local: LocalAgent, machine: RemoteAgent | None, force: bool) -> str:
    if machine is None:
        return _clean_here(run, local, force)
    name = printable(machine.host.name)
    there = next((status for status in machine.list_runs()[0] if status["run_id"] == run.run_id), None)
    if there is not None:
        _check_over(run, there)
        if not force:
            _check_copy(run, local, there, name)
    machine.clean(run.run_id)
    gone = "is removed from" if there is not None else "was no longer on"
    kept = f", and its copy stays in {printable(str(run.run_dir))}" if run.run_dir.is_dir() else ""
    return f"The run {run.word} {gone} {name}{kept}."


def _clean_here(run: KnownRun, local: LocalAgent, force: bool) -> str:
    _check_over(run, local.status(run.run_dir))
    if not force:
        raise UserError(f"The run {run.word} is kept here alone: ./inv runs.clean {run.word} --force removes it.", 2)
    local.clean(run.run_dir)
    return f"The run {run.word} is removed."


def _check_over(run: KnownRun, status: dict[str, Any]) -> None:
    if status.get("state") == "running":
        raise UserError(f"The run {run.word} goes on: ./inv runs.stop {run.word} stops it.")


def _check_copy(run: KnownRun, local: LocalAgent, there: dict[str, Any], name: str) -> None:
    """Raises UserError unless all that is ``there`` is here too, with a valid result that was built from it."""
    why = _lacking(run, local, there)
    if why is not None:
        raise UserError(
            f"The run {run.word} stays on {name}, since {why}: ./inv rerun --attach {run.word} brings it home, and "
            "--force removes it as it is."
        )


def _lacking(run: KnownRun, local: LocalAgent, there: dict[str, Any]) -> str | None:
    from rerig.documents import load_valid_document

    if not run.run_dir.is_dir():
        return f"there is no copy of it in {printable(str(run.run_dir.parent))}"
    try:
        result = load_valid_document(run.run_dir / "result.json", "rerig-result")
        here = local.status(run.run_dir)
    except UserError as error:
        return f"its copy has no valid result ({str(error).rstrip('.')})"
    if any(here.get(key) != there.get(key) for key in MUST_AGREE):
        return "it has gone on since it was brought home"
    about = result["run"]
    if about["id"] != run.run_id or len(about["sessions"]) != here["sessions"]:
        return "the result of its copy was built from something else"
    changed = changed_files(run.run_dir, result)
    return f"{changed[0]} of its copy is missing or was changed" if changed else None


def _for_each(runs: list[KnownRun], verb: Verb) -> int:
    """``verb`` for every run; a failure stops no other. Its sentence is raised where there is one run only."""
    status = 0
    with local_agent() as local:
        for batch in _batches(runs):
            hosts = list(dict.fromkeys(run.host for run in batch if run.host is not None))
            outs = {run.host.name: run.run_dir.parent for run in batch if run.host is not None}
            with contextlib.closing(meet(hosts, local, outs)) as met:
                for run in batch:
                    error = _failure(verb, run, local, met)
                    if error is not None and len(runs) == 1:
                        raise error
                    if error is not None:
                        print(f"{run.word}: {error}", file=sys.stderr, flush=True)
                        status = max(status, error.exit_status)
    return status


def _failure(verb: Verb, run: KnownRun, local: LocalAgent, met: Met) -> UserError | None:
    try:
        print(verb(run, local, None if run.host is None else met.other(run.host.name)), flush=True)
    except UserError as error:
        return error
    return None


def _batches(runs: list[KnownRun]) -> Iterator[list[KnownRun]]:
    """Runs that can be reached over one connection a machine: a name means one machine, one user, one folder here."""
    rest = runs
    while rest:
        meant: dict[str, tuple[Host, Path]] = {}
        batch = []
        for run in rest:
            place = None if run.host is None else (run.host, run.run_dir.parent)
            if place is None or meant.setdefault(place[0].name, place) == place:
                batch.append(run)
        yield batch
        rest = [run for run in rest if run not in batch]
