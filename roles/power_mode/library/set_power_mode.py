#!/usr/bin/python
"""Asks nvpmodel for a power mode, and believes no exit status."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

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
  present:
    description: The present mode's name, for the difference that is shown; empty where it isn't known.
    type: str
    default: ""
  needs_reboot:
    description: Whether the mode is known to need a reboot; it is then not asked for.
    type: bool
    default: false
  reboot_ok:
    description: Whether the role will reboot for it. It makes a difference in check mode only.
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
printed:
  description: What nvpmodel printed.
  returned: when it was asked
  type: str
"""

STATUS = Path("/var/lib/nvpmodel/status")


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "id": {"type": "int", "required": True},
            "name": {"type": "str", "required": True},
            "present": {"type": "str", "default": ""},
            "needs_reboot": {"type": "bool", "default": False},
            "reboot_ok": {"type": "bool", "default": False},
            "timeout_s": {"type": "int", "default": 60},
        },
        supports_check_mode=True,
    )
    asked = module.params
    if asked["needs_reboot"]:
        found, changed = answer("reboot_required"), module.check_mode and asked["reboot_ok"]
    elif module.check_mode:
        found, changed = answer("done"), True
    else:
        found = run(module.get_bin_path("nvpmodel", required=True), asked["id"], asked["timeout_s"])
        changed = found["outcome"] == "done"
    if found["outcome"] not in ("done", "reboot_required"):
        module.fail_json(msg=f"The power mode {asked['name']} can't be set: {found['sentence']}", **found)
    modes = {"before": f"{asked['present']}\n", "after": f"{asked['name'] if changed else asked['present']}\n"}
    module.exit_json(
        changed=changed, diff={"before_header": "power mode", "after_header": "power mode", **modes}, **found
    )


def answer(outcome: str) -> dict:
    """What nvpmodel would have said."""
    return {"outcome": outcome, "sentence": SENTENCES[outcome]}


def run(program: str, number: int, timeout_s: int) -> dict:
    """{"outcome", "sentence", "printed"}."""
    stored = status_text()
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
    found = {**parse_change(printed, done.returncode), "printed": printed[-4000:]}
    # In a chroot it notes the mode, which is then in force at no time; with an error it may have.
    if found["outcome"] != "done" and stored is not None and status_text() != stored:
        STATUS.write_text(stored, "utf-8")
    return found


def status_text() -> str | None:
    """The mode that is noted for the next boot, None where none is."""
    with suppress(OSError):
        return STATUS.read_text("utf-8")
    return None


if __name__ == "__main__":
    main()
