"""Several machines in one go: plan on all, measure side by side or one after the other, and let none stop another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rerig import rerun
from rerig.errors import UserError
from rerig.remote.agent import RemoteAgent
from rerig.rerun import Finished, Planned, Request
from rerig.runner import LocalAgent
from rerig.side_by_side import Interrupted, SideBySide, Work, run_side_by_side
from rerig.signals import STOPPING, handling

Event = dict[str, Any]
Machine = LocalAgent | RemoteAgent
Answer = Finished | UserError
Group = SideBySide[Machine, Finished]


@dataclass
class Plans:
    """The plans of the machines that can measure, and why the others can't, by name."""

    planned: dict[str, Planned] = field(default_factory=dict)
    failures: dict[str, UserError] = field(default_factory=dict)


@dataclass
class Ended:
    """How each machine's run ended. ``going_on``: a sentence about each that was left alone when ``signal`` came."""

    finished: dict[str, Answer] = field(default_factory=dict)
    going_on: list[str] = field(default_factory=list)
    signal: int | None = None


def plan_all(machines: dict[str, Machine], request: Request) -> Plans:
    """Look at every machine at once and expand the suite for each."""
    plans = Plans()
    for name, answer in run_side_by_side(machines, lambda agent: rerun.make_plan(agent, request)).items():
        if isinstance(answer, UserError):
            plans.failures[name] = answer
        else:
            plans.planned[name] = answer
    return plans


def shared_server_sentence(planned: dict[str, Planned]) -> str | None:
    """The warning about machines that would share a server while they measure it."""
    sharing = [
        name
        for name, plan in planned.items()
        if any(plan.servers & other.servers for others_name, other in planned.items() if others_name != name)
    ]
    if not sharing:
        return None
    return (
        f"{', '.join(sharing[:-1])} and {sharing[-1]} read from the same server, and side by side they share its "
        "speed: --serial measures one after the other."
    )


def measure_all(
    machines: dict[str, Machine],
    work: Work[Machine, Finished],
    on_event: Callable[[str, Event], None],
    on_end: Callable[[str, Answer], None],
    serial: bool = False,
) -> Ended:
    """``work`` on every machine; its events and its end are shown by ``on_event`` and ``on_end`` in this thread.

    After Ctrl-C, SIGTERM or SIGHUP the agent of this machine is stopped and waited for; runs on others go on.
    """
    group = Group(machines, work, on_event, on_end)
    ended = Ended()
    with handling(STOPPING, lambda number, _frame: group.interrupt(number)):
        try:
            group.run(serial)
        except Interrupted as stop:
            ended.signal = stop.number
            _stop_here(group, machines, stop.number)
            others = [agent.going_on() for agent in machines.values() if isinstance(agent, RemoteAgent)]
            ended.going_on = [sentence for sentence in others if sentence is not None]
    ended.finished = {name: group.answers[name] for name in machines if name in group.answers}
    return ended


def _stop_here(group: Group, machines: dict[str, Machine], number: int) -> None:
    """Stop what measures on this machine and wait for its end, however often a signal comes."""
    working = group.started - group.answers.keys()
    here = {name: agent for name, agent in machines.items() if isinstance(agent, LocalAgent) and name in working}
    while True:
        for agent in here.values():
            agent.interrupt(number)
        try:
            group.wait_for(set(here))
            group.take_the_rest()
        except Interrupted as again:
            number = again.number
        else:
            return


def worst_status(ended: Ended, failures: dict[str, UserError]) -> int:
    """The exit status of all together: of a signal, else the largest."""
    if ended.signal is not None:
        return 128 + ended.signal
    answers = [*failures.values(), *ended.finished.values()]
    statuses = [answer.exit_status if isinstance(answer, UserError) else answer.status for answer in answers]
    return max(statuses, default=0)
