"""The main job on other machines, one or many at once: measured, attached to or resumed there, and shown here."""

from __future__ import annotations

import contextlib
from pathlib import Path

from rerig.errors import UserError
from rerig.fleet import Machine, plan_all
from rerig.fleet_report import FleetReport
from rerig.hosts import Host
from rerig.known_runs import KnownRun
from rerig.meeting import meet
from rerig.options import Output
from rerig.remote.agent import RemoteAgent
from rerig.rerun import Finished, Request, execute, finish
from rerig.runner import local_agent
from rerig.side_by_side import Tell, run_side_by_side


def measure(
    hosts: list[Host], request: Request, out: Path, output: Output, plan_only: bool = False, serial: bool = False
) -> int:
    """Plan and measure on all of them, and show the results; the worst exit status. Raises UserError."""
    names = [host.name for host in hosts]
    report = FleetReport(names, output)
    with local_agent() as agent, contextlib.closing(meet(hosts, agent, dict.fromkeys(names, out))) as met:
        report.fail(met.failures)
        looked = plan_all(met.machines, request)
        report.fail(looked.failures)
        planned = looked.planned
        machines = {name: met.machines[name] for name in planned}
        report.tell_plans(planned, serial)
        if plan_only:
            return report.print_plans(machines, planned)
        report.tell_summaries(planned)

        def work(name: str, machine: Machine, tell: Tell) -> Finished:
            return execute(machine, planned[name].plan, out, tell)

        ended = report.follow(machines, {name: planned[name].plan for name in planned}, work, serial)
    return report.show(ended)


def pick_up(runs: list[KnownRun], output: Output, resume: bool) -> int:
    """Attach to runs on other machines, or resume them, and show the results; the worst exit status.

    Raises UserError.
    """
    by_name = {run.host.name: run for run in runs if run.host is not None}
    if len(by_name) < len(runs):
        raise UserError(
            "Several runs are picked up at once only where each is on another machine: name them singly.", 2
        )
    report = FleetReport(list(by_name), output)
    outs = {name: run.run_dir.parent for name, run in by_name.items()}
    with local_agent() as agent, contextlib.closing(meet([run.host for run in runs if run.host], agent, outs)) as met:
        report.fail(met.failures)
        machines = {name: machine for name, machine in met.machines.items() if isinstance(machine, RemoteAgent)}
        plans = run_side_by_side(machines, lambda machine: machine.plan_of(by_name[machine.host.name].run_id))
        report.fail({name: plan for name, plan in plans.items() if isinstance(plan, UserError)})

        def work(name: str, _machine: Machine, tell: Tell) -> Finished:
            run_dir = by_name[name].run_dir
            verb = machines[name].resume if resume else machines[name].attach
            return finish(run_dir, verb(run_dir, tell))

        known = {name: plan for name, plan in plans.items() if not isinstance(plan, UserError)}
        ended = report.follow({name: machines[name] for name in known}, known, work, serial=False)
    return report.show(ended)
