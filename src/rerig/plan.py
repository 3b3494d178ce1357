"""Expand a suite and what the agent found on the machine into a plan. Pure: the same inputs give the same plan."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rerig import estimate
from rerig.errors import UserError
from rerig.plan_power import check_options, loads_machine, machine_target, plan_power, reads_files
from rerig.sizes import format_bytes
from rerig.text import printable
from rerig_agent.plan_format import POWER_BUDGET

PLAN_FORMAT = "rerig-plan"
PLAN_FORMAT_NUMBER = 1

FIO_MISSING = {
    "code": "fio_missing",
    "sentence": "The program fio is not installed: run 'sudo apt-get install fio' or './inv rerun --install-tools'.",
}
FILE_TOO_SHORT = {
    "code": "file_too_short",
    "sentence": "The file, or what --size allows of it, is shorter than one block of this case.",
}
FIO_BROKEN = {
    "code": "fio_broken",
    "sentence": "The program fio is there but does not run: see what 'fio --version' says.",
}
DD_MISSING = {
    "code": "dd_missing",
    "sentence": "The program dd is not installed: run 'sudo apt-get install coreutils'.",
}

Document = dict[str, Any]


@dataclass(frozen=True)
class PlanOptions:
    """What the user chose: ``size_bytes`` bounds what is read of a file (and is the scratch file's size).

    ``gpu_load``: the command, as a list of words, that loads the GPU; None: as the suite says.
    """

    run_id: str
    size_bytes: int | None = None
    repeats: int | None = None
    labels: dict[str, str] = field(default_factory=dict)
    gpu_load: list[str] | None = None


@dataclass(frozen=True)
class PlanTarget:
    """One file as the planner sees it; ``size_bytes`` is what may be read of it, ``whole`` if that is all of it."""

    id: str
    label: str
    scratch: bool
    size_bytes: int
    whole: bool
    classified: dict[str, Any]


def expand_plan(suite: Document, probe: Document, agent: dict[str, str], options: PlanOptions) -> Document:
    """The plan document for one machine.

    ``suite``: a loaded suite with its ``sha256``; ``probe``: the agent's ``probe`` report (user's files in
    ``targets``, or a ``scratch`` directory); ``agent``: ``version`` and ``sha256``. Raises UserError when the scratch
    directory can't be used, or an option means nothing to the suite. A refused file stays in the plan without cases, so
    that its refusal is recorded.
    """
    size, gpu_load = options.size_bytes is not None, options.gpu_load is not None
    check_options(suite, paths=bool(probe["targets"]), size=size, gpu_load=gpu_load)
    targets, planned = [], []
    for document, target in _targets(suite, probe, options) if reads_files(suite) else []:
        targets.append(document)
        if target is not None:
            planned.append(target)
    cases = [
        _PLANNERS[suite_case["kind"]](suite_case, target, probe["tools"], options)
        for suite_case in suite["cases"]
        for target in planned
        if suite_case["kind"] != POWER_BUDGET
    ]
    if loads_machine(suite):
        targets.append(machine_target(len(targets) + 1))
        cases += _plan_loads(suite, targets[-1]["id"], options)
    return {
        "format": PLAN_FORMAT,
        "format_number": PLAN_FORMAT_NUMBER,
        "run_id": options.run_id,
        "suite": {key: suite[key] for key in ("name", "version", "sha256")},
        "agent": agent,
        "labels": options.labels,
        "targets": targets,
        "cases": cases,
    }


def _targets(suite: Document, probe: Document, options: PlanOptions) -> list[tuple[dict[str, Any], PlanTarget | None]]:
    if probe.get("scratch") is not None:
        return [_scratch_target(suite, probe["scratch"], options)]
    found: list[tuple[dict[str, Any], PlanTarget | None]] = []
    for number, seen in enumerate(probe["targets"], start=1):
        name = str(seen["path"]).rstrip("/").rsplit("/", 1)[-1] or "root directory"
        document = {"id": f"t{number}", "label": printable(name), "origin": "user", "path": seen["path"]}
        if seen["classified"]["refusal"] is not None:
            found.append((document, None))
            continue
        # What is printed and run names the file itself, not a link that may change meanwhile.
        document["path"] = seen["evidence"].get("real_path") or seen["path"]
        size_bytes = seen["evidence"]["size_bytes"]
        usable = size_bytes if options.size_bytes is None else min(size_bytes, options.size_bytes)
        target = PlanTarget(document["id"], document["label"], False, usable, usable == size_bytes, seen["classified"])
        found.append((document, target))
    return found


def _scratch_target(
    suite: Document, scratch: dict[str, Any], options: PlanOptions
) -> tuple[dict[str, Any], PlanTarget]:
    if scratch["refusal"] is not None:
        raise UserError(f"No scratch file can be made here: {scratch['refusal']['sentence']}")
    if not scratch["writable"]:
        raise UserError(
            "No scratch file can be made here: the file system is read-only or this user may not write there; "
            "choose --scratch DIR."
        )
    size_bytes = options.size_bytes or suite["scratch_bytes"]
    _check_space(suite, scratch, size_bytes)
    document = {
        "id": "t1",
        "label": "scratch file",
        "origin": "scratch",
        "scratch": {"directory": scratch["directory"], "bytes": size_bytes},
    }
    return document, PlanTarget("t1", "scratch file", True, size_bytes, True, scratch["classified"])


def _check_space(suite: Document, scratch: dict[str, Any], size_bytes: int) -> None:
    """The target's file and the largest file of one case lie there at once, and the disk is not to be filled."""
    second = max((min(case.get("scratch_bytes", 0), size_bytes) for case in suite["cases"]), default=0)
    needed = size_bytes + second + scratch["reserve_bytes"]
    if scratch["free_bytes"] < needed:
        raise UserError(
            f"The scratch files need {format_bytes(needed)} of free space and there are "
            f"{format_bytes(scratch['free_bytes'])}: choose a smaller --size or another --scratch DIR."
        )


