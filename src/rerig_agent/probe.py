"""What the agent says about a machine before anything is planned: its tools, files, and a place for a scratch file."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from . import VERSION
from .evidence import collect_target
from .judge.classify import classify
from .prepared import scratch_refusal
from .scratch import RESERVE_BYTES, free_bytes
from .tools import probe_tools


def probe(paths: list[str], scratch: str | None) -> int:
    """Print the report as JSON."""
    targets = []
    for path in paths:
        found = collect_target(path)
        targets.append({"path": path, "evidence": found, "classified": classify(found)})
    report: dict[str, Any] = {
        "agent": VERSION,
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "tools": probe_tools(),
        "targets": targets,
        "scratch": None if scratch is None else _probe_scratch(scratch),
    }
    json.dump(report, sys.stdout)
    sys.stdout.write("\n")
    return 0


def _probe_scratch(directory: str) -> dict[str, Any]:
    found = collect_target(directory)
    if found["kind"] != "directory":
        sentence = "The scratch directory is missing or is not a directory."
        return {
            "directory": directory,
            "evidence": found,
            "refusal": {"code": "scratch_failed", "sentence": sentence},
        }
    assumed_bytes = 2**30  # any honest size: only the file system is judged here
    as_file = dict(found, kind="file", size_bytes=assumed_bytes, allocated_bytes=assumed_bytes, errno=None)
    return {
        "directory": found["real_path"],
        "evidence": found,
        "classified": classify(as_file),
        "refusal": scratch_refusal(found, assumed_bytes),
        "free_bytes": free_bytes(directory),
        "reserve_bytes": RESERVE_BYTES,
        "writable": os.access(directory, os.W_OK | os.X_OK),
    }
