"""Tasks about the agent, the part that runs on the target."""

from __future__ import annotations

import sys
from pathlib import Path

from invoke.context import Context
from invoke.tasks import task

from rerig.checkout import ROOT


@task(
    iterable=["label"],
    help={
        "probe": "What the agent's probe printed on the machine.",
        "out": "The file to write the plan to.",
        "suite": "What to measure, as for rerun (default: storage).",
        "size": "The most that is used of each file, as for rerun.",
        "repeats": "Repeats of every case, as for rerun.",
        "label": "A note kept with the result, as for rerun; repeat it for several.",
    },
)
def plan(
    _context: Context,
    label: list[str],
    probe: str,
    out: str,
    suite: str = "storage",
    size: str = "",
    repeats: str = "",
) -> None:
    """Plan for a machine that was looked at before; the role measure asks for it."""
    from rerig import sizes
    from rerig.handing import plan_to_file
    from rerig.options import parse_labels, parse_repeats
    from rerig.rerun import Request

    request = Request(
        suite=suite,
        labels=parse_labels(label),
        repeats=parse_repeats(repeats),
        size_bytes=sizes.parse_size(size) if size else None,
    )
    for sentence in plan_to_file(Path(probe), request, Path(out)):
        print(sentence, file=sys.stderr)


@task(help={"out": "The file to write (default: dist/rerig-agent.pyz)"})
def build(context: Context, out: str = "") -> None:
    """Pack the agent into one file that runs by itself: python3 rerig-agent.pyz --help."""
    from rerig.zipapp import build_agent

    agent = build_agent(out or ROOT / "dist" / "rerig-agent.pyz")
    print(f"{agent['path']}\nversion {agent['version']}\nsha256 {agent['sha256']}")


@task(
    iterable=["place"],
    help={
        "out": "The file to write.",
        "run": "The id of an earlier run that is to be found there.",
        "place": "A directory there, instead of the usual ones; repeat it for several.",
    },
)
def deliver(_context: Context, place: list[str], out: str, run: str = "") -> None:
    """Write the Python program that puts the agent on a machine; the role measure asks for it."""
    from rerig.remote.delivery import write_delivery

    write_delivery(Path(out), run, place)
