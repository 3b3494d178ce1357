"""One module per kind of measurement; each turns a planned case into the argv of its tool, and nothing else."""

from __future__ import annotations

from typing import Any, Callable

from . import dd_read, fio_read

# A builder gets (case, repeat, path of the file) and gives the argv; it does no I/O.
ARGV_BUILDERS: dict[str, Callable[[dict[str, Any], dict[str, Any], str], list[str]]] = {
    "dd_read": dd_read.build_argv,
    "dd_reread": dd_read.build_argv,
    "fio_read": fio_read.build_argv,
}


def build_argv(case: dict[str, Any], repeat: dict[str, Any], path: str) -> list[str]:
    """The command of one repeat. Raises KeyError for a kind that this agent does not know."""
    return ARGV_BUILDERS[case["identity"]["kind"]](case, repeat, path)
