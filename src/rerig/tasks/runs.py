"""``./inv runs.*``: what was measured or goes on, here and on other machines; stopping and removing it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.context import Context
from invoke.tasks import task

from rerig.program import arguments

if TYPE_CHECKING:
    from rerig.known_runs import KnownRun

OUT = "Where runs and results are kept here (default: runs)."
HOST = "The machine that the runs are on, as for rerun; only needed where it isn't noted in --out."
INVENTORY = "The Ansible inventory that --host is looked up in (default: as ansible.cfg says)."
SUDO = "Look for runs of root on the other machines."


@task(
    name="list",
    iterable=["host"],
    help={
        "out": OUT,
        "host": "Ask this machine, as for rerun; repeat it for several. Without it nothing is connected to: what is in "
        "--out is listed, and what is noted there of other machines.",
        "inventory": INVENTORY,
        "sudo": SUDO,
        "json": "Print a JSON array.",
    },
)
def list_(
    _context: Context, host: list[str], out: str = "runs", inventory: str = "", sudo: bool = False, json: bool = False
) -> None:
    """List the runs that are here or on other machines, and how they are."""
    from rerig.meeting import hosts_of
    from rerig.run_list import show_runs

    status = show_runs(hosts_of(host, inventory, sudo), Path(out), as_json=json)
    if status:
        sys.exit(status)


@task(
    iterable=["host"],
    help={"run": "A run's id or directory; more of them after --.", "out": OUT, "host": HOST}
    | {"inventory": INVENTORY, "sudo": SUDO},
)
def stop(
    context: Context, run: str, host: list[str], out: str = "runs", inventory: str = "", sudo: bool = False
) -> None:
    """Stop runs, here or on other machines: runs.stop RUN [-- RUN…]. They keep what they have and can be resumed."""
    from rerig.run_keeping import stop_runs

    status = stop_runs(_runs(context, run, host, out, inventory, sudo))
    if status:
        sys.exit(status)


@task(
    iterable=["host"],
    help={"run": "A run's id or directory; more of them after --.", "out": OUT, "host": HOST}
    | {"inventory": INVENTORY, "sudo": SUDO}
    | {"force": "Also remove what is kept nowhere else: a run of this machine, or one that was not brought home."},
)
def clean(
    context: Context,
    run: str,
    host: list[str],
    out: str = "runs",
    inventory: str = "",
    sudo: bool = False,
    force: bool = False,
) -> None:
    """Remove runs: runs.clean RUN [-- RUN…]. From another machine once a whole copy with its result is here."""
    from rerig.run_keeping import clean_runs

    status = clean_runs(_runs(context, run, host, out, inventory, sudo), force)
    if status:
        sys.exit(status)


def _runs(context: Context, run: str, host: list[str], out: str, inventory: str, sudo: bool) -> list[KnownRun]:
    from rerig.known_runs import find_runs
    from rerig.meeting import hosts_of

    return find_runs([run, *arguments(context)], Path(out), hosts_of(host, inventory, sudo))
