"""How a run is: running, ended, stopped or killed; read from its directory, in which nothing is changed.

A run goes on as long as somebody holds its lock: the kernel lets go of it however that process ends.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .exits import EXIT_BUG, Refused
from .files import read_plain
from .identity import read_boot_id, read_pid_start
from .journal import JOURNAL_NAME, LOCK_NAME, is_alive, read_journal
from .plan_format import PLAN_FORMAT
from .progress import PROGRESS_NAME
from .sessions import Event, Session, done_cases, split_sessions
from .shell_words import shell_word

PLAN_NAME = "plan.json"
LOG_NAME = "agent.log"
SETTLE_S = 1.0  # a later start that undoes what a killed run left holds that run's lock for a moment
POLL_S = 0.02
# What a start that was killed at once leaves of a run that never began.
_BEFORE_THE_JOURNAL = {PLAN_NAME, PLAN_NAME + ".new", LOCK_NAME, LOG_NAME, PROGRESS_NAME}


class NoRun(Refused):
    """The directory holds no run."""


@dataclass(frozen=True)
class RunLook:
    """One look at a run: its plan, its journal's events and sessions, and whether it goes on."""

    run_dir: Path
    plan: dict[str, Any]
    events: list[Event]
    running: bool

    @property
    def sessions(self) -> list[Session]:
        """The sessions so far, in their order."""
        return split_sessions(self.events)

    @property
    def run_id(self) -> str:
        """The run's id, by its plan."""
        return str(self.plan["run_id"])

    @property
    def state(self) -> str:
        """``running``, ``ended`` (all was tried), ``stopped`` (by a signal or an error) or ``killed``."""
        if self.running:
            return "running"
        last = self.sessions[-1:]
        stopped_by = last[0].stopped_by if last else "killed"
        return {None: "ended", "killed": "killed"}.get(stopped_by, "stopped")

    @property
    def exit_status(self) -> int | None:
        """That of the last session; None while it runs and where it was killed."""
        if self.running or not self.sessions or self.sessions[-1].end is None:
            return None
        status = self.sessions[-1].end.get("exit_status")
        return status if isinstance(status, int) and 0 <= status <= 255 else EXIT_BUG

    def pid(self) -> int | None:
        """The process of the last session, where it lives and can be seen from here."""
        return process_of(self.sessions[-1]) if self.running and self.sessions else None

    def document(self) -> dict[str, Any]:
        """What ``status`` prints."""
        suite = self.plan.get("suite")
        cases = [case for case in self.plan["cases"] if isinstance(case, dict) and not case.get("skip")]
        return {
            "run_id": self.run_id,
            "suite": suite.get("name") if isinstance(suite, dict) else None,
            "state": self.state,
            "exit_status": self.exit_status,
            "started_at": self.sessions[0].start.get("at") if self.sessions else None,
            "sessions": len(self.sessions),
            "cases_done": len(done_cases(self.events)),
            "cases_total": len(cases),
            "pid": self.pid(),
            "resumable": self.state in ("stopped", "killed"),
            "run_dir": os.path.abspath(self.run_dir),  # noqa: PTH100 - resolve() would follow links
        }


def look(run_dir: Path) -> RunLook:
    """How the run in ``run_dir`` is now. Raises NoRun, or Refused where the directory is damaged."""
    plan = _read_plan(run_dir)
    deadline = time.monotonic() + SETTLE_S
    while True:
        # A journal that was read while the lock changed hands may lack its last line.
        before, events, after = _is_locked(run_dir), read_journal(run_dir), _is_locked(run_dir)
        sessions = split_sessions(events)
        is_sure = before == after and (not after or not sessions or process_of(sessions[-1]) is not None)
        if is_sure or time.monotonic() > deadline:
            return RunLook(run_dir, plan, events, after)
        time.sleep(POLL_S)


def process_of(session: Session) -> int | None:
    """The PID of a session's process if that still lives: in this boot, and not another one with its number."""
    pid, pid_start = session.start.get("pid"), session.start.get("pid_start")
    if not isinstance(pid, int) or not isinstance(pid_start, int) or session.start.get("boot_id") != read_boot_id():
        return None
    return pid if read_pid_start(pid) == pid_start else None


def print_status(found: RunLook) -> int:
    """Print the status document; 0."""
    print(json.dumps(found.document()), flush=True)
    return 0


def _is_locked(run_dir: Path) -> bool:
    lock = run_dir / LOCK_NAME
    if lock.exists() and not os.access(str(lock), os.R_OK):  # another user's: then it is the process that counts
        sessions = split_sessions(read_journal(run_dir))
        return bool(sessions) and process_of(sessions[-1]) is not None
    return is_alive(run_dir)


def _read_plan(run_dir: Path) -> dict[str, Any]:
    shown = shell_word(str(run_dir))
    try:
        text = read_plain(run_dir / PLAN_NAME)
    except (FileNotFoundError, NotADirectoryError):
        raise NoRun(f"There is no run in {shown}.") from None
    except OSError as error:
        raise Refused(f"The run in {shown} can't be read: {error.strerror}.") from None
    try:
        plan = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Refused(f"The run in {shown} is damaged: its plan.json is no JSON.") from None
    parts = [plan.get(name) for name in ("format", "run_id", "cases")] if isinstance(plan, dict) else []
    if parts[:1] != [PLAN_FORMAT] or not isinstance(parts[1], str) or not isinstance(parts[2], list):
        raise NoRun(f"There is no run in {shown}: its plan.json is no plan.")
    # A plan may lie anywhere, a home directory too; only a run's directory has a journal, or nothing else in it.
    if not (run_dir / JOURNAL_NAME).exists() and not _BEFORE_THE_JOURNAL.issuperset(os.listdir(str(run_dir))):  # noqa: PTH208 - only names are wanted
        raise NoRun(f"There is no run in {shown}: it has a plan and no journal.")
    found: dict[str, Any] = plan
    return found
