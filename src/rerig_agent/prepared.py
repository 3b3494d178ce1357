"""Targets made ready: the user's files as they are, scratch files written and, in the end, removed."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from . import evidence
from .cases.power_budget import MACHINE
from .child import StopFlag
from .guard import Emit, Guard
from .judge import classify
from .judge.known_evidence import shown_name
from .scratch import ScratchError
from .undo import SCRATCH_PREFIX

__all__ = ["Emit", "PreparedTarget", "planned_path", "prepare_target", "reread_file", "scratch_path", "scratch_refusal"]


@dataclass
class PreparedTarget:
    """A file to read, what is known about it, and why it may not be measured (``refusal``: code and sentence)."""

    label: str
    path: str
    evidence: dict[str, Any]
    classified: dict[str, Any]
    refusal: dict[str, str] | None
    scratch: Path | None = None

    def hung(self, unkillable: bool) -> dict[str, str]:
        """The refusal for the rest of the run after a read that did not end in time."""
        sentence = f"{shown_name(self.path)} did not answer in time"
        if unkillable:
            sentence += "; its reading process is stuck in the kernel and can't be killed before the mount answers"
        return {"code": "hung_later", "sentence": sentence + "."}


def scratch_path(directory: str, run_id: str, name: str) -> Path:
    """Where the scratch file of a target, or of one case, of a run lies."""
    return Path(directory) / f"{SCRATCH_PREFIX}{run_id}-{name}.bin"


def planned_path(plan: dict[str, Any], case: dict[str, Any]) -> str:
    """The file that a planned case will read; a scratch file need not exist yet."""
    target = next(target for target in plan["targets"] if target["id"] == case["target"])
    if "scratch" not in target:
        return str(target["path"])
    name = target["id"] if case["parameters"].get("scratch_bytes") is None else case["id"]
    return os.fspath(scratch_path(target["scratch"]["directory"], plan["run_id"], name))


def prepare_target(
    target: dict[str, Any], run_id: str, guard: Guard, held: ExitStack, stop: StopFlag, emit: Emit
) -> PreparedTarget:
    """Collect and judge the evidence of one planned target; write its scratch file first where it is one.

    The scratch file lives until ``held`` is closed. The machine itself, as a target, is no file: nothing is judged.
    """
    if target.get("origin") == MACHINE:
        return PreparedTarget(target["label"], "", {"kind": MACHINE}, {}, None)
    scratch = target.get("scratch")
    if scratch is None:
        return _judged(target["label"], target["path"], stop)
    directory = evidence.collect_target(scratch["directory"], tick=stop.check)
    if directory["kind"] != "directory":
        sentence = "The scratch directory can't be used: it is missing or is not a directory."
        refusal: dict[str, str] | None = {"code": "scratch_failed", "sentence": sentence}
        return PreparedTarget(target["label"], scratch["directory"], directory, {}, refusal)
    refusal = scratch_refusal(directory, scratch["bytes"])
    path = scratch_path(directory["real_path"], run_id, target["id"])
    if refusal is None:
        size_bytes = scratch["bytes"]
        try:
            held.enter_context(
                guard.scratch_file(path, size_bytes, stop, lambda done: emit("scratch", bytes=done, total=size_bytes))
            )
        except ScratchError as error:
            refusal = {"code": "scratch_failed", "sentence": str(error)}
    if refusal is not None:
        return PreparedTarget(target["label"], str(path), directory, {}, refusal)
    prepared = _judged(target["label"], str(path), stop)
    prepared.scratch = path
    return prepared


def scratch_refusal(directory: dict[str, Any], size_bytes: int) -> dict[str, str] | None:
    """Why a scratch file must not be made in this directory (RAM, say), or None. ``directory`` is its evidence."""
    as_file = dict(directory, kind="file", size_bytes=size_bytes, allocated_bytes=size_bytes, errno=None)
    judged = classify.classify(as_file)
    if judged["refusal"] is None:
        return None
    return {"code": judged["refusal_code"], "sentence": judged["refusal"]}


@contextmanager
def reread_file(
    case: dict[str, Any], target: PreparedTarget, run_id: str, guard: Guard, stop: StopFlag
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The file of one case: the target's own, or a scratch file of the case's exact size that lives as long as it."""
    size_bytes = case["parameters"].get("scratch_bytes")
    if size_bytes is None or target.scratch is None:
        yield target.path, target.evidence
        return
    path = scratch_path(os.fspath(target.scratch.parent), run_id, case["id"])
    with guard.scratch_file(path, size_bytes, stop):
        yield str(path), evidence.collect_target(str(path), tick=stop.check)


def _judged(label: str, path: str, stop: StopFlag) -> PreparedTarget:
    found = evidence.collect_target(path, tick=stop.check)
    judged = classify.classify(found)
    refusal = None
    if judged["refusal"] is not None:
        refusal = {"code": judged["refusal_code"], "sentence": judged["refusal"]}
    return PreparedTarget(label, found.get("real_path") or path, found, judged, refusal)