def _plan_loads(suite: Document, target_id: str, options: PlanOptions) -> list[Document]:
    planned = []
    for suite_case in suite["cases"]:
        if suite_case["kind"] == POWER_BUDGET:
            repeats = _repeats(suite_case, f"{suite_case['name']}.{target_id}", options)
            planned.append(plan_power(suite_case, target_id, options.gpu_load, repeats))
    return planned


def _repeats(suite_case: dict[str, Any], case_id: str, options: PlanOptions) -> list[dict[str, Any]]:
    count = options.repeats or suite_case["repeats"]
    return [{"number": n, "seed": _seed(options.run_id, case_id, n)} for n in range(1, count + 1)]


def _case(
    suite_case: dict[str, Any], target: PlanTarget, identity: dict[str, Any], options: PlanOptions, **rest: Any
) -> dict[str, Any]:
    case_id = f"{suite_case['name']}.{target.id}"
    case: dict[str, Any] = {
        "id": case_id,
        "target": target.id,
        "identity": {
            "kind": suite_case["kind"],
            "medium": target.classified["medium"],
            "direct": suite_case["direct"],
            "evict": suite_case.get("evict", False),
            "block_bytes": suite_case["block_bytes"],
            **identity,
        },
        "repeats": _repeats(suite_case, case_id, options),
        "skip": None,
    }
    case.update(rest)
    # The agent reads its parameters alone; they say the same as the identity.
    case["parameters"] = {"evict": case["identity"]["evict"], **case["parameters"]}
    return case


def _plan_dd(
    suite_case: dict[str, Any], target: PlanTarget, tools: dict[str, Any], options: PlanOptions
) -> dict[str, Any]:
    wanted = suite_case["read_bytes"]
    asked = wanted.get(target.classified["medium"], wanted["default"])
    # Only where the suite sets it: a case that leaves the machine's own read-ahead alone keeps the identity it had.
    read_ahead = {key: suite_case[key] for key in ("read_ahead_kb",) if key in suite_case}
    return _plan_dd_extent(suite_case, target, tools, options, asked, read_ahead, read_ahead)


