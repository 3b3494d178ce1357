#!/usr/bin/python
"""Looks at a host that is to flash a board, and says by which command. Reads only."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.rerig_agent.facts.sysfs import names_in, read_text, read_word
from ansible.module_utils.rerig_agent.judge import reflash
from ansible.module_utils.rerig_agent.judge.flash_host import plan_flash
from ansible.module_utils.rerig_agent.parse import ParseError
from ansible.module_utils.rerig_agent.parse.nv_tegra_release import parse_release

DOCUMENTATION = r"""
module: flash_host_state
short_description: Look at a host that is to flash a board
description:
  - Finds the board in recovery mode by its USB id, looks at the folder of L4T's tools and at the host, and gives the
    judgement of rerig_agent.judge.flash_host.
author: the rerig authors
options:
  root:
    description: Whose files to read. Anything but / is for tests.
    type: path
    default: /
  bsp:
    description: The unpacked folder Linux_for_Tegra. Empty where it isn't known.
    type: str
    default: ""
  target:
    description: What is to be written.
    type: str
    choices: [qspi, nvme]
    default: qspi
attributes:
  check_mode:
    support: full
    description: It never changes anything.
"""

EXAMPLES = r"""
- name: Look at the host
  flash_host_state:
    bsp: /data/Linux_for_Tegra
  register: look
"""

RETURN = r"""
gates:
  description: Each gate with its name, whether it was passed, and a sentence.
  returned: always
  type: list
  elements: dict
doubts:
  description: What may go wrong, in sentences.
  returned: always
  type: list
  elements: str
board:
  description: The board in recovery mode; none unless there is exactly one.
  returned: always
  type: str
argv:
  description: The command that flashes it.
  returned: always
  type: list
  elements: str
command:
  description: The same as somebody types it.
  returned: always
  type: str
phrase:
  description: What has to be typed to have it run.
  returned: always
  type: str
"""


def main() -> None:
    """What Ansible calls."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "bsp": {"type": "str", "default": ""},
            "target": {"type": "str", "choices": ["qspi", "nvme"], "default": "qspi"},
        },
        supports_check_mode=True,
    )
    asked = module.params
    bsp = os.path.expanduser(asked["bsp"])  # noqa: PTH111 - the empty word stays empty
    if bsp and not bsp.startswith("/"):
        module.fail_json(msg=f"flash_host_bsp must be an absolute path, and is {asked['bsp']}.")
    facts = collect(Path(asked["root"]), bsp)
    module.exit_json(changed=False, **plan_flash(facts, asked["target"]))


def collect(root: Path, bsp: str) -> dict[str, Any]:
    """See :func:`rerig_agent.judge.flash_host.plan_flash`."""
    system = os_release(read_text(root / "etc/os-release") or "")
    return {
        "machine": os.uname().machine,
        "kernel_release": read_word(root / "proc/sys/kernel/osrelease") or "",
        "in_container": any((root / name).exists() for name in ("run/systemd/container", ".dockerenv")),
        "distribution": {"id": system.get("ID", ""), "version": system.get("VERSION_ID", "")},
        "usb": usb(root / "sys/bus/usb/devices"),
        "bsp": tools(bsp),
        "ipv6_disabled": read_word(root / "proc/sys/net/ipv6/conf/all/disable_ipv6") != "0",
        "ufw": bool(re.search(r"(?m)^ENABLED=yes", read_text(root / "etc/ufw/ufw.conf") or "")),
        "nfs": (root / "usr/sbin/rpc.nfsd").exists(),
        "rpcbind": any((root / name).exists() for name in ("usr/sbin/rpcbind", "sbin/rpcbind")),
    }


def usb(folder: Path) -> list[dict[str, str]]:
    """Every device; its interfaces have no id of their own."""
    found = []
    for name in names_in(folder):
        vendor, product = (read_word(folder / name / file) for file in ("idVendor", "idProduct"))
        if vendor and product:
            found.append({"place": name, "id": f"{vendor}:{product}"})
    return found


def tools(bsp: str) -> dict[str, Any]:
    folder = Path(bsp or "/nonexistent")
    scripts = (reflash.FLASH, reflash.INITRD_R36, reflash.INITRD_R38, reflash.QSPI_LAYOUT, reflash.NVME_LAYOUT)
    names = [*scripts, *(f"{config}.conf" for config in sorted(set(reflash.CONFIGS.values())))]
    try:
        release = parse_release(read_text(folder / "rootfs/etc/nv_tegra_release") or "")["version"]
    except ParseError:
        release = None
    return {"path": bsp, "files": {name: (folder / name).is_file() for name in names}, "release": release}


def os_release(text: str) -> dict[str, str]:
    found = {}
    for line in text.split("\n"):
        name, equals, value = line.partition("=")
        if equals and re.fullmatch(r"[A-Z_]+", name):
            try:
                found[name] = "".join(shlex.split(value))
            except ValueError:  # an open quote
                continue
    return found


if __name__ == "__main__":
    main()
