"""Known runs as a table, and what can be done with them."""

from __future__ import annotations

from rerig.report.terminal import plain_table, print_lines

HEADER = ["run", "machine", "suite", "state", "cases", "started", "result"]
NEXT = (
    "./inv rerun --attach RUN follows a run or brings it home, --resume RUN continues one that was stopped or killed; "
    "./inv runs.stop RUN and ./inv runs.clean RUN end and remove it."
)


def print_runs(rows: list[list[str]]) -> None:
    """Print a table of at least one run, with the cells that HEADER names."""
    plain_table(HEADER, rows, numbers=[HEADER.index("cases")])
    print_lines([NEXT])
