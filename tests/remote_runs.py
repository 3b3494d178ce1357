"""Runs on machines of a bed, as a user starts them: the command line, a tiny suite, and what was brought home."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from command_line import Cli, environment
from rerig.documents import load_valid_document
from ssh_bed import SshBed

SUITE = """\
format: rerig-suite
format_version: "1.0"
name: tiny
version: "1.0"
title: A few small reads
scratch_bytes: 16777216
cases:
  - name: dd-1m
    kind: dd_read
    direct: true
    block_bytes: 1048576
    read_bytes: {network: 8388608, default: 8388608}
    repeats: 2
  - name: reread-4m
    kind: dd_reread
    direct: true
    block_bytes: 1048576
    scratch_bytes: 4194304
    blocks: 4
    repeats: 2
  - name: rand-64k-qd1
    kind: fio_read
    direct: true
    block_bytes: 65536
    pattern: random
    queue_depth: 1
    engines: [io_uring, libaio]
    runtime_limit_s: 60
    repeats: 2
"""
MEASURED = {"dd-1m.t1": "measured", "reread-4m.t1": "measured", "rand-64k-qd1.t1": "measured"}


class RemoteRuns:
    """The command line of a bed's user, in a directory with a tiny suite; runs are kept in ``runs`` there."""

    def __init__(self, bed: SshBed, directory: Path) -> None:
        self.cli = Cli(directory, bed.environment(environment(os.environ["PATH"])))
        self.out = directory / "runs"
        (directory / "tiny.yml").write_text(SUITE, "utf-8")

    def words(self, *hosts: str, more: tuple[str, ...] = ()) -> list[str]:
        """``rerun`` of the tiny suite on these machines; one with an @ needs no inventory, which is quicker."""
        return ["rerun", "--suite", "tiny.yml", *(f"--host={host}" for host in hosts), *more]

    def rerun(self, *hosts: str, more: tuple[str, ...] = (), status: int = 0) -> subprocess.CompletedProcess[str]:
        """Measure, and show no progress; the exit status must be this one."""
        return self.cli.run(*self.words(*hosts, more=("--quiet", *more)), status=status)

    def refusal(self, *hosts: str, more: tuple[str, ...] = (), status: int = 1) -> str:
        """The sentence that ``rerun`` ends with, which must be all that it says."""
        done = self.rerun(*hosts, more=more, status=status)
        assert done.stdout == ""
        return sentence(done.stderr)

    def ids(self, host: str = "") -> list[str]:
        """The runs that are noted to be on a machine (or on any), by the name that the user gave it."""
        entries = sorted((self.out / ".remote").glob("*.json"))
        return [entry.stem for entry in entries if host in ("", json.loads(entry.read_text("utf-8"))["name"])]

    def document(self, host: str = "") -> dict[str, Any]:
        """The result of the last run on this machine (or on any), which must be valid."""
        return load_valid_document(self.out / self.ids(host)[-1] / "result.json", "rerig-result")


def sentence(stderr: str) -> str:
    """The only line there, which must be a sentence."""
    (line,) = stderr.splitlines()
    words = line.removeprefix("./inv: ")
    assert words[0].isupper(), line
    assert words.endswith("."), line
    return words


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """What became of each case."""
    return {case["id"]: case["status"] for case in document["cases"]}


def strings(document: Any) -> Iterator[str]:
    """Every key and every value in a document, as text."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from strings(value)
    elif isinstance(document, list):
        for value in document:
            yield from strings(value)
    else:
        yield str(document)
