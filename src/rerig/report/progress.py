"""Progress of a run on stderr: a bar with the time that is left where there is a terminal, else one line a case."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rerig import estimate
from rerig.sizes import format_bytes, format_seconds

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Observer(AbstractContextManager["Observer"]):
    """Turns the agent's events into progress; :meth:`on_event` gets one event at a time."""

    def __init__(self, plan: dict[str, Any], quiet: bool) -> None:
        self._cases = {case["id"]: case for case in plan["cases"]}
        self._targets = {case["target"] for case in plan["cases"]}
        self._total_s = estimate.plan_seconds(plan)
        self._left_s = self._total_s
        self._quiet = quiet
        self._progress: Progress | None = None
        self._bar: TaskID | None = None
        self._announced: set[str] = set()

    def __enter__(self) -> Observer:
        if not self._quiet and sys.stderr.isatty():
            self._progress = _bar()
            self._bar = self._progress.add_task("starting", total=self._total_s)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def on_event(self, event: dict[str, Any]) -> None:
        """Show one event; sentences about what went wrong are printed even when quiet."""
        name = event["event"]
        if name == "target-refused" and event["target"] not in self._targets:
            return  # it was refused, and that was said, before the run
        if name in ("target-refused", "case-failed", "undone", "scratch-left"):
            self._say(event["sentence"])
        elif self._quiet:
            return
        elif name == "scratch":
            self._describe(f"writing the scratch file, {format_bytes(event['bytes'])}/{format_bytes(event['total'])}")
        elif name == "repeat-start":
            self._start_repeat(event)
        elif name == "tick":
            self._move(min(event["elapsed_s"], self._cases[event["case"]]["estimate_s"]))
        elif name == "repeat-done":
            self._left_s -= self._cases[event["case"]]["estimate_s"]
            self._move(0)

    def _start_repeat(self, event: dict[str, Any]) -> None:
        case = self._cases[event["case"]]
        text = f"{event['case']}  {event['number']}/{len(case['repeats'])}"
        if self._progress is not None:
            self._describe(text)
        elif event["case"] not in self._announced:
            self._announced.add(event["case"])
            self._say(f"{event['case']}: {len(case['repeats'])} × about {format_seconds(case['estimate_s'])}")

    def _describe(self, text: str) -> None:
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, description=text)

    def _move(self, elapsed_s: float) -> None:
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, completed=self._total_s - self._left_s + elapsed_s)

    def _say(self, text: str) -> None:
        if self._progress is not None:
            self._progress.console.print(text, markup=False, highlight=False)
        else:
            try:
                print(text, file=sys.stderr, flush=True)
            except OSError:
                # Nobody reads it, and the measurement goes on; Python's last flush must not fail again.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def observer(plan: dict[str, Any], quiet: bool) -> Observer:
    """An observer for one run of ``plan``."""
    return Observer(plan, quiet)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
