#!/usr/bin/python
"""Lets the vendor's tool write the board's name where the firmware reads it, and reads it back from there."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.jetson import VARIABLES
from ansible.module_utils.rerig_agent.facts.readings import read_hex
from ansible.module_utils.rerig_agent.facts.super_road import CONFIG_TOOL
from ansible.module_utils.rerig_agent.parse import ParseError
from ansible.module_utils.rerig_agent.parse.efivar import parse_variable

DOCUMENTATION = r"""
module: board_spec_variables
short_description: Let UEFI's copies of the board's specs follow nv_boot_control.conf
description:
  - Runs C(nv-l4t-bootloader-config.sh -l) where a copy differs, and reads the copies back from efivarfs.
author: the rerig authors
options:
  tnspec:
    description: What TegraPlatformSpec shall be.
    type: str
    required: true
  compatible_spec:
    description: What TegraPlatformCompatSpec shall be.
    type: str
    required: true
  timeout_s:
    description: How long the tool may take.
    type: int
    default: 60
attributes:
  check_mode:
    support: full
    description: Says whether it would change something.
"""

EXAMPLES = r"""
- name: Tell the firmware the board's name
  board_spec_variables:
    tnspec: 3767-300-0005-R.1-1-1-jetson-orin-nano-devkit-super-
    compatible_spec: 3767--0005--1--jetson-orin-nano-devkit-super-
"""

RETURN = r"""
differed:
  description: The variables that differed.
  returned: always
  type: list
  elements: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "tnspec": {"type": "str", "required": True},
            "compatible_spec": {"type": "str", "required": True},
            "timeout_s": {"type": "int", "default": 60},
        },
        supports_check_mode=True,
    )
    asked = {
        "TegraPlatformSpec": module.params["tnspec"],
        "TegraPlatformCompatSpec": module.params["compatible_spec"],
    }
    differed = different(asked)
    if differed and not module.check_mode:
        said = run(module.params["timeout_s"])
        left = different(asked)
        if left:
            tail = f" It said: {said}" if said else ""
            module.fail_json(
                msg=f"nv-l4t-bootloader-config.sh -l was run, and UEFI's variable {left[0]} still is another one.{tail}"
            )
    module.exit_json(changed=bool(differed), differed=differed)


def different(asked: dict[str, str]) -> list[str]:
    return [name for name, spec in asked.items() if value_of(name) != spec]


def value_of(name: str) -> str | None:
    reading = read_hex(Path("/"), f"/sys/firmware/efi/efivars/{name}-{VARIABLES[name]}")
    try:
        return parse_variable(reading.get("hex", ""))["text"]
    except ParseError:
        return None


def run(limit_s: int) -> str:
    """The last line that the tool printed; its exit status proves nothing, so the variables are read instead."""
    try:
        done = subprocess.run(
            [CONFIG_TOOL, "-l"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{error}."
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


if __name__ == "__main__":
    main()
