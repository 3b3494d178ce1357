"""The agent on another machine: the verbs of the local one, over a connection that may be lost at any moment."""

from __future__ import annotations

import json
import shlex
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
from rerig.store import run_word
from rerig.text import printable
from rerig.zipapp import Agent

PROBE_LIMIT_S = 120.0
START_LIMIT_S = 120.0
STOP_LIMIT_S = 120.0  # the agent itself waits for 60 s
CLEAN_LIMIT_S = 300.0

# What becomes of a run that this side leaves to itself.
UNKNOWN = "if the run has begun there, it goes on"
GOES_ON = "the run goes on there"
OVER = "the run is over"

OnEvent = Callable[[dict[str, Any]], None]


class RemoteAgent:
    """The agent ``built`` here, on ``host``; ``out`` is where the runs are kept here.

    Nothing is connected before the first verb. Every verb raises UserError, and none leaves a run without an entry in
    the ledger.
    """

    def __init__(self, host: Host, shell: SteadyShell, built: Agent, out: Path) -> None:
        self.host = host
        self._began: str | None = None  # the run that goes on there when this process ends
        self._end = FarEnd(host, shell, built)
        self._out = out
        self._fate = UNKNOWN

    def identity(self) -> dict[str, str]:
        """What a plan says about the agent that is to run it."""
        return {"version": self._end.built["version"], "sha256": self._end.built["sha256"]}

    def going_on(self) -> str | None:
        """What to say of the run that is left alone when this process ends now, if there is one; any thread may ask."""
        run_id = self._began
        if run_id is None:
            return None
        fate, name, word = self._fate, printable(self.host.name), run_word(self._out / run_id)
        what = {UNKNOWN: f"If the run on {name} has begun, it goes on", OVER: f"The run on {name} is over"}
        stops = "" if fate == OVER else f", ./inv runs.stop {word} stops it"
        return f"{what.get(fate, f'The run on {name} goes on')}: ./inv rerun --attach {word} brings it home{stops}."

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
            if answer.status and not self._sessions(there):
                if not self._is_run(there):
                    ledger.remove_entry(self._out, run_dir.name)
                raise self._end.failure(answer)
            # Otherwise a call whose answer was lost had begun it, and it was killed since.
            return self._accompany(there, run_dir, on_event)

    def resume(self, run_dir: Path, on_event: OnEvent) -> Outcome:
        """Go on with a run that was stopped or killed there; otherwise as ``run``."""
        there = self._find(run_dir.name)
        with self._going_on(run_dir.name):
            answer = self._end.say(["start", "--resume", "--run-dir", there], limit_s=START_LIMIT_S)
            if answer.status:
                if self._state(there) == "ended":
                    raise UserError(f"The run is complete: {self._again('--attach', run_dir.name)} brings it home.", 2)
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
        return answer.run_documents(), answer.stderr.decode("utf-8", "replace").strip()

    def status(self, run_id: str) -> dict[str, Any]:
        """How a run is: its status document."""
        return self._end.ask(["status", self._find(run_id)]).document()

    def stop(self, run_id: str) -> dict[str, Any]:
        """Stop a run, which keeps what it has; its status document."""
        return self._end.ask(["stop", self._find(run_id)], limit_s=STOP_LIMIT_S).document()

    def clean(self, run_id: str) -> None:
        """Remove a run there, and what it left; never one that goes on. One that is gone already is no error."""
        answer = self._end.say(["clean", self._find(run_id)], limit_s=CLEAN_LIMIT_S)
        if answer.status and not self._is_gone(run_id):
            raise self._end.failure(answer)
        ledger.remove_entry(self._out, run_id)

    def _accompany(self, there: str, run_dir: Path, on_event: OnEvent) -> Outcome:
        self._fate = GOES_ON
        answer = self._follow(there, on_event)
        self._fate = OVER
        self._fetch(there, run_dir)
        if answer.status in (0, 1):
            return Outcome(answer.status)
        more = f"What it had measured is kept: {self._again('--resume', run_dir.name)} continues it."
        if answer.status > ENDED_BY_SIGNAL:
            return Outcome(answer.status, f"The run on {printable(self.host.name)} was stopped. {more}")
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
            if answer.status <= ENDED_BY_SIGNAL or self._state(there) != "running":
                return answer  # otherwise it was the follower that somebody stopped

    def _state(self, there: str) -> Any:
        return self._look_at(there).get("state")

    def _sessions(self, there: str) -> Any:
        return self._look_at(there).get("sessions")

    def _is_run(self, there: str) -> bool:
        return self._look_at(there) != {}

    def _look_at(self, there: str) -> dict[str, Any]:
        """The status document of a run; empty where there is none."""
        answer = self._end.say(["status", there])
        return {} if answer.status else answer.document()

    def _fetch(self, there: str, run_dir: Path) -> None:
        with self._packed(there) as file:
            try:
                archive.unpack(file, run_dir)
            except UserError as error:
                raise UserError(f"{error} {self._kept(run_dir.name)}") from error

    @contextmanager
    def _packed(self, there: str) -> Iterator[BinaryIO]:
        run_id = there.rpartition("/")[2]
        try:
            self._out.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._out, prefix=".rerig-") as file:
                answer = self._end.do(lambda call, shell: call.save(shell, ["pack", there], file))
                if answer.status:
                    raise self._not_packed(run_id, answer)
                yield file
        except OSError as error:
            kept = self._kept(run_id)
            raise UserError(f"The run can't be written to {self._out}: {error.strerror}. {kept}") from error

    def _not_packed(self, run_id: str, answer: Answer) -> UserError:
        if not self._is_gone(run_id):
            return self._end.failure(answer)
        return UserError(
            f"The run {run_id} is not on {printable(self.host.name)}: it never began there, or was removed; "
            f"./inv runs.clean {run_word(self._out / run_id)} forgets it.",
            answer.status,
        )

    def _is_gone(self, run_id: str) -> bool:
        """Whether nothing of a run is there, not even a damaged one."""
        documents, complaint = self.list_runs()
        return all(document["run_id"] != run_id for document in documents) and run_id not in complaint

    def _find(self, run_id: str) -> str:
        """The run's directory there: by the ledger, where that names this machine, else by looking."""
        entry = ledger.read_entry(self._out, run_id)
        if entry is not None and entry.host() == self.host:
            return entry.run_dir
        for document in self.list_runs()[0]:
            if document["run_id"] == run_id:
                there = str(document["run_dir"])
                ledger.write_entry(self._out, run_id, ledger.entry_of(self.host, there))
                return there
        name = printable(self.host.name)
        raise UserError(f"There is no run {run_id} on {name}: ./inv runs.list --host {shlex.quote(name)} shows which.")

    @contextmanager
    def _going_on(self, run_id: str) -> Iterator[None]:
        self._began, self._fate = run_id, UNKNOWN
        try:
            yield
        except GivenUp as error:
            raise UserError(
                f"The connection to {printable(self.host.name)} was lost ({error.why}); {self._fate}: "
                f"{self._again('--attach', run_id)} brings it home."
            ) from error
        finally:
            self._began = None

    def _kept(self, run_id: str) -> str:
        return f"It is kept on {printable(self.host.name)}: {self._again('--attach', run_id)} brings it home."

    def _again(self, flag: str, run_id: str) -> str:
        return f"./inv rerun {flag} {run_word(self._out / run_id)}"


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _plan_bytes(plan: dict[str, Any]) -> bytes:
    """ASCII: what is no UTF-8 in a file's name travels escaped."""
    return json.dumps(plan, allow_nan=False).encode("ascii")
