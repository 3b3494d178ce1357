"""Random or sequential read by fio at a stated queue depth, read-only and without a block read twice."""

from __future__ import annotations

import re
from typing import Any

ALIAS_NAME = "target"

# What fio's option parser leaves alone. Quotes, backslashes, '$' (keywords), blanks at the ends and control
# characters are changed or cut by it: such a file is reached through a link with a plain name.
_PLAIN_PATH = re.compile(r"/(?:[\w./:+@%=,\[\]()~^ -]*[\w./+@%=,\[\]()~^-])?")


def needs_alias(path: str) -> bool:
    """True when fio can't be given ``path`` as it is."""
    return _PLAIN_PATH.fullmatch(path) is None


def build_argv(case: dict[str, Any], repeat: dict[str, Any], path: str) -> list[str]:
    """argv for one repeat; fio runs in the repeat's own directory and writes ``fio.json`` there.

    - ``--readonly --allow_file_create=0``: the file is the user's.
    - ``--size`` in whole blocks and no ``time_based``: one pass at most, each block once (fio's random map), cut
      after ``--runtime`` seconds.
    - ``--randseed`` differs per repeat and is stored; no ``ramp_time`` (fio's disk_util would count it).
    - ``--invalidate=0``: an eviction is the case's own, declared and measured; fio would do one unasked.
    - ``--thread``: the job's I/O is then in the account of the process that is watched.
    """
    identity = case["identity"]
    parameters = case["parameters"]
    rw = {"random": "randread", "sequential": "read"}[identity["pattern"]]
    return [
        "fio",
        "--name=" + case["id"],
        "--readonly",
        "--allow_file_create=0",
        "--filename=" + (ALIAS_NAME if needs_alias(path) else path.replace(":", "\\:")),
        "--rw=" + rw,
        "--bs={}".format(identity["block_bytes"]),
        "--iodepth={}".format(identity["queue_depth"]),
        "--ioengine=" + identity["engine"],
        "--direct={}".format(int(identity["direct"])),
        "--size={}".format(parameters["span_bytes"]),
        "--runtime={}".format(parameters["runtime_limit_s"]),
        "--randseed={}".format(repeat["seed"]),
        "--invalidate=0",
        "--numjobs=1",
        "--thread",
        "--output-format=json",
        "--output=fio.json",
    ]
