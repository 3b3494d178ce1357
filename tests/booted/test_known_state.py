"""The known state on a booted board: it is only headless once it has rebooted, and all of it can be taken back."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from command_line import Cli, environment
from fast.board import SEEN
from twin.l4t import layer
from twin.l4t.personalities import PERSONALITIES
from twin.machine import Machine

pytestmark = pytest.mark.twin


def test_a_board_is_headless_and_super_after_its_reboot_and_as_before_after_another(
    twin_amd64: Machine, tmp_path: Path
) -> None:
    layer.apply(twin_amd64.shell, PERSONALITIES["orin-nano-super-15w"])
    cli = a_user(tmp_path, twin_amd64)
    twin_amd64.reboot()  # the desktop runs from here on
    before = seen(twin_amd64)
    assert "gdm.service" in before

    done = cli.run("provision", "--host", "orin", "--inventory", "hosts.json")
    assert re.search(r"^orin +: .*changed=[1-9].* failed=0", done.stderr, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == "Next: reboot orin, then ./inv verify --host orin --inventory hosts.json"
    assert "gdm.service" in seen(twin_amd64)
    twin_amd64.reboot()
    assert "gdm.service" not in seen(twin_amd64)
    again = cli.run("provision", "--host", "orin", "--inventory", "hosts.json")
    assert re.search(r"^orin +: .*changed=0 .*failed=0", again.stderr, re.MULTILINE)
    assert again.stdout.splitlines()[-1] == "Next: ./inv verify --host orin --inventory hosts.json"
    parts = "super,power_mode,headless,services,clocks,fan"
    cli.run("verify", "--host", "orin", "--inventory", "hosts.json", "--only", parts)

    cli.run("restore", "--host", "orin", "--inventory", "hosts.json")
    twin_amd64.reboot()
    assert seen(twin_amd64) == before
    assert twin_amd64.shell.run(["ls", "/var/lib/rerig"], check=False).returncode != 0


def a_user(folder: Path, machine: Machine) -> Cli:
    """Somebody whose inventory has the machine as ``orin``."""
    variables = {
        "ansible_host": "twin",
        "ansible_user": "jetson",
        "ansible_ssh_common_args": f"-F {machine.shell.config}",
        "ansible_control_path_dir": str(machine.sockets / "ansible"),  # short, as the name of a socket must be
        "bench_tools_packages": ["bash"],
    }
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"orin": variables}}}), "utf-8")
    return Cli(folder, environment(os.environ["PATH"]))


def seen(machine: Machine) -> list[str]:
    """What a provisioning might change, by a plain shell."""
    return machine.shell.script(SEEN, limit_s=300).splitlines()
