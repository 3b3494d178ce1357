"""The main job on this machine: measured here, resumed here, and shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.options import Output
from rerig.outcome import KILLED, Outcome
from rerig.rerun import Finished, Request, execute, finish, make_plan
from rerig.rundir import read_plan
from rerig.runner import LocalAgent, local_agent
from rerig.store import run_word
from rerig_agent.journal import read_journal

if TYPE_CHECKING:
    from rerig.report.progress import Observer

BUSY = 69  # EX_UNAVAILABLE of sysexits.h, as the agent says it where another run measures


def measure(request: Request, out: Path, output: Output, plan_only: bool = False) -> int:
    """Plan and measure on this machine, and show the result; the exit status. Raises UserError."""
    from rerig.report import plans, progress

    with local_agent() as agent:
        planned = make_plan(agent, request)
        for sentence in planned.refusals:
            print(sentence, file=sys.stderr)
        if plan_only:
            plans.print_plan(planned.plan, agent.commands, as_json=output.json)
            return 0
        if not output.quiet:
            print(plans.summary(planned.plan), file=sys.stderr, flush=True)
        with progress.Display(output.quiet) as display:
            finished = execute(agent, planned.plan, out, display.observer(planned.plan).on_event)
    return show(finished, output)


def resume(run_dir: Path, output: Output) -> int:
    """Go on with a run of this machine that was stopped or killed, and show the result. Raises UserError."""
    from rerig.report import progress

    with local_agent() as agent:
        _check_resumable(run_dir, agent)
        plan = read_plan(run_dir)
        with progress.Display(output.quiet) as display:
            observer = display.observer(plan)
            _tell_done(run_dir, observer)
            outcome = agent.resume(run_dir, observer.on_event)
        finished = finish(run_dir, outcome)
    return show(finished, output)


def attach(run_dir: Path, output: Output) -> int:
    """Show what came of a run of this machine that is over. Raises UserError, above all while it goes on."""
    with local_agent() as agent:
        status = agent.status(run_dir)
    if status["state"] == "running":
        raise UserError(
            f"The run {run_word(run_dir)} goes on on this machine, and its progress is shown where it was started: "
            f"once it has ended, the same command shows its result; ./inv runs.stop {run_word(run_dir)} stops it now.",
            BUSY,
        )
    return show(finish(run_dir, _outcome(run_dir, status)), output)


def show(finished: Finished, output: Output) -> int:
    """Show one run that is over; the exit status. Raises UserError where something remains to be said."""
    from rerig.report import results

    if finished.path is not None:
        results.print_run(finished.path, as_json=output.json, quiet=output.quiet)
    if finished.sentence is not None:
        raise UserError(finished.sentence, finished.status)
    return finished.status


def is_copy(run_dir: Path) -> bool:
    """Whether the run was brought here from another machine: an agent locks what it runs, and packs no lock."""
    return not (run_dir / "lock").exists()


def _check_resumable(run_dir: Path, agent: LocalAgent) -> None:
    word = run_word(run_dir)
    if is_copy(run_dir):
        raise UserError(
            f"The run {word} was measured on another machine and can only go on there: "
            f"./inv rerun --host NAME --resume {word}."
        )
    state = agent.status(run_dir)["state"]
    if state == "running":
        raise UserError(f"The run {word} goes on on this machine already: ./inv runs.stop {word} stops it.", BUSY)
    if state == "ended":
        raise UserError(f"The run {word} is complete: ./inv rerun --attach {word} shows its result.", 2)


def _tell_done(run_dir: Path, observer: Observer) -> None:
    """What earlier sessions did is no part of the time that is left."""
    done = [event.get("case") for event in read_journal(run_dir) if event["event"] == "case-done"]
    observer.skip({case for case in done if isinstance(case, str)})


def _outcome(run_dir: Path, status: dict[str, Any]) -> Outcome:
    kept = f"What it had measured is kept: ./inv rerun --resume {run_word(run_dir)} continues it."
    if status["state"] == "killed":
        return Outcome(KILLED, f"The run was killed. {kept}")
    if status["state"] == "stopped":
        return Outcome(int(status["exit_status"] or 1), f"The run was stopped. {kept}")
    return Outcome(int(status["exit_status"] or 0))
