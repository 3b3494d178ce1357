"""What passes through files between rerig and who carries them, as the role measure does: a plan out, a run in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rerig import rerun
from rerig.documents import decode, read_bytes, shown
from rerig.errors import UserError
from rerig.remote import archive, ledger
from rerig.rerun import Request, plan_from_probe
from rerig.store import write_document
from rerig.suite import load_suite
from rerig.zipapp import agent_identity

LARGEST_PROBE_BYTES = 16 * 2**20


def plan_to_file(probe: Path, request: Request, out: Path) -> list[str]:
    """Write the plan for the machine whose probe is in a file; the sentences of files that can't be measured there.

    Raises UserError where nothing can, or the file holds no probe.
    """
    found = _read_probe(probe)
    suite = load_suite(request.suite)
    try:
        planned = plan_from_probe(suite, found, agent_identity(), request)
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{shown(probe)} is not what the agent of this version prints.") from error
    if not planned.plan["targets"]:
        raise UserError(f"{shown(probe)} is of no file and of no directory for a scratch file.")
    write_document(out, planned.plan)
    return planned.refusals


def receive_run(packed: Path, out: Path) -> Path:
    """Unpack a run into ``out`` and build its result, whose path this is. Raises UserError; an earlier copy stays."""
    try:
        with packed.open("rb") as file:
            run_dir = out / ledger.check_run_id(archive.read_plan(file)["run_id"])
            archive.unpack(file, run_dir)
    except OSError as error:
        raise UserError(f"{shown(packed)} can't be read: {error.strerror}.") from error
    return rerun.rebuild(run_dir)


def _read_probe(path: Path) -> dict[str, Any]:
    import json

    try:
        probe = json.loads(decode(read_bytes(path, LARGEST_PROBE_BYTES), shown(path)))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{shown(path)} is not JSON.") from error
    if not isinstance(probe, dict):
        raise UserError(f"{shown(path)} is not what the agent's probe prints.")
    return probe
