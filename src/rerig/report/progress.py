"""Progress of runs on stderr: a bar a machine with the time that is left where there is a terminal, else lines."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rerig import estimate
from rerig.sizes import format_bytes, format_seconds
from rerig.text import bounded, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

REFRESHES_PER_S = 2  # what draws the bar may be the machine that is measured
SENTENCES = ("target-refused", "case-failed", "undone", "undo-left", "scratch-left")
LONGEST_SENTENCE = 400


class Display(AbstractContextManager["Display"]):
    """stderr, where all machines' progress goes; on a terminal as bars, unless ``quiet``."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.bars: Progress | None = None

    def __enter__(self) -> Display:
        if not self.quiet and sys.stderr.isatty():
            self.bars = _bars()
            self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bars is not None:
            self.bars.stop()

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        if self.bars is not None:
            self.bars.console.print(text, markup=False, highlight=False)
            return
        try:
            print(text, file=sys.stderr, flush=True)
        except OSError:
            # Nobody reads it, and the measurement goes on; Python's last flush must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    def observer(self, plan: dict[str, Any], machine: str = "") -> Observer:
        """An observer for one run of ``plan``; ``machine`` is named where there are several."""
        return Observer(self, plan, machine)


class Observer:
    """Turns one agent's events into progress; :meth:`on_event` gets one event at a time.

    Events may come again (a run that is followed from its beginning, or resumed) and may be of any shape: they come
    from another machine.
    """

    def __init__(self, display: Display, plan: dict[str, Any], machine: str) -> None:
        self._display = display
        self._prefix = f"{printable(machine)}: " if machine else ""
        self._cases, self._targets, self._total_s = _read(plan)
        self._done: dict[tuple[str, Any], float] = {}
        self._bar: TaskID | None = None
        self._announced: set[str] = set()
        if display.bars is not None:
            self._bar = display.bars.add_task(self._prefix + "starting", total=self._total_s)

    def skip(self, cases: set[str]) -> None:
        """These cases are done and will not be told of."""
        for case_id in cases & self._cases.keys():
            case = self._cases[case_id]
            self._done.update({(case_id, repeat["number"]): case["estimate_s"] for repeat in case["repeats"]})
        self._move(0)

    def on_event(self, event: dict[str, Any]) -> None:
        """Show one event; sentences about what went wrong are printed even when quiet."""
        try:
            self._show(event)
        except (KeyError, TypeError, ValueError):
            return  # of another version of the agent, or of no agent at all

    def end(self, failed: bool = False) -> None:
        """The machine has nothing more to tell: its run is here, or ``failed`` to come."""
        self._describe("failed" if failed else "done")

    def _show(self, event: dict[str, Any]) -> None:
        name = event["event"]
        if name == "target-refused" and event["target"] not in self._targets:
            return  # it was refused, and that was said, before the run
        if name in SENTENCES:
            self._display.say(self._prefix + bounded(printable(str(event["sentence"])), LONGEST_SENTENCE))
        elif self._display.quiet:
            return
        elif name == "scratch":
            self._describe(f"writing the scratch file, {format_bytes(event['bytes'])}/{format_bytes(event['total'])}")
        elif name == "repeat-start":
            self._start_repeat(event)
        elif name == "tick":
            self._move(min(event["elapsed_s"], self._cases[event["case"]]["estimate_s"]))
        elif name == "repeat-done":
            self._done[event["case"], event["number"]] = self._cases[event["case"]]["estimate_s"]
            self._move(0)

    def _start_repeat(self, event: dict[str, Any]) -> None:
        case = self._cases[event["case"]]
        if self._bar is not None:
            self._describe(f"{case['id']}  {int(event['number'])}/{len(case['repeats'])}")
        elif case["id"] not in self._announced:
            self._announced.add(case["id"])
            words = f"{case['id']}: {len(case['repeats'])} × about {format_seconds(case['estimate_s'])}"
            self._display.say(self._prefix + words)

    def _describe(self, text: str) -> None:
        if self._display.bars is not None and self._bar is not None:
            self._display.bars.update(self._bar, description=self._prefix + text)

    def _move(self, elapsed_s: float) -> None:
        if self._display.bars is not None and self._bar is not None:
            self._display.bars.update(self._bar, completed=sum(self._done.values()) + elapsed_s)


def _read(plan: dict[str, Any]) -> tuple[dict[str, Any], set[str], float]:
    """Cases by id, targets, and seconds; nothing of a plan that is none."""
    try:
        cases = {case["id"]: case for case in plan["cases"]}
        return cases, {case["target"] for case in plan["cases"]}, estimate.plan_seconds(plan)
    except (KeyError, TypeError, ValueError):
        return {}, set(), 0.0


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        refresh_per_second=REFRESHES_PER_S,
    )
