"""What the developers' tools run in: their own programs first on PATH, nothing kept in a home folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rerig.checkout import ROOT
from rerig.errors import UserError

BUILD = ROOT / "build"
BIN = Path(sys.executable).parent


def tool(name: str) -> str:
    """The program of that name in the developers' environment; UserError where rerig runs in the users' one."""
    path = BIN / name
    if not path.exists():
        raise UserError(f"{name} is not in this environment: start with ./inv test, ./inv lint or ./inv relock.")
    return str(path)


def child_environment() -> dict[str, str]:
    """For children: tools call each other by name, and Ansible must not need a home folder."""
    return {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOME": str(BUILD / "ansible"),
        "NO_COLOR": "1",
    }
