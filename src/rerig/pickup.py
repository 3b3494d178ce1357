"""Runs that were begun earlier, here or on other machines: which ones are meant, and who goes on with them."""

from __future__ import annotations

from pathlib import Path

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.known_runs import find_runs
from rerig.options import Output


def pick_up(
    attach: list[str], resume: list[str], others: list[str], hosts: list[Host], out: Path, output: Output
) -> int:
    """Attach to the runs that ``attach`` names or resume those of ``resume``, and show them; the worst exit status.

    ``others``: flags that were given and only make sense for a new run. Raises UserError.
    """
    if attach and resume:
        raise UserError("Give either --attach or --resume: the first follows a run, the second starts it again.", 2)
    if others:
        words = ", ".join("--" + flag for flag in others)
        raise UserError(f"--{'attach' if attach else 'resume'} takes a run as it was planned: leave out {words}.", 2)
    runs = find_runs(attach or resume, out, hosts)
    here = [run for run in runs if run.host is None]
    if not here:
        from rerig import fleet_run

        return fleet_run.pick_up(runs, output, resume=bool(resume))
    if len(runs) > 1:
        raise UserError(f"The run {here[0].word} is on this machine: pick it up by itself.", 2)
    from rerig import local_run

    return (local_run.resume if resume else local_run.attach)(here[0].run_dir, output)
