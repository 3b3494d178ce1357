"""The runs that are known: those in a folder here, those noted to be on other machines, and what a machine lists."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.local_run import is_copy
from rerig.meeting import meet
from rerig.remote import ledger
from rerig.remote.agent import RemoteAgent
from rerig.runner import LocalAgent, local_agent
from rerig.side_by_side import run_side_by_side
from rerig.store import run_word
from rerig.text import bounded, printable

HERE = "this machine"
ELSEWHERE = "another machine"
NOT_ASKED = "not asked"
LONGEST_CELL = 80
LONGEST_COMPLAINT = 400


@dataclass(frozen=True)
class Row:
    """One run. ``word`` names it in a command; ``machine``: as the user named it; ``result``: where it is here."""

    word: str
    machine: str
    status: dict[str, Any]
    result: Path | None

    def document(self) -> dict[str, Any]:
        """For a program that reads it."""
        return {"machine": self.machine, "result": None if self.result is None else str(self.result), **self.status}

    def cells(self) -> list[str]:
        """For a person: run, machine, suite, state, cases, start, result."""
        known = self.status
        cases = f"{known['cases_done']}/{known['cases_total']}" if "cases_total" in known else ""
        texts = [self.word, self.machine, known.get("suite"), known["state"], cases, known.get("started_at")]
        texts.append("" if self.result is None else str(self.result))
        return ["" if text is None else bounded(printable(str(text)), LONGEST_CELL) for text in texts]


def show_runs(hosts: list[Host], out: Path, as_json: bool) -> int:
    """Print the runs on these machines (none: those that are known here); the worst exit status.

    A machine that fails hides no other. Raises UserError about a single one.
    """
    with local_agent() as local, contextlib.closing(meet(hosts, local, {host.name: out for host in hosts})) as met:
        machines = met.machines if hosts else {HERE: local}
        answers = {**met.failures, **run_side_by_side(machines, lambda machine: _list(machine, out))}
    rows, status = [], 0
    for name in [host.name for host in hosts] or [HERE]:
        answer = answers[name]
        if not isinstance(answer, UserError):
            rows += answer[0]
            _complain("" if name == HERE else name, answer[1])
        elif len(hosts) > 1:
            _complain(name, str(answer))
            status = max(status, answer.exit_status)
        else:
            raise answer
    _print(rows, out, as_json)
    return status


def list_here(agent: LocalAgent, out: Path) -> tuple[list[Row], str]:
    """What is in ``out`` or noted there, without asking other machines; and what the agent complained of.

    Of a run on another machine the state is that of its copy here, as it was when it was brought home.
    """
    noted = dict(ledger.read_entries(out))
    documents, complaint = agent.list_runs(out)
    rows = []
    for status in documents:
        run_dir = out / Path(status["run_dir"]).name
        entry = noted.pop(run_dir.name, None)
        machine = entry.name if entry else ELSEWHERE if is_copy(run_dir) else HERE
        rows.append(Row(run_word(run_dir), machine, status, _result(run_dir)))
    for run_id, entry in noted.items():
        rows.append(Row(run_word(out / run_id), entry.name, {"run_id": run_id, "state": NOT_ASKED}, None))
    return sorted(rows, key=lambda row: str(row.status["run_id"])), complaint


def list_there(machine: RemoteAgent, out: Path) -> tuple[list[Row], str]:
    """What is on another machine, and what the agent there complained of. Raises UserError."""
    documents, complaint = machine.list_runs()
    return [_row_there(machine.host.name, status, out) for status in documents], complaint


def _list(machine: LocalAgent | RemoteAgent, out: Path) -> tuple[list[Row], str]:
    return list_here(machine, out) if isinstance(machine, LocalAgent) else list_there(machine, out)


def _complain(name: str, complaint: str) -> None:
    for line in complaint.splitlines():
        sentence = bounded(printable(line.removeprefix("rerig-agent: ")), LONGEST_COMPLAINT)
        print(f"{printable(name)}: {sentence}" if name else sentence, file=sys.stderr, flush=True)


def _print(rows: list[Row], out: Path, as_json: bool) -> None:
    from rerig.report.run_table import print_runs

    if as_json:
        print(json.dumps([row.document() for row in rows], indent=2))
    elif rows:
        print_runs([row.cells() for row in rows])
    else:
        print(f"There are no runs in {printable(str(out))} or on the machines that were asked: ./inv rerun makes one.")


def _row_there(name: str, status: dict[str, Any], out: Path) -> Row:
    run_id = status["run_id"]
    is_sound = ledger.RUN_ID.fullmatch(run_id) is not None
    known = {"state": "unknown", **status}
    return Row(run_word(out / run_id) if is_sound else run_id, name, known, _result(out / run_id) if is_sound else None)


def _result(run_dir: Path) -> Path | None:
    path = run_dir / "result.json"
    return path if path.is_file() else None
