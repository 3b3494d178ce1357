"""Which machines are looked at, as testinfra names them, and what each is to be like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from rerig.desired import THIS_MACHINE, render_desired
from rerig.errors import UserError
from rerig.hosts import parse_destination
from rerig.inventory import Inventory, read_inventory
from rerig.text import printable

LABEL_HERE = "this machine"


@dataclass(frozen=True)
class Subject:
    """One machine: ``label`` as the user calls it, ``spec`` for testinfra, ``desired`` values by variable."""

    label: str
    spec: str
    inventory: str | None = None
    desired: dict[str, Any] = field(default_factory=dict)


def find_subjects(words: list[str], inventory: str | None) -> list[Subject]:
    """The machines that ``words`` name, each once, in order; this one for none.

    A word is a host or group of the inventory (its values apply), else an ssh destination, which gets the defaults.
    Raises UserError.
    """
    if inventory and not words:
        raise UserError("--inventory says where hosts are looked up, and --host which of them are meant: name one.", 2)
    if not words:
        return [Subject(LABEL_HERE, "local://", desired=_of(None, [THIS_MACHINE])[THIS_MACHINE])]
    known = read_inventory(inventory) if inventory or any("@" not in word for word in words) else None
    named: dict[str, bool] = {}
    for word in words:
        for name, listed in _named(word, known):
            named.setdefault(name, listed)
    specs = {name: f"ansible://{name}" if listed else _destination(name) for name, listed in named.items()}
    values = _of(inventory, [name for name, listed in named.items() if listed])
    plain = {} if all(named.values()) else _of(f"{THIS_MACHINE},", [THIS_MACHINE])[THIS_MACHINE]
    return [
        Subject(name, spec, inventory, values[name]) if named[name] else Subject(name, spec, desired=plain)
        for name, spec in specs.items()
    ]


def _of(inventory: str | None, names: list[str]) -> dict[str, dict[str, Any]]:
    return render_desired(inventory, names) if names else {}


def _named(word: str, known: Inventory | None) -> list[tuple[str, bool]]:
    """Each machine that a word means, and whether the inventory has it."""
    names = known.hosts_of(word) if known and "@" not in word else None
    if names is None:
        return [(word, False)]
    if not names:
        raise UserError(f"The group {printable(word)} of the inventory is empty.")
    return [(name, True) for name in names]


def _destination(word: str) -> str:
    host = parse_destination(word)
    address = f"[{quote(host.destination, safe=':')}]" if ":" in host.destination else quote(host.destination, safe="")
    user = f"{quote(host.user, safe='')}@" if host.user else ""
    port = f":{host.port}" if host.port else ""
    return f"ssh://{user}{address}{port}"
