"""``./inv provision`` and ``./inv restore``: bring machines to the known state, and put back what they were."""

from __future__ import annotations

import sys

from invoke.context import Context
from invoke.tasks import task

HOST = "The machine: user@box, box:2222, an alias of ssh_config, or a host or group of the inventory (localhost: this "
HOST += "one); repeat it for several. Its host key must be in known_hosts."
INVENTORY = "The Ansible inventory that --host is looked up in (default: as ansible.cfg says)."
ASK = "Ask for sudo's password, once for all machines; it is kept nowhere."
REBOOT = "Let the machines reboot where something takes effect only then."


@task(
    iterable=["host"],
    help={
        "host": HOST,
        "inventory": INVENTORY,
        "check": "Only say what would change.",
        "diff": "Show the lines of files that change.",
        "only": "Parts of it, such as power_mode,headless (default: all).",
        "ask-become-pass": ASK,
        "reboot": REBOOT,
    },
)
def provision(
    _context: Context,
    host: list[str],
    inventory: str = "",
    check: bool = False,
    diff: bool = False,
    only: str = "",
    ask_become_pass: bool = False,
    reboot: bool = False,
) -> None:
    """Bring machines to the known state: power mode, no desktop, tools. Says what changed and what to type next.

    What is wanted is in the inventory; without one, the roles' defaults are. Nothing reboots unless --reboot says so.
    """
    from rerig.provision import Wish
    from rerig.provision import provision as bring

    parts = [name.strip() for name in only.split(",")] if only else None
    status = bring(host, inventory or None, Wish(check, diff, parts, ask_become_pass, reboot))
    if status:
        sys.exit(status)


@task(
    iterable=["host"],
    help={
        "host": HOST,
        "inventory": INVENTORY,
        "check": "Only say what would be put back.",
        "ask-become-pass": ASK,
        "reboot": REBOOT,
    },
)
def restore(
    _context: Context,
    host: list[str],
    inventory: str = "",
    check: bool = False,
    ask_become_pass: bool = False,
    reboot: bool = False,
) -> None:
    """Put back what ./inv provision changed on machines, from what it noted there. Installed packages stay."""
    from rerig.provision import Wish
    from rerig.restore import restore as put_back

    status = put_back(host, inventory or None, Wish(check, ask_become_pass=ask_become_pass, reboot=reboot))
    if status:
        sys.exit(status)
