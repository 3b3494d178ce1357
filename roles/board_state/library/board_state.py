#!/usr/bin/python
"""Looks at a machine and judges whether it is in the known state. Reads only."""

from __future__ import annotations

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.units import own_swap_files, place_of, unit_links, unit_runs
from ansible.module_utils.rerig_agent.judge.conditions_summary import summarize
from ansible.module_utils.rerig_agent.state import look

DOCUMENTATION = r"""
module: board_state
short_description: Look at a machine and judge its state
description:
  - Collects what the machine says of itself and gives the one judgement that verify, the roles and every result share.
  - Reads files only, unless O(tools) asks the board's own tools, which only read too. It takes no root; what root would
    add is in RV(super.needs_root).
author: the rerig authors
options:
  root:
    description: Whose files to read.
    type: path
    default: /
  tools:
    description: Also ask the board's own tools (nvbootctrl), which takes root.
    type: bool
    default: true
  units:
    description: Units of which to say whether they are enabled and whether they run.
    type: list
    elements: str
    default: []
  paths:
    description: Files of which to say whether they are there, and how much room there is for them.
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    support: full
    description: It never changes anything.
"""

EXAMPLES = r"""
- name: Look at the board
  board_state:
  register: look
"""

RETURN = r"""
super:
  description: The verdict on Super mode, of rerig_agent.judge.super_mode.judge_super.
  returned: always
  type: dict
evidence:
  description: What the verdict is made of, without the long texts that only the judge reads.
  returned: always
  type: dict
known_state:
  description: What the machine boots into, its desktop and the units that say something about its state.
  returned: always
  type: dict
links:
  description: NVMe drives and what their PCIe links are.
  returned: always
  type: list
  elements: dict
fan:
  description: The fan's profile in force and the configuration's default.
  returned: always
  type: dict
units:
  description: For each of O(units) whether it is C(enabled) and whether it C(runs).
  returned: always
  type: dict
paths:
  description: For each of O(paths) its size (C(bytes)) and the room there (C(free_bytes)); none where there is nothing.
  returned: always
  type: dict
swap_files:
  description: Swap files of rerig's own, each with its unit.
  returned: always
  type: dict
memory_available_bytes:
  description: MemAvailable.
  returned: always
  type: int
user_id:
  description: Whose eyes it looked with; 0 is root.
  returned: always
  type: int
"""

LONG = ("cpuinfo", "meminfo")


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "tools": {"type": "bool", "default": True},
            "units": {"type": "list", "elements": "str", "default": []},
            "paths": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    root = Path(module.params["root"])
    if not root.is_dir():
        module.fail_json(msg=f"There is no folder {root} to look below.")
    seen = look(root, module.params["tools"])
    evidence = seen["evidence"]
    module.exit_json(
        changed=False,
        evidence={name: value for name, value in evidence.items() if name not in LONG},
        known_state=evidence["known_state"],
        units={
            unit: {"enabled": bool(unit_links(root, unit)), "runs": unit_runs(root, unit)}
            for unit in module.params["units"]
        },
        paths={path: place_of(root, path) for path in module.params["paths"]},
        swap_files=own_swap_files(root),
        memory_available_bytes=summarize(evidence)["memory_available_bytes"],
        user_id=os.geteuid(),
        **{name: seen[name] for name in ("super", "links", "fan")},
    )


if __name__ == "__main__":
    main()
