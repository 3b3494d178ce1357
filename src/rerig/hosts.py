"""Which machines the user means: words of the command line as hosts, by Ansible's inventory or as ssh destinations."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

from rerig.errors import UserError
from rerig.text import bounded, printable

DESTINATION = re.compile(
    r"(?:(?P<user>[^@\s\[\]]+)@)?"
    r"(?:\[(?P<bracketed>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\](?::(?P<port6>[0-9]{1,5}))?"
    r"|(?P<bare6>[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[\w.-]+)?)"
    r"|(?P<name>[^-@:\s\[\]/\\][^@:\s\[\]/\\]*)(?::(?P<port>[0-9]{1,5}))?)"
)
LARGEST_PORT = 65535
SSH_ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")


@dataclass(frozen=True)
class Host:
    """One machine: ``destination`` is its address or its name for ssh, ``name`` what the user calls it.

    None: as ssh_config says. ``local``: this machine. ``sudo``: the agent runs as root there.
    """

    name: str
    destination: str
    local: bool = False
    user: str | None = None
    port: int | None = None
    key_file: str | None = None
    python: str = "python3"
    sudo: bool = False


def find_hosts(words: list[str], inventory: str | None) -> list[Host]:
    """The hosts that ``words`` name, each once, in order.

    A word is a host or group of the inventory, else an ssh destination (``user@box``, an alias of ssh_config,
    ``box:2222``, ``[fd00::7]:22``); one with an ``@`` never asks the inventory. Raises UserError.
    """
    from rerig.inventory import read_inventory

    known = read_inventory(inventory) if inventory or any("@" not in word for word in words) else None
    found: dict[str, Host] = {}
    for word in words:
        names = known.hosts_of(word) if known and "@" not in word else None
        if names is None:
            found.setdefault(word, parse_destination(word))
            continue
        if not names:
            raise UserError(f"The group {printable(word)} of the inventory is empty.")
        for name in names:
            found.setdefault(name, host_of(name, known.variables.get(name, {}) if known else {}))
    return list(found.values())


def parse_destination(word: str) -> Host:
    """An ssh destination as a host. Raises UserError for what is none."""
    match = DESTINATION.fullmatch(word)
    if match is None or not word.isprintable() or (match["user"] or "").startswith("-"):
        raise UserError(f"--host {bounded(printable(word), 80)!r} is no host: it must look like user@box or box:22.", 2)
    destination = match["bracketed"] or match["bare6"] or match["name"]
    port = match["port6"] or match["port"]
    if port is not None and not 0 < int(port) <= LARGEST_PORT:
        raise UserError(f"--host {printable(word)}: {port} is no port.", 2)
    return Host(word, destination, user=match["user"], port=int(port) if port else None)


def host_of(name: str, variables: dict[str, Any]) -> Host:
    """A host of the inventory from its variables. Raises UserError where one of them can't be used as it is."""
    for key in SSH_ARGUMENTS:
        if variables.get(key):
            print(
                f"{printable(name)}: {key} of the inventory is not used here; put what it says into ~/.ssh/config.",
                file=sys.stderr,
            )
    python = _text(name, variables, "ansible_python_interpreter")
    return Host(
        name=name,
        destination=_destination(name, variables),
        local=_text(name, variables, "ansible_connection") == "local",
        user=_text(name, variables, "ansible_user") or _text(name, variables, "ansible_ssh_user"),
        port=_port(name, variables),
        key_file=_text(name, variables, "ansible_ssh_private_key_file")
        or _text(name, variables, "ansible_private_key_file"),
        python="python3" if python is None or python.startswith("auto") else python,
        sudo=_truth(name, variables, "ansible_become"),
    )


def _destination(name: str, variables: dict[str, Any]) -> str:
    address = _text(name, variables, "ansible_host") or _text(name, variables, "ansible_ssh_host") or name
    if address.startswith("-") or not address.isprintable() or any(char.isspace() for char in address):
        raise UserError(f"{printable(name)}: ansible_host of the inventory is no host.")
    return address


def _port(name: str, variables: dict[str, Any]) -> int | None:
    text = _text(name, variables, "ansible_port") or _text(name, variables, "ansible_ssh_port")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 0 < int(text) <= LARGEST_PORT:
        raise UserError(f"{printable(name)}: ansible_port of the inventory is no port.")
    return int(text)


def _truth(name: str, variables: dict[str, Any], key: str) -> bool:
    text = _text(name, variables, key)
    return text is not None and text.lower() in ("true", "yes", "on", "1", "y", "t")


def _text(name: str, variables: dict[str, Any], key: str) -> str | None:
    value = variables.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str | int):
        raise UserError(f"{printable(name)}: {key} of the inventory is encrypted or no plain value; write it plainly.")
    text = str(value)
    if "{{" in text or "{%" in text:
        raise UserError(f"{printable(name)}: {key} of the inventory is a template, which only Ansible can fill in.")
    return text
