#!/usr/bin/python
"""Says how far a board is on the road to Super, and what bars it. Reads only."""

from __future__ import annotations

import json
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.conditions import collect
from ansible.module_utils.rerig_agent.facts.jetson import VARIABLES
from ansible.module_utils.rerig_agent.facts.super_road import collect_road
from ansible.module_utils.rerig_agent.judge.super_progress import judge_progress
from ansible.module_utils.rerig_agent.state import run_tool

DOCUMENTATION = r"""
module: super_state
short_description: Say how far a board is on the road to Super
description:
  - Collects the evidence of a board and what the road needs (drives, EFI system partition, capsule), and gives the
    judgement of rerig_agent.judge.super_progress. The verdict in it is the one of the module board_state.
author: the rerig authors
options:
  root:
    description: Whose files to read. Anything but / is for tests.
    type: path
    default: /
  esp:
    description: Where the EFI system partition is mounted.
    type: path
    required: true
  capsule:
    description: The capsule that makes the bootloader Super.
    type: path
    required: true
  releases:
    description: Beginnings of the L4T versions on which it is allowed.
    type: list
    elements: str
    required: true
  other_slot:
    description: Whether a board that runs Super already shall get it into its other slot too.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    description: It never changes anything.
"""

EXAMPLES = r"""
- name: Look how far the board is
  super_state:
    esp: /boot/efi
    capsule: /opt/ota_package/t23x/TEGRA_BL_3767_super.Cap
    releases: ["36.4", "36.5"]
  become: true
  register: look
"""

RETURN = r"""
state:
  description: super, open, refused, staged, applied or failed.
  returned: always
  type: str
sentence:
  description: The state in words.
  returned: always
  type: str
gates:
  description: Each gate with its name, whether it was passed, and a sentence; empty unless something is to be done.
  returned: always
  type: list
  elements: dict
advice:
  description: The other way, where this one is barred.
  returned: always
  type: str
verdict:
  description: The verdict on Super mode, of rerig_agent.judge.super_mode.judge_super.
  returned: always
  type: dict
specs:
  description: The specs in nv_boot_control.conf as they are and as they shall be.
  returned: always
  type: dict
keep:
  description: What must be kept before anything is changed, for the way back.
  returned: always
  type: dict
kept:
  description: What was kept by an earlier run that is not finished.
  returned: always
  type: dict
staging:
  description: What must be noted when the capsule is staged, to tell afterwards what became of it.
  returned: always
  type: dict
capsule:
  description: The capsule's path, size and SHA-256.
  returned: always
  type: dict
record_alone:
  description: What is known of the slots once the other one is about to be written.
  returned: always
  type: dict
record_merged:
  description: What is known of the slots by now.
  returned: always
  type: dict
record_is_new:
  description: Whether that is more than what was noted.
  returned: always
  type: bool
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "esp": {"type": "path", "required": True},
            "capsule": {"type": "path", "required": True},
            "releases": {"type": "list", "elements": "str", "required": True},
            "other_slot": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    asked = module.params
    root = Path(asked["root"])
    evidence = collect(root, run_tool)
    road = collect_road(root, asked["esp"], asked["capsule"])
    found = judge_progress(evidence, road, asked["releases"], asked["other_slot"])
    jetson = evidence["jetson"] or {"variables": {}, "files": {}}
    noted = jetson["files"].get("slot_record", {}).get("text")
    merged = {**slots_of(noted), **found["record"]}
    module.exit_json(
        changed=False,
        **found,
        keep={
            "slot": found["verdict"]["firmware"]["slot"],
            "missing_folders": road["esp"]["missing_folders"],
            "slot_record": noted,
            # what couldn't be read is no reason to take it for missing: null is for what isn't there
            "variables": {
                f"{name}-{VARIABLES[name]}": reading.get("hex")
                for name, reading in jetson["variables"].items()
                if "hex" in reading or reading.get("error") == "missing"
            },
        },
        kept=road["pending"] or {},
        staging={
            "sha256": road["capsule"].get("sha256"),
            "boot_id": evidence["boot_id"],
            "slot": found["verdict"]["firmware"]["slot"],
            "super": found["verdict"]["layers"]["firmware"]["state"] == "super",
        },
        capsule=road["capsule"],
        record_alone=found["record"],
        record_merged=merged,
        record_is_new=bool(found["record"]) and merged != slots_of(noted),
    )


def slots_of(text: str | None) -> dict[str, object]:
    """The note on the slots; empty where there is none, or a torn one."""
    try:
        noted = json.loads(text or "")
    except ValueError:
        return {}
    return noted if isinstance(noted, dict) else {}


if __name__ == "__main__":
    main()
