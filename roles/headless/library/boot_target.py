#!/usr/bin/python
"""Sets what a machine boots into, and nothing of what runs now."""

from __future__ import annotations

import subprocess

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: boot_target
short_description: Set what the machine boots into
description:
  - C(systemctl set-default). Never C(systemctl isolate), which starts nvpmodel.service again on a Jetson and so takes
    back what jetson_clocks has set.
author: the rerig authors
options:
  name:
    description: The target's name.
    type: str
    required: true
attributes:
  check_mode:
    support: full
    description: Says what would change.
  diff_mode:
    support: full
    description: The target before and after.
"""

EXAMPLES = r"""
- name: Boot without a desktop
  boot_target:
    name: multi-user.target
  become: true
"""

RETURN = r"""
before:
  description: What it booted into.
  returned: always
  type: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(argument_spec={"name": {"type": "str", "required": True}}, supports_check_mode=True)
    wanted = module.params["name"]
    try:
        before = systemctl("get-default")
        if before != wanted and not module.check_mode:
            systemctl("set-default", "--", wanted)
            if systemctl("get-default") != wanted:
                module.fail_json(msg=f"systemd was told to boot into {wanted}, but would boot into something else.")
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        module.fail_json(msg=f"What the machine boots into can't be set: {said}")
    module.exit_json(changed=before != wanted, before=before, diff={"before": f"{before}\n", "after": f"{wanted}\n"})


def systemctl(*words: str) -> str:
    """What it prints. Raises CalledProcessError."""
    done = subprocess.run(["systemctl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
