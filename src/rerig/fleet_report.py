"""What a person is told of several machines: each is called by the name that the user typed, a single one by none."""

from __future__ import annotations

import sys
from typing import Any

from rerig.errors import UserError
from rerig.fleet import Answer, Ended, Machine, measure_all, shared_server_sentence, worst_status
from rerig.options import Output
from rerig.rerun import Finished, Planned
from rerig.side_by_side import Work
from rerig.text import printable


class FleetReport:
    """``names``: all machines that were asked for. Names are for the terminal, and never come into a document.

    A sentence about one of several machines is printed as soon as it is known; that of a single one is raised.
    """

    def __init__(self, names: list[str], output: Output) -> None:
        self.failures: dict[str, UserError] = {}
        self._several = len(names) > 1
        self._output = output

    def fail(self, failures: dict[str, UserError]) -> None:
        """These machines can't be worked with. Raises UserError where it is the only one."""
        self.failures.update(failures)
        for name, error in failures.items():
            if not self._several:
                raise error
            self._say(name, str(error))

    def tell_plans(self, planned: dict[str, Planned], serial: bool) -> None:
        """Say what can't be measured, and that machines would share a server."""
        for name, plan in planned.items():
            for sentence in plan.refusals:
                self._say(name, sentence)
        warning = None if serial else shared_server_sentence(planned)
        if warning is not None:
            print(warning, file=sys.stderr, flush=True)

    def tell_summaries(self, planned: dict[str, Planned]) -> None:
        """Say how long each run takes, and how much it reads."""
        from rerig.report import plans

        for name, plan in planned.items():
            if not self._output.quiet:
                self._say(name, plans.summary(plan.plan))

    def print_plans(self, machines: dict[str, Machine], planned: dict[str, Planned]) -> int:
        """Print what would be run on each; the exit status."""
        from rerig.report import plans

        if self._output.json and self._several:
            plans.print_documents([plan.plan for plan in planned.values()])
        else:
            for name, plan in planned.items():
                self._head("#", name)
                plans.print_plan(plan.plan, machines[name].commands, as_json=self._output.json)
        return worst_status(Ended(), self.failures)

    def follow(
        self,
        machines: dict[str, Machine],
        plans: dict[str, dict[str, Any]],
        work: Work[Machine, Finished],
        serial: bool,
    ) -> Ended:
        """Let ``work`` be done on every machine, with a line of progress for each."""
        from rerig.report.progress import Display

        with Display(self._output.quiet) as display:
            observers = {name: display.observer(plans[name], name if self._several else "") for name in machines}

            def on_end(name: str, answer: Answer) -> None:
                observers[name].end(failed=isinstance(answer, UserError))
                if isinstance(answer, UserError) and self._several:
                    display.say(f"{printable(name)}: {answer}")

            return measure_all(machines, work, lambda name, event: observers[name].on_event(event), on_end, serial)

    def show(self, ended: Ended) -> int:
        """Print every result, and what remains to be said; the exit status. Raises UserError about a single machine."""
        from rerig.report import results

        runs = {name: run for name, run in ended.finished.items() if isinstance(run, Finished)}
        paths = {name: run.path for name, run in runs.items() if run.path is not None}
        if self._output.json and self._several:
            results.print_documents(list(paths.values()))
        else:
            for name, path in paths.items():
                self._head("==", name)
                results.print_run(path, as_json=self._output.json, quiet=self._output.quiet)
        for name, run in runs.items():
            if run.sentence is not None:
                self._say(name, run.sentence)
        for sentence in ended.going_on:
            print(sentence, file=sys.stderr)
        for answer in ended.finished.values():
            if isinstance(answer, UserError) and not self._several:
                raise answer
        return worst_status(ended, self.failures)

    def _say(self, name: str, sentence: str) -> None:
        print(f"{printable(name)}: {sentence}" if self._several else sentence, file=sys.stderr, flush=True)

    def _head(self, mark: str, name: str) -> None:
        if self._several and not self._output.quiet:
            print(f"{mark} {printable(name)}", flush=True)
