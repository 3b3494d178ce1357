#!/usr/bin/python
"""Looks at a machine and judges whether it is in the known state. Reads only."""

from __future__ import annotations

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.known_state import is_wanted, own_swap_units
from ansible.module_utils.rerig_agent.facts.readings import within
from ansible.module_utils.rerig_agent.judge.conditions_summary import summarize
from ansible.module_utils.rerig_agent.state import look

DOCUMENTATION = r"""
module: board_state
short_description: Look at a machine and judge its state
description:
  - Collects what the machine says of itself and gives the one judgement that verify, the roles and every result share.
  - Reads files only, unless O(tools) asks the board's own tools, which only read too.
author: the rerig authors
options:
  root:
    description: Whose files to read.
    type: path
    default: /
  tools:
    description: Also ask the board's own tools (nvbootctrl), which takes root.
    type: bool
    default: false
  keep_evidence:
    description: Also give the whole evidence.
    type: bool
    default: false
  units:
    description: Units of which to say whether they are enabled.
    type: list
    elements: str
    default: []
  paths:
    description: Files of which to say whether they are there.
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
  description: Whether each of O(units) is wanted by some target, by its name.
  returned: always
  type: dict
paths:
  description: Whether each of O(paths) is there, by its name.
  returned: always
  type: dict
swap_units:
  description: Swap units of rerig's own that are wanted by some target.
  returned: always
  type: list
  elements: str
memory_available_bytes:
  description: MemAvailable.
  returned: always
  type: int
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "tools": {"type": "bool", "default": False},
            "keep_evidence": {"type": "bool", "default": False},
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
        super=seen["super"],
        links=seen["links"],
        fan=seen["fan"],
        known_state=evidence["known_state"],
        units={unit: is_wanted(root, unit) for unit in module.params["units"]},
        paths={path: os.path.lexists(within(root, path, last=False)) for path in module.params["paths"]},
        swap_units=own_swap_units(root),
        memory_available_bytes=summarize(evidence)["memory_available_bytes"],
        **({"evidence": evidence} if module.params["keep_evidence"] else {}),
    )


if __name__ == "__main__":
    main()
