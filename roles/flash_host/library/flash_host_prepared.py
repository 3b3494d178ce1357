#!/usr/bin/python
"""Gives a host what flashing needs for as long as it takes, and sets everything back to what it was."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.sysfs import read_number
from ansible.module_utils.rerig_agent.judge.flash_host import NO_AUTOSUSPEND, SERVICES, USBFS_MEMORY_MB

DOCUMENTATION = r"""
module: flash_host_prepared
short_description: Give a host what flashing needs, and set it back
description:
  - More memory for USB, no autosuspend, and no service that takes hold of the board's USB devices or drives.
  - What was there is noted first, so that also a run that was killed is set back by the next.
author: the rerig authors
options:
  root:
    description: Whose files to read and write. Anything but / is for tests.
    type: path
    default: /
  state:
    description: Whether the host shall be prepared, or as it was.
    type: str
    choices: [prepared, restored]
    required: true
attributes:
  check_mode:
    support: full
    description: Says what it would change.
"""

EXAMPLES = r"""
- name: Prepare the host
  flash_host_prepared:
    state: prepared
"""

RETURN = r"""
changed_what:
  description: What changed, in sentences.
  returned: always
  type: list
  elements: str
"""

RECORD = "var/lib/rerig/restore/flash_host.json"
PARAMETERS = "sys/module/usbcore/parameters"


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "state": {"type": "str", "choices": ["prepared", "restored"], "required": True},
        },
        supports_check_mode=True,
    )
    host = Host(Path(module.params["root"]), module.get_bin_path("systemctl"), module.check_mode)
    try:
        told = host.prepare() if module.params["state"] == "prepared" else host.restore()
    except OSError as error:
        module.fail_json(msg=f"The host's settings can't be changed: {error}.")
    module.exit_json(changed=bool(told), changed_what=told)


class Host:
    """The host's settings below a root; nothing is written in check mode."""

    def __init__(self, root: Path, systemctl: str | None, check: bool) -> None:
        self.root, self.systemctl, self.check = root, systemctl, check
        self.record = root / RECORD

    def prepare(self) -> list[str]:
        """What changed."""
        before = self.noted() or {"parameters": {}, "stopped": []}
        todo = {
            name: (now, wanted)
            for name, wanted in (("usbfs_memory_mb", USBFS_MEMORY_MB), ("autosuspend", NO_AUTOSUSPEND))
            if (now := read_number(self.root / PARAMETERS / name)) is not None and not enough(name, now, wanted)
        }
        running = [service for service in SERVICES if self.is_active(service)]
        if not self.check and (todo or running):
            # of an earlier run that was killed: what it found comes first
            parameters = {**{name: now for name, (now, _) in todo.items()}, **before["parameters"]}
            self.note({"parameters": parameters, "stopped": sorted({*before["stopped"], *running})})
            for name, (_, wanted) in todo.items():
                self.set(name, wanted)
            for service in running:
                self.call("stop", service)
        told = [f"{name} {now} → {wanted}" for name, (now, wanted) in todo.items()]
        return told + [f"{service} stopped" for service in running]

    def restore(self) -> list[str]:
        """What changed."""
        before = self.noted()
        if before is None:
            return []
        told = [
            f"{name} {now} → {earlier}"
            for name, earlier in before["parameters"].items()
            if (now := read_number(self.root / PARAMETERS / name)) != earlier
        ]
        told += [f"{service} started" for service in before["stopped"]]
        if not self.check:
            for name, earlier in before["parameters"].items():
                self.set(name, earlier)
            for service in before["stopped"]:
                self.call("start", service)
            self.record.unlink()
            for folder in list(self.record.parents)[:2]:
                with contextlib.suppress(OSError):  # another role's notes are in it
                    folder.rmdir()
        return told

    def noted(self) -> dict[str, Any] | None:
        try:
            return dict(json.loads(self.record.read_text("utf-8")))
        except (OSError, ValueError):
            return None

    def note(self, before: dict[str, Any]) -> None:
        self.record.parent.mkdir(parents=True, exist_ok=True)
        self.record.write_text(json.dumps(before) + "\n", "utf-8")
        self.record.chmod(0o600)

    def set(self, name: str, value: int) -> None:
        file = self.root / PARAMETERS / name
        file.write_text(f"{value}\n", "ascii")
        if read_number(file) != value:
            raise OSError(f"{name} was set to {value} and reads back as another number")

    def is_active(self, service: str) -> bool:
        return self.systemctl is not None and self.call("is-active", "--quiet", service, check=False) == 0

    def call(self, *words: str, check: bool = True) -> int:
        if self.systemctl is None:
            return 1
        done = subprocess.run(
            [self.systemctl, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if check and done.returncode:
            raise OSError(f"systemctl {' '.join(words)} failed")
        return done.returncode


def enough(name: str, now: int, wanted: int) -> bool:
    return now >= wanted if name == "usbfs_memory_mb" else now == wanted


if __name__ == "__main__":
    main()
