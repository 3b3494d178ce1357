"""A run on a machine of a bed that stands still at a chosen point, so that a test can kill what it likes just there."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_gates import PYTHON, AgentGates
from command_line import LIMIT_S, Cli, environment
from rerig.documents import load_valid_document
from rerig.rerun import changed_since_built
from ssh_bed import BedHost, SshBed
from waiting import wait_for

SUITE = """\
format: rerig-suite
format_version: "1.0"
name: three-kinds
version: "1.0"
title: One small case of each kind
scratch_bytes: 67108864
cases:
  - name: dd
    kind: dd_read
    direct: true
    block_bytes: 1048576
    read_bytes: {default: 67108864}
    repeats: 2
  - name: again
    kind: dd_reread
    direct: true
    block_bytes: 1048576
    scratch_bytes: 16777216
    blocks: 16
    repeats: 2
  - name: rand
    kind: fio_read
    direct: true
    block_bytes: 65536
    pattern: random
    queue_depth: 2
    engines: [io_uring, libaio]
    runtime_limit_s: 60
    repeats: 2
"""
CASES = ["dd.t1", "again.t1", "rand.t1"]
STATE_DIR = "/home/jetson/.local/state/rerig"
AGENT = " start --"  # in its command line; a second, short-lived one may wait for it


@dataclass(frozen=True)
class Point:
    """A moment of a run. ``done``: how many cases are done by then; ``within``: the case that has begun."""

    name: str
    gate: str
    place: tuple[str, str, str | None] | int
    done: int
    within: str | None = None

    def __str__(self) -> str:
        return self.name


def _line(name: str, event: str, case: str | None, done: int) -> Point:
    return Point(name, "journal", ("after", event, case), done)


BEFORE_THE_FIRST = [
    _line("as-it-begins", "run-start", None, 0),
    _line("as-the-scratch-file-is-written", "undo-add", None, 0),
]
BETWEEN = [
    _line("after-the-first-case", "case-done", CASES[0], 1),
    _line("after-the-second-case", "case-done", CASES[1], 2),
    _line("after-the-last-case", "case-done", CASES[2], 3),
]
# The number of dd or fio calls that pass: the second repeat is the one that is held.
WITHIN = [
    Point("within-the-first-case", "dd", 1, 0, CASES[0]),
    Point("within-the-second-case", "dd", 3, 1, CASES[1]),
    Point("within-the-last-case", "fio", 1, 2, CASES[2]),
]
POINTS = [*BEFORE_THE_FIRST, WITHIN[0], BETWEEN[0], WITHIN[1], BETWEEN[1], WITHIN[2], BETWEEN[2]]
BEFORE_IT_BEGINS = Point("before-it-begins", "journal", ("before", "run-start", None), 0)
AT_THE_END = _line("as-it-ends", "run-end", None, 3)


class KillScene:
    """A machine, and rerig in ``directory``; ``out`` is where it keeps runs.

    ``words`` are more of ``rerun``, and ``settings`` those of the machine.
    """

    def __init__(
        self, bed: SshBed, directory: Path, suite: str = SUITE, words: Sequence[str] = (), **settings: Any
    ) -> None:
        self.host: BedHost = bed.start(gated=["dd", "fio"], programs={"python3": PYTHON}, **settings)
        self.gates = AgentGates(self.host.path("/srv/gate"))
        self.cli = Cli(directory, bed.environment(environment(os.environ["PATH"])))
        self.out = directory / "runs"
        self._words = words
        (directory / "small.yml").write_text(suite, "utf-8")

    @property
    def run_id(self) -> str:
        """The only run that is known here."""
        (entry,) = (self.out / ".remote").glob("*.json")
        return entry.stem

    @property
    def run_dir(self) -> Path:
        """Its folder here."""
        return self.out / self.run_id

    @property
    def there(self) -> Path:
        """Its folder on the machine, as it is seen from here."""
        return self.host.path(f"{STATE_DIR}/runs/{self.run_id}")

    def rerun(self) -> subprocess.Popen[str]:
        """The command, which goes on."""
        return self.cli.start("rerun", "--quiet", "--host", "box", "--suite", "small.yml", *self._words)

    def rerun_until(self, point: Point) -> subprocess.Popen[str]:
        """The command, whose run stands still at ``point``."""
        self.shut(point)
        process = self.rerun()
        self.wait_until_reached(process, point.gate)
        return process

    def shut(self, point: Point) -> None:
        """Let the next run stand still at ``point``."""
        if isinstance(point.place, int):
            self.host.gates.shut(point.gate, after=point.place)
        else:
            self.gates.shut_journal(*point.place)

    def wait_until_reached(self, process: subprocess.Popen[str], gate: str) -> None:
        """Return when the gate is reached; the command must still go on."""
        wait_for(lambda: self.gates.is_reached(gate) or process.poll() is not None, 120)
        if process.poll() is not None:
            raise AssertionError(f"it ended early, with {process.returncode}: {process.communicate()}")

    def kill_agent(self) -> None:
        """kill -9 of the measuring process; the tool that it waits for dies with it, also before a shut gate."""
        assert self.host.signal(signal.SIGKILL, match=AGENT), "there was an agent"
        wait_for(lambda: not self.host.processes("/usr/local/bin/dd ") + self.host.processes("/usr/local/bin/fio "))

    def kill_detached(self) -> None:
        """kill -9 of the measuring process, which lives in /, and not of the call that waits for it to begin."""
        script = """
            for process in /proc/[0-9]*; do
                if [ "$(readlink $process/cwd)" = / ] && grep -qzx start $process/cmdline; then
                    kill -9 ${process#/proc/} && echo killed
                fi
            done
        """
        assert self.host.run(["sh", "-c", script]) == b"killed\n"

    def agents(self) -> list[list[str]]:
        """The measuring process, if it lives."""
        return self.host.processes(AGENT)

    def scratch_files(self) -> list[str]:
        """The names of the scratch files on the machine."""
        return sorted(path.name for path in self.host.path("/home").rglob("rerig-scratch-*"))

    def runs_there(self) -> list[str]:
        """The names of all run directories on the machine."""
        runs = self.host.path(f"{STATE_DIR}/runs")
        return sorted(path.name for path in runs.iterdir()) if runs.exists() else []

    def waiting(self, command: str) -> list[list[str]]:
        """The calls of a command that wait before its gate."""
        return [words for words in self.host.processes(f" {command} ") if words[0] == "/bin/sh"]

    def followers(self) -> list[list[str]]:
        """Whoever follows the run there."""
        return self.host.processes(" follow ")

    def clients(self) -> set[int]:
        """The ports here of all connections to the machine's sshd."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
        ours = (
            (int(row[1].partition(":")[2], 16), int(row[2].partition(":")[2], 16)) for row in rows if row[3] == "01"
        )
        return {port for port, other in ours if other == self.host.port}

    def sessions(self) -> int:
        """How many connections stand, as sshd knows."""
        return sum("[listener]" not in words[0] for words in self.host.processes("sshd"))

    def logins(self) -> int:
        """How often somebody has logged in there."""
        return self.host.log().count("Accepted publickey")

    def document(self) -> dict[str, Any]:
        """The result here, which must be valid and built from the very files that are here."""
        document = load_valid_document(self.run_dir / "result.json", "rerig-result")
        assert changed_since_built(self.run_dir) == []
        return document

    def assert_only_the_run_is_left(self) -> None:
        """Nothing is on the machine but rerig's own directory, and nothing in ``out`` but the run."""
        wait_for(lambda: self.foreign_processes() == [])
        state = self.host.path(STATE_DIR)
        assert sorted(path.name for path in state.iterdir()) == ["agents", "runs"]
        assert [path.name for path in (state / "runs").iterdir()] == [self.run_id]
        assert len(list((state / "agents").iterdir())) == 1
        home = self.host.path("/home/jetson")
        kept = {state, *state.parents}
        assert [path for path in home.rglob("*") if path not in kept and state not in path.parents] == []
        for place in ("/tmp", "/var/tmp", "/root"):  # noqa: S108 - those of the machine
            assert list(self.host.path(place).iterdir()) == []
        assert sorted(path.name for path in self.out.iterdir()) == [".remote", self.run_id]
        assert [path.name for path in (self.out / ".remote").iterdir()] == [f"{self.run_id}.json"]
        assert not (self.run_dir / "lock").exists()

    def foreign_processes(self) -> list[list[str]]:
        """Whatever runs there and is not sshd."""
        return [words for words in self.host.processes() if not words[0].startswith("sshd: /usr/sbin/sshd")]

    def assert_clean_removes_it(self) -> None:
        """``runs.clean`` takes the run from the machine and the ledger, and leaves the copy here."""
        run_dir, there, run_id = self.run_dir, self.there, self.run_id
        kept = file_hashes(run_dir)
        assert "is removed from box" in self.cli.run("runs.clean", run_id).stdout
        assert not there.exists()
        assert list(self.out.iterdir()) == [run_dir]
        assert file_hashes(run_dir) == kept


def told_words(sentence: str, verb: str = "rerun") -> list[str]:
    """The words of the ``./inv`` command in a sentence."""
    found = re.search(rf"\./inv ({verb} (?:--\w+ )?\S+)", sentence)
    assert found is not None, sentence
    return found[1].split()


def end(process: subprocess.Popen[str], status: int) -> tuple[str, str]:
    """What the command said, which must end with ``status``."""
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == status, f"{process.returncode}\n{out}\n{err}"
    assert "Traceback" not in err
    return out, err


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9 of a command here."""
    process.kill()
    process.communicate()


def file_hashes(directory: Path) -> dict[str, str]:
    """The SHA-256 of every file below."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def case_hashes(run_dir: Path, done: int) -> dict[str, str]:
    """The SHA-256 of every file of the first ``done`` cases."""
    return {
        f"{case}/{name}": sha256
        for case in CASES[:done]
        for name, sha256 in file_hashes(run_dir / "cases" / case).items()
    }
