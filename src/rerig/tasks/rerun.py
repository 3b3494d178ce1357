"""``./inv rerun``: measure, prove, compare, keep."""

from __future__ import annotations

import sys
from pathlib import Path

from invoke.context import Context
from invoke.tasks import task


@task(
    iterable=["path", "label"],
    help={
        "path": "A file of yours to measure, read-only; repeat it for several, shown side by side with ratios. "
        "Without it a scratch file is made, measured and removed.",
        "suite": "What to measure: the name of a file in suites/ or a path (default: storage).",
        "scratch": "The directory of the scratch file (default: the current one).",
        "out": "Where the run directory with result.json and the raw outputs is kept (default: runs).",
        "label": "A note kept with the result as you typed it, e.g. nas='4-bay, 10GbE'; repeat it for several.",
        "repeats": "Repeats of every case (default: as the suite says).",
        "size": "The most that is used of each file; also the scratch file's size, e.g. 1G (default: the suite's).",
        "plan-only": "Print every command that would run, with its time and bytes, and stop.",
        "json": "Print the result (or, with --plan-only, the plan) as JSON instead of tables.",
        "quiet": "No progress and no table: print only where the result is.",
        "install-tools": "First let the Ansible role bench_tools install what is missing (asks for sudo if needed).",
    },
)
def rerun(
    _context: Context,
    path: list[str],
    label: list[str],
    suite: str = "storage",
    scratch: str = "",
    out: str = "runs",
    repeats: str = "",
    size: str = "",
    plan_only: bool = False,
    json: bool = False,
    quiet: bool = False,
    install_tools: bool = False,
) -> None:
    """Rerun a published measurement on this machine and compare it with the published figures.

    Reads files (O_DIRECT, read-only) and shows where the bytes came from; result and raw outputs are kept in --out.
    """
    from rerig import local_run, sizes
    from rerig.options import Output, parse_labels, parse_repeats
    from rerig.rerun import Request

    request = Request(
        paths=list(path),
        scratch=scratch or None,
        suite=suite,
        labels=parse_labels(label),
        repeats=parse_repeats(repeats),
        size_bytes=sizes.parse_size(size) if size else None,
    )
    if install_tools:
        from rerig.provision import install_tools as install

        install()
    status = local_run.measure(request, Path(out), Output(json, quiet), plan_only)
    if status:
        sys.exit(status)
