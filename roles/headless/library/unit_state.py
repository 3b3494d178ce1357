#!/usr/bin/python
"""Brings units to a state that is told link by link, so that what was found can be put back exactly."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.units import SYSTEM, unit_links, unit_runs

DOCUMENTATION = r"""
module: unit_state
short_description: Enable, disable, start and stop units, exactly as they were or as wanted
description:
  - systemctl disables and enables by what a unit's file says of itself, but the link of a display manager is often
    nobody's, and a unit may have been enabled for another target than its file's. So the links below
    C(/etc/systemd/system) are compared and set.
author: the rerig authors
options:
  units:
    description:
      - "By the unit's name: C(links), what each of its links below /etc/systemd/system names (empty: disabled), and
        C(runs), whether it is to run (null: as it is)."
    type: dict
    required: true
attributes:
  check_mode:
    support: full
    description: Says what would change.
  diff_mode:
    support: full
    description: The links and what runs, before and after.
"""

EXAMPLES = r"""
- name: Stop printing and let it not start again
  unit_state:
    units:
      cups.service:
        links: {}
        runs: false
  become: true
"""

RETURN = r"""
units:
  description: The units that differ, each with its C(links) and C(runs) as they were.
  returned: always
  type: dict
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={"units": {"type": "dict", "required": True}},
        supports_check_mode=True,
    )
    before = {unit: present(unit) for unit in module.params["units"]}
    after = {unit: merged(before[unit], wanted) for unit, wanted in module.params["units"].items()}
    differ = {unit: state for unit, state in before.items() if state != after[unit]}
    if differ and not module.check_mode:
        try:
            for unit, state in differ.items():
                remove_links(unit, state["links"], after[unit]["links"])
                add_links({path: to for path, to in after[unit]["links"].items() if "/" in path})
            systemctl("daemon-reload")
            for runs, verb in ((False, "stop"), (True, "start")):
                units = [unit for unit in differ if before[unit]["runs"] != runs == after[unit]["runs"]]
                if units:
                    systemctl(verb, "--", *units)
            # Last, and no reload after it: systemd 252 takes a display manager that runs for a stopped one when it gets
            # its second name back.
            for unit in differ:
                add_links({path: to for path, to in after[unit]["links"].items() if "/" not in path})
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
            module.fail_json(msg=f"The units {', '.join(differ)} can't be changed: {said}")
        other = [unit for unit in differ if present(unit) != after[unit]]
        if other:
            module.fail_json(msg=f"systemd was told, but the state of {', '.join(other)} is another one.")
    module.exit_json(changed=bool(differ), units=differ, diff={"before": text(before), "after": text(after)})


def present(unit: str) -> dict:
    """{"links", "runs"} of a unit."""
    return {"links": unit_links(Path("/"), unit), "runs": unit_runs(Path("/"), unit)}


def merged(state: dict, wanted: dict) -> dict:
    """``state`` with what is wanted otherwise."""
    return {**state, **{key: value for key, value in wanted.items() if key in state and value is not None}}


def text(states: dict) -> str:
    """The states as lines, for a difference."""
    lines = []
    for unit, state in sorted(states.items()):
        lines += [f"{unit} {'runs' if state['runs'] else 'does not run'}"]
        lines += [f"{SYSTEM}/{path} -> {target}" for path, target in sorted(state["links"].items())]
    return "".join(f"{line}\n" for line in lines)


def remove_links(unit: str, before: dict, after: dict) -> None:
    """Those that are too many, or name something else; systemctl itself disables what it can."""
    if before and not after and not unit.endswith(".target"):
        systemctl("disable", "--quiet", "--", unit, check=False)
    for path, target in before.items():
        link = Path(SYSTEM) / path
        if after.get(path) != target and link.is_symlink():
            link.unlink()


def add_links(links: dict) -> None:
    """Those that are missing."""
    for path, target in links.items():
        link = Path(SYSTEM) / path
        if not link.is_symlink():
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(target)


def systemctl(*words: str, check: bool = True) -> None:
    """Raises CalledProcessError."""
    subprocess.run(["systemctl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=check)


if __name__ == "__main__":
    main()
