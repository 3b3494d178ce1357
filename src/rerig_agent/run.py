"""The case loop: a journalled program on the target side that can be stopped at any moment without losing a repeat."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Callable

from . import VERSION, conditions, sessions
from .cases import power_budget
from .child import StopFlag, Stopped
from .exits import EXIT_BUG, EXIT_IO_ERROR
from .files import sync_directory, write_json
from .guard import Emit, Guard
from .identity import own_archive_sha256, read_boot_id, read_pid_start
from .journal import Journal, read_journal
from .knobs import KnobError
from .power import run_power_repeat
from .prepared import PreparedTarget, prepare_target, reread_file
from .repeat import run_repeat
from .scratch import ScratchError
from .tools import probe_tools
from .undo import is_trusted, pending, undo_killed_runs, undo_pending


class RunRefused(Exception):
    """The run directory holds a run that can't be begun, or not be resumed; the message is one sentence."""


class Run:
    """One session of one plan's run in one directory; ``resume``: go on with what is there.

    :meth:`execute` gives the exit status. The run's lock is held from here on. Raises RunRefused where the directory
    holds a run already (or, to resume, a complete one), OSError where the journal is another agent's or can't be
    written. ``root`` stands for the machine's in paths of /sys that are set.
    """

    def __init__(
        self,
        plan: dict[str, Any],
        run_dir: Path,
        stop: StopFlag,
        emit: Emit,
        resume: bool = False,
        root: Path = Path("/"),
    ) -> None:
        self._plan = plan
        self._dir = run_dir
        self._stop = stop
        self._emit = emit
        self._root = root
        self._journal = Journal(run_dir)
        try:
            self._events = read_journal(run_dir)
            _check_state(plan, self._events, resume)
        except BaseException:
            self._journal.close()
            raise
        self._guard = Guard(self._journal, emit, root)
        self._session = len(sessions.split_sessions(self._events)) + 1
        self._done = sessions.done_cases(self._events)
        self._targets: dict[str, PreparedTarget] = {}
        self._measured = sessions.measured_repeats(self._events)

    def close(self) -> None:
        """Let go of the lock without a session: another process that has inherited it keeps it."""
        self._journal.close()

    def execute(self) -> int:
        """Run all cases that are not done. 0: something of the run is measured; 1: nothing is; 128 + n: stopped by
        signal n. An OSError (the disk is full, say) is journalled where that can be, and raised.
        """
        with contextlib.closing(self._journal):
            self._undo_earlier_runs()
            self._begin()
            return self._measure()

    def _undo_earlier_runs(self) -> None:
        found = pending(self._events)
        if found and not is_trusted(self._dir):
            sentence = "others may write the run's journal, so nothing that it names is undone: look for {}".format(
                ", ".join(sorted({Path(entry["path"]).name for entry in found}))
            )
            self._emit("undo-left", run=self._dir.name, sentence=sentence)
        elif found:
            for undone in undo_pending(self._journal, self._dir, self._root):
                self._emit("undone", run=self._dir.name, sentence=undone.sentence)
        for undone in undo_killed_runs(self._dir.parent, self._root):
            self._emit("undone", run=undone.run_dir.name, sentence=undone.sentence)

    def _begin(self) -> None:
        sync_directory(self._dir)  # the plan and the journal by their names
        self._journal.append(
            "run-start",
            run_id=self._plan["run_id"],
            session=self._session,
            agent_version=VERSION,
            agent_sha256=own_archive_sha256(),
            pid=os.getpid(),
            pid_start=read_pid_start(os.getpid()),
            boot_id=read_boot_id(),
            tools=probe_tools(),
        )

    def _measure(self) -> int:
        stopped_by: str | None = "error"
        status = EXIT_BUG
        try:
            self._set_aside()
            with contextlib.ExitStack() as held:
                self._prepare(held)
                self._run_cases()
            stopped_by, status = None, 0 if self._measured else 1
        except Stopped as stopped:
            stopped_by, status = "signal", 128 + stopped.signal_number
        except OSError:
            status = EXIT_IO_ERROR
            raise
        finally:
            self._finish(stopped_by, status)
        return status

    def _set_aside(self) -> None:
        """Move what is left of cases that were begun and not done: they are measured anew, as a whole."""
        for case in self._plan["cases"]:
            left = self._dir / "cases" / case["id"]
            if case["id"] in self._done or not left.is_dir():
                continue
            place = Path("unfinished") / str(sessions.left_by(self._events, case["id"])) / case["id"]
            self._journal.append("case-set-aside", case=case["id"], to=place.as_posix())
            (self._dir / place).parent.mkdir(parents=True, exist_ok=True)
            left.rename(self._dir / place)

    def _prepare(self, held: contextlib.ExitStack) -> None:
        evidence: dict[str, Any] = {}
        for target in self._plan["targets"]:
            if "scratch" in target and self._is_done(target["id"]):
                continue  # to write it again would be for nothing
            prepared = prepare_target(target, self._plan["run_id"], self._guard, held, self._stop, self._emit)
            self._targets[target["id"]] = prepared
            evidence[target["id"]] = prepared.evidence
            write_json(self._own_file("targets.json"), evidence)
            if prepared.refusal is not None:
                self._refuse(target["id"], prepared.refusal)
        write_json(self._own_file("conditions-before.json"), conditions.collect())

    def _is_done(self, target_id: str) -> bool:
        ids = [case["id"] for case in self._plan["cases"] if case["target"] == target_id]
        return bool(ids) and all(case_id in self._done for case_id in ids)

    def _refuse(self, target_id: str, refusal: dict[str, str]) -> None:
        self._journal.append("target-refused", target=target_id, **refusal)
        self._emit("target-refused", target=target_id, sentence=refusal["sentence"])

    def _own_file(self, name: str) -> Path:
        return self._dir / sessions.session_file(name, self._session)

    def _run_cases(self) -> None:
        for case in self._plan["cases"]:
            self._stop.check()
            if case["id"] in self._done:
                continue
            target = self._targets[case["target"]]
            reason = case.get("skip") or target.refusal
            if reason is not None:
                self._journal.append("case-skipped", case=case["id"], **reason)
                self._emit("case-skipped", case=case["id"], sentence=reason["sentence"])
                continue
            self._journal.append("case-start", case=case["id"])
            try:
                self._run_case(case, target)
            except (ScratchError, KnobError) as error:
                code = "knob_failed" if isinstance(error, KnobError) else "scratch_failed"
                self._journal.append("case-failed", case=case["id"], code=code, sentence=str(error))
                self._emit("case-failed", case=case["id"], sentence=str(error))

    def _run_case(self, case: dict[str, Any], target: PreparedTarget) -> None:
        with contextlib.ExitStack() as held:
            measure = self._measurer(case, target, held)
            folder = self._dir / "cases" / case["id"]
            for repeat in case["repeats"]:
                self._stop.check()
                number = repeat["number"]
                self._journal.append("repeat-start", case=case["id"], number=number)
                self._emit("repeat-start", case=case["id"], number=number)
                record = measure(repeat, folder / f"r{number}")
                self._end_repeat(case, number, record, folder)
                if record["timed_out"]:
                    target.refusal = target.hung(record["unkillable"])
                    self._refuse(case["target"], target.refusal)
                    if repeat is not case["repeats"][-1]:
                        return
            sync_directory(folder)
            sync_directory(folder.parent)
            self._journal.append("case-done", case=case["id"])

    def _measurer(
        self, case: dict[str, Any], target: PreparedTarget, held: contextlib.ExitStack
    ) -> Callable[[dict[str, Any], Path], dict[str, Any]]:
        """What measures one repeat into a folder and gives its record."""

        def ticker(repeat: dict[str, Any]) -> Callable[[float], None]:
            return self._ticker(case["id"], repeat["number"])

        if case["identity"]["kind"] == power_budget.KIND:
            return lambda repeat, folder: run_power_repeat(case, folder, self._stop, ticker(repeat), self._root)
        path, evidence = held.enter_context(reread_file(case, target, self._plan["run_id"], self._guard, self._stop))
        wanted = case["parameters"].get("read_ahead_kb")
        knob = None if wanted is None else held.enter_context(self._guard.read_ahead(evidence, wanted))
        return lambda repeat, folder: run_repeat(
            case, repeat, path, evidence, target.classified, folder, self._guard, knob, self._stop, ticker(repeat)
        )

    def _end_repeat(self, case: dict[str, Any], number: int, record: dict[str, Any], folder: Path) -> None:
        sync_directory(folder / f"r{number}")  # what the journal calls done must outlive a power cut
        good = record["exit_status"] == 0
        self._measured += good
        self._journal.append("repeat-done", case=case["id"], number=number, exit_status=record["exit_status"])
        self._emit("repeat-done", case=case["id"], number=number, wall_s=record["wall_s"], good=good)

    def _ticker(self, case_id: str, number: int) -> Callable[[float], None]:
        return lambda elapsed_s: self._emit("tick", case=case_id, number=number, elapsed_s=round(elapsed_s, 2))

    def _finish(self, stopped_by: str | None, status: int) -> None:
        try:
            write_json(self._own_file("conditions-after.json"), conditions.collect())
        except OSError:
            stopped_by, status = "error", EXIT_IO_ERROR
            raise
        finally:
            self._journal.append("run-end", stopped_by=stopped_by, exit_status=status, measured_repeats=self._measured)
            self._emit("run-end", stopped_by=stopped_by)


def _check_state(plan: dict[str, Any], events: list[dict[str, Any]], resume: bool) -> None:
    if resume and sessions.is_complete(events):
        raise RunRefused(f"The run {plan['run_id']} is complete; there is nothing to resume.")
    if not resume and sessions.split_sessions(events):
        raise RunRefused("The run directory holds a run already; nothing in it is overwritten.")
