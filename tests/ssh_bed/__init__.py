"""Machines to speak ssh with: real sshd processes on 127.0.0.1, each in namespaces of its own that leave nothing.

::

    with SshBed(folder, tools) as bed:
        host = bed.start("orin", users=[User("jetson", sudo="password", password="…")], locale="de_DE.UTF-8")
        host.run(["hostname"])          # there, as root
        host.kill_sshd()
        host.restart_sshd()
        host.reboot()

``bed.home`` is the user's home on this side: ``.ssh/config``, ``known_hosts`` and keys, with an entry for each machine.
"""

from __future__ import annotations

from ssh_bed.bed import SshBed
from ssh_bed.host import BedHost
from ssh_bed.machine import Machine, User
from ssh_bed.tools import prepare_tools

__all__ = ["BedHost", "Machine", "SshBed", "User", "prepare_tools"]
