#!/usr/bin/python
"""Asks nvpmodel for a power mode, and believes no exit status."""

from __future__ import annotations

import subprocess

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.parse.nvpmodel import SENTENCES, parse_change

DOCUMENTATION = r"""
module: set_power_mode
short_description: Ask nvpmodel for a power mode
description:
  - Runs C(nvpmodel -m ID) with an empty standard input and a time limit, and reads what it prints. nvpmodel exits 0 for
    a question that nobody answers, for an error, and in a chroot.
  - Whether the mode is in force is read back by others.
author: the rerig authors
options:
  id:
    description: The mode's number in the active configuration.
    type: int
    required: true
  name:
    description: The mode's name, for sentences.
    type: str
    required: true
  needs_reboot:
    description: Whether the mode is known to need a reboot; it is then not asked for.
    type: bool
    default: false
  timeout_s:
    description: How long nvpmodel may take.
    type: int
    default: 60
attributes:
  check_mode:
    support: full
    description: Says what would become of it.
"""

EXAMPLES = r"""
- name: Set the mode
  set_power_mode:
    id: 2
    name: MAXN_SUPER
"""

RETURN = r"""
outcome:
  description: done or reboot_required. Everything else fails.
  returned: success
  type: str
sentence:
  description: What became of it.
  returned: always
  type: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "id": {"type": "int", "required": True},
            "name": {"type": "str", "required": True},
            "needs_reboot": {"type": "bool", "default": False},
            "timeout_s": {"type": "int", "default": 60},
        },
        supports_check_mode=True,
    )
    asked = module.params
    if asked["needs_reboot"]:
        module.exit_json(changed=False, outcome="reboot_required", sentence=SENTENCES["reboot_required"])
    if module.check_mode:
        module.exit_json(changed=True, outcome="done", sentence=SENTENCES["done"])
    found = run(module.get_bin_path("nvpmodel", required=True), asked["id"], asked["timeout_s"])
    if found["outcome"] == "reboot_required":
        module.exit_json(changed=False, **found)
    if found["outcome"] != "done":
        module.fail_json(msg=f"The power mode {asked['name']} can't be set: {found['sentence']}", **found)
    module.exit_json(changed=True, **found)


def run(program: str, number: int, timeout_s: int) -> dict[str, str]:
    """{"outcome", "sentence", "printed"}."""
    try:
        done = subprocess.run(
            [program, "-m", str(number)],
            stdin=subprocess.DEVNULL,  # it asks questions, whose answer can reboot the machine
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"outcome": "error", "sentence": f"nvpmodel has not answered for {timeout_s} s.", "printed": ""}
    printed = done.stdout.decode("utf-8", "replace")
    return {**parse_change(printed, done.returncode), "printed": printed[-4000:]}


if __name__ == "__main__":
    main()
