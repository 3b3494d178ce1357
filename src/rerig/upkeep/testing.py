"""Runs lint and all tests, several things at a time, and sums them up in one closing line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.upkeep import lint
from rerig.upkeep.environment import BUILD, child_environment
from rerig.upkeep.pythons import VERSIONS, Python, find_pythons, test_environment
from rerig.upkeep.twin import missing_for_twin

AGENT_TESTS = "tests/unit/rerig_agent"
LANES = min(4, (os.cpu_count() or 1) + 1)  # half of the tests wait for other processes
# What takes long begins first, or one lane would be busy with it at the end while the others have nothing to do.
LONGEST = ("remote", "e2e", "roles", "unit/rerig", "unit/rerig_agent", "fast")
LIMIT_S = 3600
CHECKS_OF_MACHINES = ("state",)  # for ./inv verify
# Hypothesis profiles of tests/conftest.py.
WHOLE, BRIEF = "rerig", "brief"
NOTHING_COLLECTED = 5  # pytest's exit status
NOTHING = "nothing to run"
TWIN = "twin and not quiet"
SUMMARY = "short test summary info"


class Counts(NamedTuple):
    """Tests by outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def line(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Run(NamedTuple):
    """One pytest process: label, the Python that runs it, pytest's arguments, how many examples property tests draw."""

    label: str
    program: str
    arguments: tuple[str, ...]
    examples: str = BRIEF


def run_pytest(words: list[str]) -> int:
    """pytest with the caller's own words, on this Python alone; its exit status."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, env=child_environment(), check=False
    ).returncode


def run_everything(full: bool) -> int:
    """Lint, the tests on this Python, the agent's tests on others; 0 if nothing failed.

    ``full``: the slow tests and the twin's too, all examples of property tests, and every Python of this machine, not
    the oldest alone; one that could not be tried counts as a failure then, instead of being named.
    """
    total, others = _prepare(full)
    twin, without_twin = _prepare_twin() if full else (False, Counts())
    total = total.plus(without_twin)
    beside, alone = _plan(full, twin, others)
    with ThreadPoolExecutor(LANES) as pool:
        waiting = [pool.submit(_run, run) for run in beside] + [pool.submit(_lint)]
        for done in as_completed(waiting):
            total = total.plus(_show(*done.result()))
    for run in alone:
        total = total.plus(_show(*_run(run)))
    if not full:
        print("left out: slow tests, the twin's, and the agent's on further Pythons (./inv test --all runs them)")
    print(total.line())
    return 1 if total.failed or not total.passed else 0


def _plan(full: bool, twin: bool, others: list[Python]) -> tuple[list[Run], list[Run]]:
    """What the lanes take, in this order, and what runs alone afterwards."""
    marker = f"not quiet and not twin{'' if full else ' and not slow'}"
    here = [_pytest(label, sys.executable, paths, marker) for label, paths in _parts(ROOT / "tests")]
    # On the further Pythons property tests draw few examples: the language differs there, not the texts.
    further = [_pytest(f"agent on {python.version}", python.program, (AGENT_TESTS,), marker) for python in others]
    if full:
        here = [run._replace(examples=WHOLE) for run in here]
    beside = [*here[: len(LONGEST)], *further, *here[len(LONGEST) :]]
    if twin:  # first, since it takes longest; one process, so that one machine at a time keeps a core busy
        beside.insert(0, _pytest("twin", sys.executable, ("tests",), TWIN))
    alone = []
    if files := _quiet_files(ROOT / "tests"):
        quiet = "quiet" if twin else "quiet and not twin"
        alone.append(_pytest("tests that need quiet", sys.executable, tuple(files), quiet))
    if _quiet_files(ROOT / AGENT_TESTS):
        alone += [_pytest(f"quiet, on {python.version}", python.program, (AGENT_TESTS,), "quiet") for python in others]
    return beside, alone


def _prepare(full: bool) -> tuple[Counts, list[Python]]:
    """Environments for the other Pythons, and what is to be said about those that can't be had."""
    here = "{}.{}".format(*sys.version_info[:2])
    found = find_pythons()
    counts, ready = Counts(), []
    others = [version for version in VERSIONS if version != here]
    for version in others if full else [version for version in others if version in found][:1]:
        if version not in found:
            print(f"left out: the agent's tests on Python {version}, which this machine hasn't")
            continue
        try:
            ready.append(Python(version, test_environment(found[version])))
        except UserError as error:
            print(f"{'FAILED' if full else 'left out'}: the agent's tests on Python {version}: {error}")
            counts = counts.plus(Counts(failed=1) if full else Counts(skipped=1))
    return counts, ready


def _prepare_twin() -> tuple[bool, Counts]:
    """Whether the twin's tests can run here; if not, that is said. Then they count as skipped, and in CI as failed."""
    reason = missing_for_twin()
    if not reason:
        return True, Counts()
    in_ci = bool(os.environ.get("CI"))
    print(f"{'FAILED' if in_ci else 'left out'}: the twin's tests: {reason}")
    return False, Counts(failed=1) if in_ci else Counts(skipped=1)


def _parts(tests: Path) -> list[tuple[str, tuple[str, ...]]]:
    """The tests in parts that lanes can share, the longest first: each folder, each of unit's, and the files beside."""
    folders = {path.relative_to(tests).parent.parts for path in tests.glob("*/**/test_*.py")} - {CHECKS_OF_MACHINES}
    names = {"/".join(parts[: 2 if parts[0] == "unit" else 1]) for parts in folders}
    ordered = sorted(names, key=lambda name: (LONGEST.index(name) if name in LONGEST else len(LONGEST), name))
    files = sorted(str(path) for path in tests.glob("test_*.py"))
    return [*((name, (str(tests / name),)) for name in ordered), ("the house's rules", tuple(files))]


def _quiet_files(folder: Path) -> list[str]:
    """Those that mark tests as quiet, so that the many others need not be imported once more."""
    return sorted(str(path) for path in folder.rglob("test_*.py") if "mark.quiet" in path.read_text("utf-8"))


def _pytest(label: str, program: str, paths: tuple[str, ...], marker: str) -> Run:
    report = _report_path(label)
    options = ("-q", "-p", "no:cacheprovider", "-m", marker, f"--junitxml={report}", "--color=no")
    return Run(label, program, ("-m", "pytest", *paths, *options))


def _report_path(label: str) -> Path:
    return BUILD / "test-reports" / f"{re.sub(r'[^a-z0-9.]+', '-', label)}.xml"


def _run(run: Run) -> tuple[str, Counts, str]:
    """The label with its duration, the counts, and what a reader wants of the output."""
    start = time.monotonic()
    _report_path(run.label).unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [run.program, *run.arguments],
            cwd=ROOT,
            env={**child_environment(), "RERIG_EXAMPLES": run.examples},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        status, output = 1, f"not finished after {LIMIT_S} s"
    label = f"{run.label} ({time.monotonic() - start:.0f} s)"
    if status == NOTHING_COLLECTED:
        return label, Counts(), NOTHING
    counts = _count(_report_path(run.label))
    if status and not counts.failed:  # pytest itself broke off
        counts = counts.plus(Counts(failed=1))
    return label, counts, output if status else output[output.find(SUMMARY) :] if SUMMARY in output else ""


def _lint() -> tuple[str, Counts, str]:
    outcomes = lint.run_checks()
    failed = sum(not outcome.ok for outcome in outcomes)
    return "lint", Counts(len(outcomes) - failed, failed), "\n".join(map(lint.report, outcomes))


def _count(report: Path) -> Counts:
    """The counts of a JUnit report; none where the file is missing or cut."""
    try:
        suites = list(ElementTree.parse(report).iter("testsuite"))  # noqa: S314 - pytest's own report, written just now
    except (OSError, ElementTree.ParseError):
        return Counts()
    number = {
        key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")
    }
    failed = number["failures"] + number["errors"]
    return Counts(number["tests"] - failed - number["skipped"], failed, number["skipped"])


def _show(label: str, counts: Counts, text: str) -> Counts:
    if text != NOTHING:
        print(f"--- {label}: {counts.line()}", *filter(None, [text.rstrip()]), sep="\n", flush=True)
    return counts
