"""Brings this machine to a declared state with the playbooks of this clone; only ever when somebody asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rerig.checkout import ROOT
from rerig.errors import UserError

INVENTORY = ROOT / "inventory" / "localhost"
SYSTEM_PYTHON = Path("/usr/bin/python3")
OUR_STDERR = 2
BY_HAND = "apt-get install fio"


def install_tools() -> None:
    """Let the role bench_tools install what the suites start (fio), on this machine.

    Ansible's own output is shown on stderr, so that a result on stdout stays clean. Raises UserError when nobody here
    may become root, or when the playbook fails.
    """
    with tempfile.TemporaryDirectory(prefix="rerig-ansible-") as scratch:
        command = playbook_command("tools.yml", become_flags())
        done = subprocess.run(command, env=_environment(scratch), stdout=OUR_STDERR, check=False)
    if done.returncode:
        raise UserError(f"The tools could not be installed (ansible-playbook: status {done.returncode}); see above.")


def playbook_command(name: str, flags: list[str]) -> list[str]:
    """The argv that runs a playbook of this clone on this machine.

    By ``-m ansible``: the script ansible-playbook names its interpreter in its first line, which breaks on long paths.
    """
    command = [sys.executable, "-m", "ansible", "playbook", "--inventory", str(INVENTORY), *flags]
    if not SYSTEM_PYTHON.exists():  # an image that has Python elsewhere
        command += ["--extra-vars", f"ansible_python_interpreter={os.path.realpath(sys.executable)}"]
    return [*command, str(ROOT / "playbooks" / name)]


def become_flags() -> list[str]:
    """How Ansible gets root here: nothing for root, nothing for sudo without a password, else it asks on the terminal.

    Raises UserError where none of these is possible.
    """
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo is None:
        raise UserError(f"Installing tools needs root, and there is no sudo here; as root: {BY_HAND}.")
    probe = subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if probe.returncode == 0:
        return []
    if sys.stdin.isatty():
        return ["--ask-become-pass"]
    raise UserError(f"Installing tools needs sudo's password, and there is no terminal to ask on: sudo {BY_HAND}.")


def _environment(scratch: str) -> dict[str, str]:
    """Ansible wants a UTF-8 locale and folders to write in, which a user's home need not offer."""
    own = {
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOME": scratch,
        "ANSIBLE_REMOTE_TEMP": f"{scratch}/remote",
        "LC_ALL": "C.UTF-8",
    }
    return {**{name: value for name, value in os.environ.items() if name != "LANGUAGE"}, **own}
