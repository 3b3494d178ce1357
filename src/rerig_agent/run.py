"""The case loop: a journalled program on the target side that can be stopped at any moment without losing a repeat."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable

from . import VERSION, conditions
from .child import StopFlag, Stopped
from .files import write_json
from .journal import Journal, undo_left_behind
from .prepared import Emit, PreparedTarget, prepare_target, reread_file
from .repeat import run_repeat
from .scratch import ScratchError
from .tools import probe_tools


class Run:
    """One run of one plan in one directory. :meth:`execute` gives the exit status."""

    def __init__(self, plan: dict[str, Any], run_dir: Path, stop: StopFlag, emit: Emit) -> None:
        self._plan = plan
        self._dir = run_dir
        self._stop = stop
        self._emit = emit
        self._journal = Journal(run_dir)
        self._targets: dict[str, PreparedTarget] = {}
        self._measured = 0

    def execute(self) -> int:
        """Run all cases. 0: something was measured; 1: nothing was; 128 + n: stopped by signal n."""
        stopped_by, status = None, 0
        self._undo_earlier_runs()
        self._journal.append(
            "run-start",
            run_id=self._plan["run_id"],
            agent_version=VERSION,
            pid=os.getpid(),
            tools=probe_tools(),
        )
        try:
            self._prepare()
            self._run_cases()
            status = 0 if self._measured else 1
        except Stopped as stopped:
            stopped_by, status = "signal", 128 + stopped.signal_number
        except BaseException:
            stopped_by = "error"
            raise
        finally:
            self._finish(stopped_by)
        return status

    def _undo_earlier_runs(self) -> None:
        for run_dir, _path in undo_left_behind(self._dir.parent):
            self._emit("undone", run=run_dir.name, sentence="removed the scratch file that a killed run had left")

    def _prepare(self) -> None:
        evidence: dict[str, Any] = {}
        for target in self._plan["targets"]:
            prepared = prepare_target(target, self._plan["run_id"], self._journal, self._stop, self._emit)
            self._targets[target["id"]] = prepared
            evidence[target["id"]] = prepared.evidence
            write_json(self._dir / "targets.json", evidence)
            if prepared.refusal is not None:
                self._journal.append("target-refused", target=target["id"], **prepared.refusal)
                self._emit("target-refused", target=target["id"], sentence=prepared.refusal["sentence"])
        write_json(self._dir / "conditions-before.json", conditions.collect())

    def _run_cases(self) -> None:
        for case in self._plan["cases"]:
            self._stop.check()
            target = self._targets[case["target"]]
            reason = case.get("skip") or target.refusal
            if reason is not None:
                self._journal.append("case-skipped", case=case["id"], **reason)
                self._emit("case-skipped", case=case["id"], sentence=reason["sentence"])
                continue
            try:
                with reread_file(case, target, self._plan["run_id"], self._journal, self._stop, self._emit) as (
                    path,
                    evidence,
                ):
                    self._run_repeats(case, target, path, evidence)
            except ScratchError as error:
                self._journal.append("case-failed", case=case["id"], code="scratch_failed", sentence=str(error))
                self._emit("case-failed", case=case["id"], sentence=str(error))

    def _run_repeats(self, case: dict[str, Any], target: PreparedTarget, path: str, evidence: dict[str, Any]) -> None:
        for repeat in case["repeats"]:
            self._stop.check()
            number = repeat["number"]
            self._journal.append("repeat-start", case=case["id"], number=number)
            self._emit("repeat-start", case=case["id"], number=number)
            record = run_repeat(
                case,
                repeat,
                path,
                evidence,
                target.classified,
                self._dir / "cases" / case["id"] / f"r{number}",
                self._stop,
                self._ticker(case["id"], number),
            )
            good = record["exit_status"] == 0
            self._measured += good
            self._journal.append("repeat-done", case=case["id"], number=number, exit_status=record["exit_status"])
            self._emit("repeat-done", case=case["id"], number=number, wall_s=record["wall_s"], good=good)
            if record["timed_out"]:
                target.refusal = target.hung(record["unkillable"])
                self._journal.append("target-refused", target=case["target"], **target.refusal)
                self._emit("target-refused", target=case["target"], sentence=target.refusal["sentence"])
                return

    def _ticker(self, case_id: str, number: int) -> Callable[[float], None]:
        return lambda elapsed_s: self._emit("tick", case=case_id, number=number, elapsed_s=round(elapsed_s, 2))

    def _finish(self, stopped_by: str | None) -> None:
        for target in self._targets.values():
            target.remove_scratch(self._journal, self._emit)
        try:
            write_json(self._dir / "conditions-after.json", conditions.collect())
        finally:
            self._journal.append("run-end", stopped_by=stopped_by, measured_repeats=self._measured)
            self._journal.close()
            self._emit("run-end", stopped_by=stopped_by)
