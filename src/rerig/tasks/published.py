"""``./inv published.*``: the published figures that come with rerig."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task


@task(name="list", help={"json": "Print the documents as JSON."})
def list_(_context: Context, json: bool = False) -> None:
    """List the published figures: the id of each source, and every claim with its figure as printed and its place."""
    from rerig.report import comparisons

    comparisons.print_published_list(as_json=json)
