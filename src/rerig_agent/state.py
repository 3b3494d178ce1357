"""What state this machine is in: the evidence and the one judgement of it, as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .conditions import collect
from .judge.known_state import fan_profiles, judge_links
from .judge.super_mode import judge_super

TOOL_LIMIT_S = 20.0
NOT_RUN = 127
# Boards keep some of their tools where a user's PATH does not look.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def look(root: Path = Path("/"), tools: bool = False) -> dict[str, Any]:
    """{"evidence", "super", "links", "fan"}: see :mod:`rerig_agent.judge.super_mode` and its neighbour ``known_state``.

    ``tools``: also ask the board's own tools, which only read; not where ``root`` is another machine's.
    """
    evidence = collect(root, run_tool if tools else None)
    return {
        "evidence": evidence,
        "super": judge_super(evidence),
        "links": judge_links(evidence),
        "fan": fan_profiles(evidence),
    }


def print_state(root: Path, tools: bool) -> int:
    """Print what was seen; 0 whatever the verdict is."""
    json.dump(look(root, tools), sys.stdout)
    sys.stdout.write("\n")
    return 0


def run_tool(argv: list[str]) -> tuple[int, str]:
    """Status and output of a board's tool that only reads; 127 and nothing where it is missing or hangs."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": PATH, "LC_ALL": "C"},
            timeout=TOOL_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return NOT_RUN, ""
    return done.returncode, done.stdout.decode("utf-8", "replace")
