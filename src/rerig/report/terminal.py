"""Plain text and tables on stdout, wide enough to be read in a log and without markup from file names."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection

LOG_WIDTH = 160


def print_lines(lines: list[str]) -> None:
    """Print lines as they are."""
    for line in lines:
        print(line)


def plain_table(header: list[str], rows: list[list[str]], numbers: Collection[int] | None = None) -> None:
    """Print one table; text wraps inside its cell, nothing is cut off. Outside a terminal it may be 160 wide.

    ``numbers``: the places of the columns that are right-aligned, by default all but the first and the last.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    page = sys.stdout if terminal else io.StringIO()
    sys.stdout.flush()
    console = Console(highlight=False, width=None if terminal else LOG_WIDTH, file=page)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    right = range(1, len(header) - 1) if numbers is None else numbers
    for place, title in enumerate(header):
        table.add_column(Text(title), overflow="fold", justify="right" if place in right else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
    if isinstance(page, io.StringIO):
        print_lines([line.rstrip() for line in page.getvalue().splitlines()])
