"""Sequential read by dd, as the NAS post did it: ``dd if=FILE of=/dev/null bs=8M iflag=direct``."""

from __future__ import annotations

from typing import Any


def build_argv(case: dict[str, Any], _repeat: dict[str, Any], path: str) -> list[str]:
    """argv for one repeat; ``count`` only where less than the whole file is read.

    A count that ended inside the last, partial block of a file would be EINVAL under O_DIRECT, so the plan asks for
    whole blocks or for the whole file.
    """
    identity = case["identity"]
    argv = ["dd", "if=" + path, "of=/dev/null", "bs=" + dd_size(identity["block_bytes"])]
    if case["extent"] == "first_blocks":
        argv.append("count={}".format(identity["read_bytes"] // identity["block_bytes"]))
    if identity["direct"]:
        argv.append("iflag=direct")
    return argv


def dd_size(size_bytes: int) -> str:
    """8388608 as ``8M`` (dd's M is 1024 * 1024), odd sizes as plain bytes; GNU and busybox read both."""
    for suffix, unit in (("M", 1024 * 1024), ("k", 1024)):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit}{suffix}"
    return str(size_bytes)
