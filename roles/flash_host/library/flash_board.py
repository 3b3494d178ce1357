#!/usr/bin/python
"""Runs the flashing tool, keeps its log, and says in a sentence why it failed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.judge.flash_failures import explain_failure

DOCUMENTATION = r"""
module: flash_board
short_description: Run L4T's flashing tool
description:
  - Everything that the tool prints goes to a log file, which stays. Its standard input is empty.
author: the rerig authors
options:
  argv:
    description: The command.
    type: list
    elements: str
    required: true
  bsp:
    description: The folder Linux_for_Tegra.
    type: path
    required: true
  logs:
    description: Where the log goes.
    type: path
    required: true
  limit_s:
    description: How long it may take.
    type: int
    default: 3600
attributes:
  check_mode:
    support: full
    description: Nothing is run.
"""

EXAMPLES = r"""
- name: Flash the board
  flash_board:
    argv: [./flash.sh, --no-systemimg, jetson-orin-nano-devkit-super, internal]
    bsp: /data/Linux_for_Tegra
    logs: /var/log/rerig
"""

RETURN = r"""
log:
  description: The log file.
  returned: always
  type: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "argv": {"type": "list", "elements": "str", "required": True},
            "bsp": {"type": "path", "required": True},
            "logs": {"type": "path", "required": True},
            "limit_s": {"type": "int", "default": 3600},
        },
        supports_check_mode=True,
    )
    asked = module.params
    log = Path(asked["logs"]) / time.strftime("flash-%Y%m%dT%H%M%SZ.log", time.gmtime())
    if module.check_mode:
        module.exit_json(changed=True, log=str(log))
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        status = run(asked["argv"], asked["bsp"], log, asked["limit_s"])
        printed = log.read_text("utf-8", "replace")
    except OSError as error:
        module.fail_json(msg=f"The flashing tool can't be run: {error}.", log=str(log))
    if status != 0:
        module.fail_json(msg=f"{explain_failure(printed, status)} The whole log is {log}.", log=str(log), status=status)
    module.exit_json(changed=True, log=str(log))


def run(argv: list[str], folder: str, log: Path, limit_s: int) -> int | None:
    """Its exit status; None where it took too long and was ended, with all that it had started."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C", "LANGUAGE": ""},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            return None


if __name__ == "__main__":
    main()
