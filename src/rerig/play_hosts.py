"""On which machines a playbook is to run: words of the command line as hosts of Ansible's inventory."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.hosts import parse_destination
from rerig.text import printable

if TYPE_CHECKING:
    from rerig.inventory import Inventory

# Letters that mean something in Ansible's patterns or its ranges of hosts stay out of a host's name.
ODD = re.compile(r"[^\w.@-]|^[^\w]")


@dataclass(frozen=True)
class PlayHosts:
    """The machines of a play.

    ``names``: those of the inventory by their own names, others by one that is made for this play, each with the word
    that the user knows it by. ``added``: the variables of the hosts that no inventory has. ``local``: all of them are
    this machine.
    """

    inventory: str | None
    names: dict[str, str]
    added: dict[str, dict[str, Any]] = field(default_factory=dict)
    local: bool = False

    def flags(self, scratch: Path) -> list[str]:
        """ansible-playbook's flags that choose exactly these machines; files are written to ``scratch``."""
        sources = [self.inventory] if self.inventory is not None else []
        if self.added:
            path = scratch / "hosts.json"
            path.write_text(json.dumps({"all": {"hosts": self.added}}), "utf-8")
            path.chmod(0o644)
            sources.append(str(path))
        chosen = scratch / "limit"
        chosen.write_text("".join(f"{name}\n" for name in self.names), "utf-8")
        return [*(f"--inventory={source}" for source in sources), f"--limit=@{chosen}"]


def find_play_hosts(words: list[str], inventory: str | None) -> PlayHosts:
    """The hosts that ``words`` name, each once, in order.

    As in ``rerig.hosts.find_hosts``: a host or group of the inventory, else an ssh destination; one with an ``@``
    never asks the inventory. Raises UserError.
    """
    from rerig.inventory import read_inventory

    if not words:
        raise UserError("Name the machine with --host: user@box, or a host or group of an inventory.", 2)
    known = read_inventory(inventory) if inventory or any("@" not in word for word in words) else None
    names: dict[str, str] = {}
    added: dict[str, dict[str, Any]] = {}
    for word in words:
        found = known.hosts_of(word) if known and "@" not in word else None
        if found is None:
            if word not in names.values():
                name = _new_name(word, names, known)
                names[name], added[name] = word, _variables(word)
        elif not found:
            raise UserError(f"The group {printable(word)} of the inventory is empty.")
        else:
            names.update({name: name for name in found})
    if added and inventory is None and len(added) < len(names):
        raise UserError("Name the inventory too (--inventory) where some machines are in it and others aren't.", 2)
    connections = [known.variables.get(name, {}).get("ansible_connection") if known else None for name in names]
    return PlayHosts(inventory, names, added, local=all(one == "local" for one in connections))


def _variables(word: str) -> dict[str, Any]:
    """What Ansible needs to know of an ssh destination; the rest is in the user's ssh_config."""
    host = parse_destination(word)
    variables: dict[str, Any] = {"ansible_host": host.destination}
    if host.user:
        variables["ansible_user"] = host.user
    if host.port:
        variables["ansible_port"] = host.port
    if host.user == "root":
        variables["ansible_become"] = False  # it may have no sudo
    return variables


def _new_name(word: str, names: dict[str, str], known: Inventory | None) -> str:
    plain = ODD.sub("_", word)
    tries = (plain if number == 1 else f"{plain}-{number}" for number in itertools.count(1))
    return next(name for name in tries if name not in names and (known is None or known.hosts_of(name) is None))
