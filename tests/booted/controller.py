"""The user who measures the twin: a home whose ssh_config knows it, and a directory where ``./inv`` is typed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from command_line import Cli, environment
from rerig.documents import load_valid_document

if TYPE_CHECKING:
    from twin.shell import Shell

HOST = "jetson@twin"


class Controller:
    """``cli`` is the command line as this user types it; runs are kept in ``runs``."""

    def __init__(self, folder: Path, shell: Shell) -> None:
        home, self.folder = folder / "home", folder / "here"
        (home / ".ssh").mkdir(mode=0o700, parents=True)
        (home / ".ssh/config").write_text(f'Include "{shell.config}"\n', "utf-8")
        self.folder.mkdir()
        base = {name: value for name, value in environment(os.environ["PATH"]).items() if name != "SSH_AUTH_SOCK"}
        self.cli = Cli(self.folder, {**base, "HOME": str(home)})

    def suite(self, name: str, *cases: dict[str, Any]) -> str:
        """Write a suite, and say which word of ``--suite`` it is."""
        return write_suite(self.folder, name, *cases)

    def document(self, printed: str) -> dict[str, Any]:
        """The result that ``--quiet`` printed the path of; it must be a valid one."""
        return load_valid_document(self.folder / printed.strip().splitlines()[-1], "rerig-result")

    def results(self) -> list[dict[str, Any]]:
        """Every result that is here, each of which must be valid."""
        return [load_valid_document(path, "rerig-result") for path in sorted(self.folder.glob("runs/*/result.json"))]


def write_suite(folder: Path, name: str, *cases: dict[str, Any]) -> str:
    """Write a suite into a folder; the name of its file."""
    document = {
        "format": "rerig-suite",
        "format_version": "1.0",
        "name": name,
        "version": "1.0",
        "title": "Reads of the twin's disk",
        "scratch_bytes": 8 * 2**20,
        "cases": list(cases),
    }
    path = folder / f"{name}.yml"
    path.write_text(json.dumps(document), "utf-8")  # JSON is YAML
    return path.name


def sequential_dd(name: str, read_bytes: int, block_bytes: int = 2**20, repeats: int = 1) -> dict[str, Any]:
    """A case of a suite: dd reads so many bytes from the start."""
    shape = {"kind": "dd_read", "direct": True, "block_bytes": block_bytes, "read_bytes": {"default": read_bytes}}
    return {"name": name, **shape, "repeats": repeats}


def fio_reads(name: str, pattern: str, block_bytes: int, queue_depth: int, runtime_limit_s: int) -> dict[str, Any]:
    """A case of a suite: fio reads for so many seconds."""
    shape = {"kind": "fio_read", "direct": True, "block_bytes": block_bytes, "pattern": pattern}
    how = {"queue_depth": queue_depth, "engines": ["io_uring", "libaio"], "runtime_limit_s": runtime_limit_s}
    return {"name": name, **shape, **how, "repeats": 1}
