"""The agent on another machine: the verbs of the local one, over a connection that may be lost at any moment."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.outcome import KILLED, Outcome
from rerig.remote import archive, ledger
from rerig.remote.call import Answer
from rerig.remote.far_end import ENDED_BY_SIGNAL, FarEnd, GivenUp
from rerig.remote.steady import SteadyShell
from rerig.text import printable
from rerig.zipapp import Agent

PROBE_LIMIT_S = 120.0
START_LIMIT_S = 120.0
STOP_LIMIT_S = 120.0  # the agent itself waits for 60 s
CLEAN_LIMIT_S = 300.0

OnEvent = Callable[[dict[str, Any]], None]


class RemoteAgent:
    """The agent ``built`` here, on ``host``; ``out`` is where the runs are kept here.

    Nothing is connected before the first verb. Every verb raises UserError, and none leaves a run without an entry in
    the ledger. ``began`` is the run that goes on there when this process ends.
    """

    def __init__(self, host: Host, shell: SteadyShell, built: Agent, out: Path) -> None:
        self.host = host
        self.began: str | None = None
        self._end = FarEnd(host, shell, built)
        self._out = out

    def identity(self) -> dict[str, str]:
        """What a plan says about the agent that is to run it."""
        return {"version": self._end.built["version"], "sha256": self._end.built["sha256"]}

    def target_path(self, path: str) -> str:
        """A file of that machine, which must be named absolutely."""
        if not path.startswith("/"):
            raise UserError(
                f"{printable(path)} must be an absolute path, since it lies on another machine "
                "(quote a ~ or a * and it means nothing there).",
                2,
            )
        return path

    def scratch_directory(self, directory: str | None) -> str:
        """Where a scratch file goes: by default beside the agent."""
        return self._end.look().state_dir if directory is None else self.target_path(directory)

    def probe(self, paths: list[str], scratch_directory: str | None) -> dict[str, Any]:
        """The agent's report on the tools, the given files, and the directory of the scratch file."""
        words = ["probe", *("--path=" + path for path in paths)]
        words += [] if scratch_directory is None else ["--scratch=" + scratch_directory]
        report: dict[str, Any] = self._end.ask(words, limit_s=PROBE_LIMIT_S * (1 + len(paths))).json()
        return report

    def commands(self, plan: dict[str, Any]) -> list[str]:
        """Every command line that the plan would run, quoted for a shell."""
        lines: list[str] = self._end.ask(["commands", "--plan", "-", "--json"], _plan_bytes(plan)).json()
        return lines

    def run(self, plan: dict[str, Any], run_dir: Path, on_event: OnEvent) -> Outcome:
        """Start the plan there, follow it and bring the run home to ``run_dir``; reconnects as long as that helps.

        The agent is on its own once it is started: where the connection is lost for good, UserError says how to get
        the run home later.
        """
        there = f"{self._end.look().state_dir}/runs/{run_dir.name}"
        ledger.write_entry(self._out, run_dir.name, ledger.entry_of(self.host, there))
        with self._going_on(run_dir.name):
            answer = self._end.say(["start", "--plan", "-", "--run-dir", there], _plan_bytes(plan), START_LIMIT_S)
            if answer.status:
                self.began = None
                if not self._is_run(there):
                    ledger.remove_entry(self._out, run_dir.name)
                raise self._end.failure(answer)
            return self._accompany(there, run_dir, on_event)

    def resume(self, run_dir: Path, on_event: OnEvent) -> Outcome:
        """Go on with a run that was stopped or killed there; otherwise as ``run``."""
        there = self._find(run_dir.name)
        with self._going_on(run_dir.name):
            answer = self._end.say(["start", "--resume", "--run-dir", there], limit_s=START_LIMIT_S)
            if answer.status:
                self.began = None
                raise self._end.failure(answer)
            return self._accompany(there, run_dir, on_event)

    def attach(self, run_dir: Path, on_event: OnEvent) -> Outcome:
        """Follow a run that was started earlier, from its beginning, and bring it home when it has ended."""
        there = self._find(run_dir.name)
        with self._going_on(run_dir.name):
            return self._accompany(there, run_dir, on_event)

    def plan_of(self, run_id: str) -> dict[str, Any]:
        """The plan of a run that is there."""
        with self._packed(self._find(run_id)) as file:
            return archive.read_plan(file)

    def fetch(self, run_dir: Path) -> None:
        """Bring home what there is of a run; an earlier copy is replaced by a whole one only."""
        self._fetch(self._find(run_dir.name), run_dir)

    def list_runs(self) -> tuple[list[dict[str, Any]], str]:
        """The status documents of all runs there, and what the agent complained of."""
        directories = self._end.look().runs_dirs
        if not directories:
            return [], ""
        answer = self._end.say(["list", "--json", *directories])
        if not answer.stdout:
            raise self._end.failure(answer)
        return answer.json(), answer.stderr.decode("utf-8", "replace").strip()

    def stop(self, run_id: str) -> dict[str, Any]:
        """Stop a run, which keeps what it has; its status document."""
        document: dict[str, Any] = self._end.ask(["stop", self._find(run_id)], limit_s=STOP_LIMIT_S).json()
        return document

    def clean(self, run_ids: list[str]) -> None:
        """Remove runs there, and what they left; never one that goes on."""
        there = [self._find(run_id) for run_id in run_ids]
        if not there:
            return
        answer = self._end.say(["clean", *there], limit_s=CLEAN_LIMIT_S)
        gone = {document["run_id"] for document in self.list_runs()[0]}.isdisjoint(run_ids)
        if answer.status and not gone:
            raise self._end.failure(answer)
        for run_id in run_ids:
            ledger.remove_entry(self._out, run_id)

    def _accompany(self, there: str, run_dir: Path, on_event: OnEvent) -> Outcome:
        answer = self._follow(there, on_event)
        self._fetch(there, run_dir)
        self.began = None
        if answer.status in (0, 1) or answer.status > ENDED_BY_SIGNAL:
            return Outcome(answer.status)
        more = f"What it had measured is kept: {self._again('--resume', run_dir.name)} continues it."
        said = answer.last_line()
        if answer.status == KILLED:
            return Outcome(KILLED, f"The agent on {printable(self.host.name)} was killed. {said} {more}")
        return Outcome(1, f"The agent on {printable(self.host.name)} failed. {said} {more}")

    def _follow(self, there: str, on_event: OnEvent) -> Answer:
        seen = 0

        def on_line(line: bytes) -> None:
            nonlocal seen
            self._end.heard()
            event = _event(line)
            if event is not None and event["event"] == "alive":
                return
            seen += 1
            if event is not None:
                on_event(event)

        while True:
            answer = self._end.do(
                lambda call, shell: call.stream(
                    shell, ["follow", there, "--skip", str(seen), "--progress", "json"], on_line
                )
            )
            if answer.status <= ENDED_BY_SIGNAL or not self._is_running(there):
                return answer  # otherwise it was the follower that somebody stopped

    def _is_running(self, there: str) -> bool:
        answer = self._end.say(["status", there])
        return answer.status == 0 and answer.json().get("state") == "running"

    def _is_run(self, there: str) -> bool:
        return self._end.say(["status", there]).status == 0

    def _fetch(self, there: str, run_dir: Path) -> None:
        with self._packed(there) as file:
            try:
                archive.unpack(file, run_dir)
            except UserError as error:
                raise UserError(f"{error} {self._kept(run_dir.name)}") from error

    @contextmanager
    def _packed(self, there: str) -> Iterator[BinaryIO]:
        try:
            self._out.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._out, prefix=".rerig-") as file:
                answer = self._end.do(lambda call, shell: call.save(shell, ["pack", there], file))
                if answer.status:
                    raise self._end.failure(answer)
                yield file
        except OSError as error:
            kept = self._kept(there.rpartition("/")[2])
            raise UserError(f"The run can't be written to {self._out}: {error.strerror}. {kept}") from error

    def _find(self, run_id: str) -> str:
        """The run's directory there: by the ledger, where that names this machine, else by looking."""
        entry = ledger.read_entry(self._out, run_id)
        if entry is not None and entry.host() == self.host:
            return entry.run_dir
        for document in self.list_runs()[0]:
            if document.get("run_id") == run_id:
                there = str(document["run_dir"])
                ledger.write_entry(self._out, run_id, ledger.entry_of(self.host, there))
                return there
        raise UserError(f"There is no run {run_id} on {printable(self.host.name)}.")

    @contextmanager
    def _going_on(self, run_id: str) -> Iterator[None]:
        self.began = run_id
        try:
            yield
        except GivenUp as error:
            raise UserError(
                f"The connection to {printable(self.host.name)} was lost ({error.why}); the run goes on there: "
                f"{self._again('--attach', run_id)} brings it home."
            ) from error

    def _kept(self, run_id: str) -> str:
        return f"It is kept on {printable(self.host.name)}: {self._again('--attach', run_id)} brings it home."

    def _again(self, flag: str, run_id: str) -> str:
        return f"./inv rerun {flag} {run_id if self._out == Path('runs') else self._out / run_id}"


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _plan_bytes(plan: dict[str, Any]) -> bytes:
    """ASCII: what is no UTF-8 in a file's name travels escaped."""
    return json.dumps(plan, allow_nan=False).encode("ascii")
