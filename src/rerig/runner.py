"""Start the agent on this machine, follow it, and stop it as the user asks."""

from __future__ import annotations

import contextlib
import json
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.outcome import KILLED, Outcome
from rerig.signals import STOPPING, handling
from rerig.store import new_run_directory, write_document
from rerig.zipapp import Agent, build_agent

PROBE_LIMIT_S = 120
NOTHING_BEGUN = (2, 69)  # wrong words, or another run is measuring here

OnEvent = Callable[[dict[str, Any]], None]


@dataclass
class LocalAgent:
    """A built agent archive on this machine; ``version`` and ``sha256`` go into every result."""

    path: Path
    version: str
    sha256: str
    _child: subprocess.Popen[bytes] | None = None
    _interrupted: int | None = None

    def identity(self) -> dict[str, str]:
        """What a plan says about the agent that is to run it."""
        return {"version": self.version, "sha256": self.sha256}

    def built(self) -> Agent:
        """The archive, for other machines."""
        return {"path": str(self.path), "sha256": self.sha256, "version": self.version}

    def target_path(self, path: str) -> str:
        """A file that the user named, absolute. Raises UserError where the current directory is gone."""
        try:
            return str(Path(path).absolute())
        except FileNotFoundError as error:
            raise UserError("The current directory was deleted: go to another one first.") from error

    def scratch_directory(self, directory: str | None) -> str:
        """Where a scratch file goes: by default into the current directory."""
        return self.target_path(directory or ".")

    def probe(self, paths: list[str], scratch_directory: str | None) -> dict[str, Any]:
        """The agent's report on the tools, the given files, and the directory of the scratch file."""
        arguments = ["probe", *("--path=" + path for path in paths)]
        if scratch_directory is not None:
            arguments.append("--scratch=" + scratch_directory)
        try:
            done = subprocess.run(
                self._argv(*arguments),
                capture_output=True,
                timeout=PROBE_LIMIT_S * (1 + len(paths)),  # the agent bounds what hangs, file by file
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise UserError("The agent did not finish looking at the files: a mount may hang.") from error
        if done.returncode != 0:
            raise UserError("The agent failed: " + _last_line(done.stderr))
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def commands(self, plan: dict[str, Any]) -> list[str]:
        """Every command line that the plan would run, quoted for a shell; a file name's newlines stay inside."""
        with _plan_file(plan) as path:
            argv = self._argv("commands", "--plan", str(path), "--json")
            done = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise UserError("The agent failed: " + _last_line(done.stderr))
        lines: list[str] = json.loads(done.stdout)
        return lines

    def run(self, plan: dict[str, Any], run_dir: Path, on_event: OnEvent) -> Outcome:
        """Run the plan into ``run_dir`` and give the agent's exit status (128 + n: stopped by signal n).

        A Ctrl-C or SIGTERM is handed to the agent, which removes its scratch file before it ends; it is waited for.
        Raises UserError where nothing was begun.
        """
        new_run_directory(run_dir.parent, run_dir.name)
        try:
            with _plan_file(plan) as path:
                argv = self._argv("run", "--plan", str(path), "--run-dir", str(run_dir), "--progress", "json")
                return self._follow(argv, run_dir, on_event)
        except UserError:
            with contextlib.suppress(OSError):
                run_dir.rmdir()  # nothing was begun, so nothing is in it
            raise

    def resume(self, run_dir: Path, on_event: OnEvent) -> Outcome:
        """Go on with the run in ``run_dir`` that was stopped or killed; otherwise as ``run``."""
        argv = self._argv("run", "--resume", "--run-dir", str(run_dir), "--progress", "json")
        return self._follow(argv, run_dir, on_event)

    def interrupt(self, number: int) -> None:
        """Hand a signal to the agent that runs, or that is about to be started: it cleans up and ends."""
        self._interrupted = number
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(number)

    def list_runs(self, directory: Path) -> tuple[list[dict[str, Any]], str]:
        """The status documents of the runs in a directory of this machine, and what the agent complained of."""
        if not directory.is_dir():
            return [], ""
        done = self._ask("list", "--json", str(directory))
        complaint = done.stderr.decode("utf-8", "replace").strip()
        if not done.stdout:
            raise UserError(_sentence(_last_line(done.stderr)), done.returncode)
        return json.loads(done.stdout), complaint

    def status(self, run_dir: Path) -> dict[str, Any]:
        """How a run is: its status document. Raises UserError."""
        document: dict[str, Any] = json.loads(self._demand("status", str(run_dir)))
        return document

    def stop(self, run_dir: Path) -> dict[str, Any]:
        """Stop a run, which keeps what it has; its status document. Raises UserError."""
        document: dict[str, Any] = json.loads(self._demand("stop", str(run_dir)))
        return document

    def clean(self, run_dir: Path) -> None:
        """Remove a run and what it left; never one that goes on. Raises UserError."""
        self._demand("clean", str(run_dir))

    def _demand(self, *arguments: str) -> bytes:
        """The output of a command that must succeed."""
        done = self._ask(*arguments)
        if done.returncode:
            raise UserError(_sentence(_last_line(done.stderr)), done.returncode)
        return done.stdout

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self._argv(*arguments), capture_output=True, check=False, stdin=subprocess.DEVNULL)

    def _follow(self, argv: list[str], run_dir: Path, on_event: OnEvent) -> Outcome:
        if self._interrupted is not None:
            raise UserError("Stopped before it began.", 128 + self._interrupted)
        self._child = agent = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        with agent, _forward_signals(agent):
            try:
                if self._interrupted is not None:  # in the meantime
                    self.interrupt(self._interrupted)
                for line in agent.stdout or ():
                    with contextlib.suppress(ValueError):
                        on_event(json.loads(line))
                complaint = agent.stderr.read() if agent.stderr else b""
            except BaseException:
                agent.terminate()  # nobody follows it any more; it cleans up and ends
                raise
            status = agent.wait()
        if status in (0, 1):
            return Outcome(status)
        if status in NOTHING_BEGUN:
            raise UserError(_sentence(_last_line(complaint)), status)
        kept = f"What it had measured is kept: ./inv rerun --resume {shlex.quote(str(run_dir))} continues it."
        if status > 128:
            return Outcome(status, f"The run was stopped. {kept}")
        if status < 0:
            return Outcome(KILLED, f"The agent was killed by signal {-status}. {kept}")
        return Outcome(1, f"The agent failed: {_last_line(complaint).rstrip('.')}. {kept}")

    def _argv(self, *arguments: str) -> list[str]:
        # -I: nothing of the user's environment reaches the agent; -S and -B keep it small and leave no files.
        return [sys.executable, "-I", "-S", "-B", str(self.path), *arguments]


