"""Puts back what rerig changed on machines, from the records that its roles left there."""

from __future__ import annotations

from rerig.play import run_play
from rerig.play_hosts import find_play_hosts
from rerig.provision import Wish, play_flags, site_roles
from rerig.report import provisioning


def restore(words: list[str], inventory: str | None, wish: Wish) -> int:
    """Play restore.yml on the machines that ``words`` name, and print what was put back; the exit status.

    Raises UserError for words that make no sense, and about a single machine that failed.
    """
    roles = site_roles()
    hosts = find_play_hosts(words, inventory)
    played = run_play("restore.yml", hosts, play_flags(hosts, roles, wish))
    call = provisioning.Call(words, inventory, hosts.names, wish.check)
    return provisioning.print_restored(played, call, roles[::-1])
