#!/usr/bin/python
"""Keeps what a role found before its first change, for the day it is put back."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.units import unit_links, unit_runs

DOCUMENTATION = r"""
module: restore_record
short_description: Keep what a role found, for its restore
description:
  - One file a role below C(/var/lib/rerig/restore), which only root reads.
  - What is kept already is never overwritten; what is new is added, so that a later run may change more.
  - It is rerig's own note and no change of the machine, so it never counts as one.
author: the rerig authors
options:
  role:
    description: Whose record it is.
    type: str
    required: true
  state:
    description: V(read) only gives it, V(kept) adds to it, V(forgotten) removes it and the folders that are then empty.
    type: str
    choices: [read, kept, forgotten]
    default: read
  values:
    description: What to keep, by name.
    type: dict
    default: {}
  units:
    description: Units whose links and running to keep, in RV(kept.units).
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    description: Nothing is written; RV(kept) is what would be.
"""

EXAMPLES = r"""
- name: Keep what was there
  restore_record:
    role: power_mode
    state: kept
    values:
      mode: 15W
  become: true
"""

RETURN = r"""
kept:
  description: What is kept, empty for none.
  returned: always
  type: dict
"""

FOLDER = Path("/var/lib/rerig/restore")


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "role": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["read", "kept", "forgotten"], "default": "read"},
            "values": {"type": "dict", "default": {}},
            "units": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    asked = module.params
    if not asked["role"].isidentifier():
        module.fail_json(msg=f"{asked['role']} is no name of a role.")
    path = FOLDER / f"{asked['role']}.json"
    try:
        kept = read(path)
        if asked["state"] == "kept":
            kept = merged(kept, asked["values"], asked["units"])
            if not module.check_mode:
                write(path, kept)
        elif asked["state"] == "forgotten" and not module.check_mode:
            forget(path)
    except (OSError, ValueError) as error:
        module.fail_json(msg=f"The record {path} can't be used: {error}.")
    module.exit_json(changed=False, kept=kept)


def read(path: Path) -> dict:
    """What is kept; empty for none. Raises ValueError for a file that is no record."""
    try:
        kept = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    if not isinstance(kept, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - of what a file holds, as its reader's own errors
    return kept


def merged(kept: dict, values: dict, units: list) -> dict:
    """``kept`` and what is new in the values and the units."""
    known = kept.get("units", {})
    found = {
        unit: {"links": unit_links(Path("/"), unit), "runs": unit_runs(Path("/"), unit)}
        for unit in units
        if unit not in known
    }
    return {**values, **kept, **({"units": {**found, **known}} if units else {})}


def write(path: Path, kept: dict) -> None:
    """As a whole or not at all."""
    path.parent.parent.mkdir(mode=0o755, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # which only root reads
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1, sort_keys=True)
        file.write("\n")
        file.flush()
        os.fsync(descriptor)
    Path(name).replace(path)


def forget(path: Path) -> None:
    """Remove it, and the folders that it leaves empty."""
    path.unlink(missing_ok=True)
    with suppress(OSError):  # others may have their records there
        path.parent.rmdir()
        path.parent.parent.rmdir()


if __name__ == "__main__":
    main()
