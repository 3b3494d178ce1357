"""A small real run of the agent in a child process that can be made to die, or to find its disk full, at any line.

It reads a user's file and scratch files of a few MiB with dd, sets a read-ahead below a root of its own, and runs on
Python 3.8 too, with nothing but pytest.
"""

from __future__ import annotations

import errno
import os
import signal
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rerig_agent.child import StopFlag
from rerig_agent.evidence import collect_target
from rerig_agent.files import write_json
from rerig_agent.journal import Journal, read_journal
from rerig_agent.knobs import find_read_ahead
from rerig_agent.run import Run
from rerig_agent.sessions import done_cases
from rerig_agent.undo import SCRATCH_PREFIX, pending

MIB = 1024 * 1024
READ_AHEAD_KB = 512
EARLIER_KB = "128"
BOOT_ID = "5f0c2f4e-0000-4000-8000-000000000001"
BUG = 70
KILLED = -signal.SIGKILL


def dd_case(case_id: str, target: str, size_bytes: int, repeats: int = 2, **parameters: Any) -> dict:
    """A planned case that reads a whole file through the page cache."""
    return {
        "id": case_id,
        "target": target,
        "identity": {
            "kind": "dd_reread" if "scratch_bytes" in parameters else "dd_read",
            "direct": False,
            "block_bytes": MIB,
            "read_bytes": size_bytes,
        },
        "extent": "whole_file",
        "parameters": parameters,
        "repeats": [{"number": number, "seed": number} for number in range(1, repeats + 1)],
        "limit_s": 60,
        "skip": None,
    }


class SmallRun:
    """The files of one machine (a user's file, a place for scratch files, a fake /sys), and runs on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.model = folder / "model.bin"
        self.model.write_bytes(os.urandom(2 * MIB))
        boot_id = self.root / "proc/sys/kernel/random/boot_id"
        boot_id.parent.mkdir(parents=True)
        boot_id.write_text(BOOT_ID + "\n")
        self.knobs = self._make_knobs()

    def _make_knobs(self) -> list:
        evidence = collect_target(str(self.model))
        for mount in [evidence["mount"], *evidence["data_mounts"]]:
            knob = self.root / "sys/class/bdi" / mount["dev"] / "read_ahead_kb"
            knob.parent.mkdir(parents=True, exist_ok=True)
            knob.write_text(EARLIER_KB + "\n")
        found = find_read_ahead(evidence, self.root)
        return [] if found is None else [self.root / found.lstrip("/")]

    def plan(self) -> dict:
        """Three cases: with a read-ahead, from the scratch file, and from a scratch file of the case's own."""
        knob = {"read_ahead_kb": READ_AHEAD_KB} if self.knobs else {}
        return {
            "format": "rerig-plan",
            "format_number": 1,
            "run_id": "small",
            "targets": [
                {"id": "t1", "label": "model", "path": str(self.model)},
                {"id": "t2", "label": "scratch", "scratch": {"directory": str(self.scratch), "bytes": MIB}},
            ],
            "cases": [
                dd_case("ahead.t1", "t1", 2 * MIB, evict=True, **knob),
                dd_case("reread.t2", "t2", MIB, 1, scratch_bytes=MIB),
                dd_case("scratch.t2", "t2", MIB, 1, evict=False),
            ],
        }

    def start(self, run_dir: Path, resume: bool = False, before: Callable[[Run], None] = lambda run: None) -> int:
        """Run in a child process; its exit status, or the negative number of the signal that killed it."""
        run_dir.mkdir(parents=True, exist_ok=True)
        if not resume:
            write_json(run_dir / "plan.json", self.plan())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other tests may have left a waiting thread
            child = os.fork()
        if child == 0:
            status = BUG
            try:
                run = Run(self.plan(), run_dir, StopFlag(), lambda event, **data: None, resume, self.root)
                before(run)
                status = run.execute()
            except OSError as error:
                status = 74 if error.errno == errno.ENOSPC else BUG
            except BaseException:  # noqa: BLE001 - a child must not return into the test
                traceback.print_exc()
            finally:
                os._exit(status)
        status = os.waitpid(child, 0)[1]
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def left_over(self, run_dir: Path) -> list:
        """What a run has left outside its directory: scratch files, changed numbers, what its journal has pending."""
        scratch = [path.name for path in self.scratch.glob(SCRATCH_PREFIX + "*")]
        changed = [str(knob) for knob in self.knobs if knob.read_text().strip() != EARLIER_KB]
        return scratch + changed + pending(read_journal(run_dir))


def die_at(number: int, after: bool) -> Callable[[Run], None]:
    """Let the process kill itself right before, or right after, its append number ``number`` to a journal."""

    def arrange(_run: Run) -> None:
        real = Journal.append
        count = [0]

        def append(journal: Journal, event: str, **data: Any) -> None:
            count[0] += 1
            if count[0] == number and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            real(journal, event, **data)
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

        Journal.append = append  # type: ignore[method-assign] # in a child process that ends soon

    return arrange


def full_from(number: int) -> Callable[[Run], None]:
    """Let the journal's disk be full from its append number ``number`` on: half the first line is still written."""

    def arrange(run: Run) -> None:
        real = os.write
        count = [0]

        def write(descriptor: int, data: bytes) -> int:
            if descriptor != run._journal._file:
                return real(descriptor, data)
            count[0] += 1
            if count[0] == number:
                return real(descriptor, data[: len(data) // 2])
            if count[0] > number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(descriptor, data)

        os.write = write

    return arrange


def kept_bytes(run_dir: Path) -> dict:
    """Name and bytes of every file of the cases that are done."""
    found = {}
    for case in done_cases(read_journal(run_dir)):
        for path in sorted((run_dir / "cases" / case).rglob("*")):
            if path.is_file():
                found[str(path.relative_to(run_dir))] = path.read_bytes()
    return found