@contextlib.contextmanager
def local_agent() -> Iterator[LocalAgent]:
    """The agent, built from the sources beside this file into a temporary directory."""
    with (
        handling((signal.SIGTERM, signal.SIGHUP), _end_tidily),
        tempfile.TemporaryDirectory(prefix="rerig-agent-") as directory,
    ):
        built = build_agent(Path(directory) / "rerig-agent.pyz")
        yield LocalAgent(Path(built["path"]), built["version"], built["sha256"])


@contextlib.contextmanager
def _plan_file(plan: dict[str, Any]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rerig-plan-") as directory:
        path = Path(directory) / "plan.json"
        write_document(path, plan)
        yield path


@contextlib.contextmanager
def _forward_signals(agent: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hand SIGINT and SIGTERM on to the agent instead of dying before it has cleaned up."""

    def forward(number: int, _frame: object) -> None:
        if agent.poll() is None:
            agent.send_signal(number)

    with handling(STOPPING, forward):
        yield


def _end_tidily(number: int, _frame: object) -> None:
    """As a shell reports it; unlike the default action, temporary files go and children are ended."""
    sys.exit(128 + number)


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("rerig-agent: ") if lines else "it said nothing"


def _sentence(words: str) -> str:
    """An agent of an older release speaks in lower case and without a full stop."""
    return words[:1].upper() + words[1:].rstrip(".") + "."
