"""Ansible's inventory as Ansible itself reads it (``ansible-inventory --list``): groups, hosts and their variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.text import bounded, printable

LIMIT_S = 120  # a dynamic inventory asks a cloud


@dataclass(frozen=True)
class Inventory:
    """Groups by name (each ``hosts`` and ``children``) and variables by host."""

    groups: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    variables: dict[str, dict[str, Any]] = field(default_factory=dict)

    def hosts_of(self, word: str) -> list[str] | None:
        """The hosts of a group, or the host itself; None for a word that the inventory doesn't know."""
        if word in self.groups:
            return list(dict.fromkeys(self._members(word, set())))
        return [word] if any(word in group.get("hosts", []) for group in self.groups.values()) else None

    def _members(self, group: str, seen: set[str]) -> list[str]:
        if group in seen:
            return []
        seen.add(group)
        content = self.groups.get(group, {})
        children = [host for child in content.get("children", []) for host in self._members(child, seen)]
        return [*content.get("hosts", []), *children]


def read_inventory(path: str | None) -> Inventory:
    """The inventory in ``path`` (None: Ansible's own default, as ANSIBLE_INVENTORY or ansible.cfg says).

    Raises UserError, one sentence, where it is missing or can't be read.
    """
    if path is not None and not Path(path).exists() and "," not in path:
        raise UserError(f"--inventory {printable(path)}: no such file or directory.", 2)
    command = [sys.executable, "-I", "-m", "ansible", "inventory", "--list"]
    command += ["--inventory", path] if path is not None else []
    with tempfile.TemporaryDirectory(prefix="rerig-ansible-") as scratch:
        try:
            done = subprocess.run(
                command,
                env=ansible_environment(scratch),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise UserError(f"The inventory was not read within {LIMIT_S} s.") from error
    try:
        listed = json.loads(done.stdout)
    except ValueError:
        listed = None
    if done.returncode or not isinstance(listed, dict):
        raise UserError(f"The inventory can't be read: {complaint(done.stderr)}.")
    variables = listed.pop("_meta", {}).get("hostvars", {})
    return Inventory(listed, variables)


def ansible_environment(scratch: str) -> dict[str, str]:
    """Ansible wants a UTF-8 locale and a folder to write in; a source that can't be read is an error, not empty."""
    own = {
        "ANSIBLE_HOME": scratch,
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    return {**{name: value for name, value in os.environ.items() if name != "LANGUAGE"}, **own}


def complaint(output: bytes) -> str:
    """The first line that says more than that something failed."""
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines()]
    said = (
        [line for line in lines if line and not line.startswith("[WARNING]")] or lines or ["ansible-inventory failed"]
    )
    errors = [line for line in said if line.startswith(("ERROR", "[ERROR]"))]
    return bounded(printable((errors or said)[0]).rstrip("."), 200)