def _plan_reread(
    suite_case: dict[str, Any], target: PlanTarget, tools: dict[str, Any], options: PlanOptions
) -> dict[str, Any]:
    if target.scratch:
        exact = min(suite_case["scratch_bytes"], target.size_bytes)
        whole = PlanTarget(target.id, target.label, True, exact, True, target.classified)
        return _plan_dd_extent(suite_case, whole, tools, options, exact, {"scratch_bytes": exact})
    asked = suite_case["blocks"] * suite_case["block_bytes"]
    return _plan_dd_extent(suite_case, target, tools, options, asked, {})


def _plan_dd_extent(
    suite_case: dict[str, Any],
    target: PlanTarget,
    tools: dict[str, Any],
    options: PlanOptions,
    asked: int,
    parameters: dict[str, Any],
    identity: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A whole file of any size, or whole blocks of a larger one: a cut inside the last block is EINVAL."""
    block_bytes = suite_case["block_bytes"]
    if target.whole and asked >= target.size_bytes:
        extent, read_bytes = "whole_file", target.size_bytes
    else:
        extent, read_bytes = "first_blocks", max(1, min(asked, target.size_bytes) // block_bytes) * block_bytes
    estimate_s = estimate.read_seconds(read_bytes, target.classified)
    return _case(
        suite_case,
        target,
        {"read_bytes": read_bytes, **(identity or {})},
        options,
        extent=extent,
        parameters=parameters,
        estimate_s=estimate_s,
        estimate_bytes=read_bytes,
        limit_s=suite_case.get("limit_s", estimate.limit_seconds(estimate_s)),
        skip=_dd_skip(tools["dd"], extent, block_bytes, target),
    )


def _plan_fio(
    suite_case: dict[str, Any], target: PlanTarget, tools: dict[str, Any], options: PlanOptions
) -> dict[str, Any]:
    block_bytes = suite_case["block_bytes"]
    span_bytes = target.size_bytes // block_bytes * block_bytes
    usable = [engine for engine in suite_case["engines"] if engine in (tools["fio"] or {}).get("engines", ())]
    runtime_limit_s = suite_case["runtime_limit_s"]
    estimate_s, estimate_bytes = estimate.fio_pass(suite_case, span_bytes, target.classified)
    return _case(
        suite_case,
        target,
        {
            "pattern": suite_case["pattern"],
            "queue_depth": suite_case["queue_depth"],
            "engine": (usable or suite_case["engines"])[0],
        },
        options,
        extent="one_pass",
        parameters={"span_bytes": span_bytes, "runtime_limit_s": runtime_limit_s},
        estimate_s=estimate_s,
        estimate_bytes=estimate_bytes,
        limit_s=suite_case.get("limit_s", estimate.limit_seconds(runtime_limit_s)),
        skip=_fio_skip(tools["fio"], usable, span_bytes),
    )


def _dd_skip(dd: dict[str, Any] | None, extent: str, block_bytes: int, target: PlanTarget) -> dict[str, str] | None:
    if dd is None:
        return DD_MISSING
    return FILE_TOO_SHORT if extent == "first_blocks" and target.size_bytes < block_bytes else None


def _fio_skip(fio: dict[str, Any] | None, usable: list[str], span_bytes: int) -> dict[str, str] | None:
    if fio is None:
        return FIO_MISSING
    if fio["version"] == "unknown":
        return FIO_BROKEN
    if not usable:
        return {"code": "no_engine", "sentence": "This fio has none of the engines that the suite asks for."}
    if span_bytes == 0:
        return FILE_TOO_SHORT
    return None


_PLANNERS: dict[str, Callable[[dict[str, Any], PlanTarget, dict[str, Any], PlanOptions], dict[str, Any]]] = {
    "dd_read": _plan_dd,
    "dd_reread": _plan_reread,
    "fio_read": _plan_fio,
}


def _seed(run_id: str, case_id: str, number: int) -> int:
    """A fio seed that differs per run, case and repeat, so that no cache has seen the same sequence of offsets."""
    digest = hashlib.sha256(f"{run_id} {case_id} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
