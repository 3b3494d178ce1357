"""``./inv verify``: is a machine in the known state?"""

from __future__ import annotations

import sys

from invoke.context import Context
from invoke.tasks import task


@task(
    name="verify",
    iterable=["host"],
    help={
        "host": "Look at another machine: user@box, box:2222, an alias of ssh_config, or a host or group of the "
        "inventory; repeat it for several. Its host key must be in known_hosts.",
        "inventory": "The Ansible inventory that --host is looked up in, and that says what is wanted (default: as "
        "ansible.cfg says).",
        "only": "Check only these, with commas between them: super, power_mode, headless, memory, services, clocks, "
        "fan, nvme, versions. On a machine that is no Jetson: headless,memory,nvme.",
        "json": "Print one JSON document instead of tables.",
        "sudo": "Look as root on the other machines, where sudo asks for no password; on this one, use sudo ./inv.",
    },
)
def run_verify(
    _context: Context, host: list[str], inventory: str = "", only: str = "", json: bool = False, sudo: bool = False
) -> None:
    """Check whether a machine is in the known state: really Super, layer by layer, headless, in the right mode.

    It changes nothing. The exit status is 0 only if everything was checked and is as it should be.
    """
    from rerig.verify import verify

    status = verify(host, inventory, only, json, sudo)
    if status:
        sys.exit(status)
