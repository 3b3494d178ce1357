"""A command of this machine, run beside a twin that it finds by its environment."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

from twin.cache import VARIABLE, cache_folder
from twin.errors import TwinError
from twin.machine import Machine
from twin.shell import ALIAS

ENDING_S = 10.0
INVENTORY = f"{ALIAS} ansible_python_interpreter=/usr/bin/python3\n"  # the rest is in the ssh_config


def environment(machine: Machine) -> dict[str, str]:
    """How a command finds the machine as the host ``twin``, without a word in its arguments.

    ssh needs ``-F $RERIG_TWIN_SSH_CONFIG``. Ansible needs nothing, and neither does ``./inv rerun --host twin``: it
    reads the ssh_config of the home folder, so the command gets a home folder of its own.
    """
    home = machine.folder / "home"
    (home / ".ssh").mkdir(parents=True, exist_ok=True)
    (home / ".ssh" / "config").write_text(machine.shell.config.read_text("utf-8"), "utf-8")
    inventory = machine.folder / "inventory"
    inventory.write_text(INVENTORY, "utf-8")
    return {
        "RERIG_TWIN_NAME": machine.name,
        "RERIG_TWIN_HOST": ALIAS,
        "RERIG_TWIN_SSH_CONFIG": str(machine.shell.config),
        VARIABLE: str(cache_folder()),
        "HOME": str(home),
        "ANSIBLE_INVENTORY": str(inventory),
        "ANSIBLE_SSH_COMMON_ARGS": f"-F {shlex.quote(str(machine.shell.config))}",
    }


def run(words: Sequence[str], variables: Mapping[str, str]) -> int:
    """Its exit status, or 128 and the number of the signal that ended it. Interrupted, we end it first."""
    try:
        process = subprocess.Popen(list(words), env={**os.environ, **variables})
    except OSError as error:
        raise TwinError(f"{words[0]} can't be started: {error.strerror}.") from None
    try:
        status = process.wait()
    except BaseException:
        _end(process)
        raise
    return status if status >= 0 else 128 - status


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(ENDING_S)
    process.kill()
    process.wait()
