"""The agent as one file, started as a person or a controller starts it, with a dd that waits when a test wants it to.

It runs on Python 3.8 too, with nothing but pytest.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import rerig_agent
from rerig_agent.journal import is_alive, read_journal
from small_run import MIB, dd_case
from waiting import wait_for

LIMIT_S = 120
DD = """#!/bin/sh
[ "$1" = --version ] && gate=version || gate=read
: >'{folder}/met-'$gate
while [ -e '{folder}/hold-'$gate ]; do sleep 0.05; done
exec '{dd}' "$@"
"""


class AgentProgram:
    """One machine's files and the runs on it, in ``folder``; ``runs`` holds the run directories."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.archive = folder / "agent.pyz"
        self.runs = folder / "runs"
        self.scratch = folder / "scratch"
        self.model = folder / "model.bin"
        self._stubs = folder / "stubs"
        self.scratch.mkdir()
        self._stubs.mkdir()
        self.model.write_bytes(os.urandom(2 * MIB))
        self._write_archive()
        dd = shutil.which("dd")
        assert dd is not None
        stub = self._stubs / "dd"
        stub.write_text(DD.format(folder=self._stubs, dd=dd))
        stub.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{self._stubs}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def _write_archive(self) -> None:
        source = Path(rerig_agent.__file__).parent
        with zipfile.ZipFile(str(self.archive), "w") as packed:
            for path in source.rglob("*.py"):
                packed.write(str(path), str(Path("rerig_agent") / path.relative_to(source)))
            packed.writestr("__main__.py", "import sys\nfrom rerig_agent.__main__ import main\nsys.exit(main())\n")

    def plan(self, run_id: str = "small", **changes: Any) -> Path:
        """The file of a plan with three cases in four repeats: two from a user's file, two from a scratch file."""
        plan = {
            "format": "rerig-plan",
            "format_number": 1,
            "run_id": run_id,
            "suite": {"name": "small"},
            "targets": [
                {"id": "t1", "label": "model", "path": str(self.model)},
                {"id": "t2", "label": "scratch", "scratch": {"directory": str(self.scratch), "bytes": MIB}},
            ],
            "cases": [
                dd_case("first.t1", "t1", 2 * MIB, evict=True),
                dd_case("second.t2", "t2", MIB, 1, evict=False),
                dd_case("third.t2", "t2", MIB, 1, scratch_bytes=MIB),
            ],
        }
        path = self.folder / f"{run_id}.json"
        path.write_text(json.dumps({**plan, **changes}))
        return path

    def argv(self, *words: object) -> list:
        return [sys.executable, "-I", "-S", "-B", str(self.archive), *map(str, words)]

    def run(self, *words: object, status: int | None = 0, **options: Any) -> subprocess.CompletedProcess:
        """One command to its end, its exit status checked (None: any); stdout and stderr as text."""
        options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
        done = subprocess.run(
            self.argv(*words),
            capture_output=True,
            encoding="utf-8",
            env=self.environment,
            timeout=LIMIT_S,
            **options,
        )
        assert status in (None, done.returncode), (words, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    def popen(self, *words: object, **options: Any) -> subprocess.Popen:
        """One command that is not waited for."""
        for name in ("stdin", "stdout", "stderr"):
            options.setdefault(name, subprocess.DEVNULL if name == "stdin" else subprocess.PIPE)
        return subprocess.Popen(self.argv(*words), env=self.environment, encoding="utf-8", **options)

    def start(self, run_id: str = "small", **options: Any) -> dict:
        """Start a run; what ``start`` printed."""
        words = ("start", "--plan", self.plan(run_id), "--run-dir", self.runs / run_id)
        return self.document(*words, **options)

    def document(self, *words: object, **options: Any) -> Any:
        """The JSON that one command prints."""
        return json.loads(self.run(*words, **options).stdout)

    def hold(self, gate: str = "read") -> None:
        """Let every dd wait (``read``), or every look at its version (``version``)."""
        (self._stubs / f"hold-{gate}").touch()
        with contextlib.suppress(FileNotFoundError):
            (self._stubs / f"met-{gate}").unlink()

    def release(self, gate: str = "read") -> None:
        with contextlib.suppress(FileNotFoundError):
            (self._stubs / f"hold-{gate}").unlink()

    def wait_until_held(self, gate: str = "read") -> None:
        """Return when a dd waits."""
        wait_for((self._stubs / f"met-{gate}").exists)

    def started_and_held(self, run_id: str = "small") -> dict:
        """A run that stands still inside its first repeat."""
        self.hold()
        started = self.start(run_id)
        self.wait_until_held()
        return started

    def killed(self, run_id: str = "small") -> Path:
        """The directory of a run that was killed inside its first repeat."""
        pid = self.started_and_held(run_id)["pid"]
        os.kill(pid, signal.SIGKILL)
        self.release()
        wait_for(lambda: self.document("status", self.runs / run_id)["state"] == "killed")
        return self.runs / run_id

    def follow(self, run_id: str = "small", status: int = 0) -> list:
        """All events of a run that goes on or has ended, by ``follow``."""
        done = self.run("follow", self.runs / run_id, "--progress", "json", status=status)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        return [event for event in events if event["event"] != "alive"]

    def end(self) -> None:
        """End what still goes on, each process by its own number."""
        for gate in ("read", "version"):
            self.release(gate)
        for journal in self.folder.glob("**/journal.jsonl"):
            for event in read_journal(journal.parent):
                if event["event"] == "run-start":
                    _kill(event["pid"], str(self.archive))
        wait_for(lambda: not any(is_alive(lock.parent) for lock in self.folder.glob("**/lock")))


def _kill(pid: int, archive: str) -> None:
    with contextlib.suppress(OSError):
        if archive in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)
