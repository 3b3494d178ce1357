"""The plan as the agent reads it: an internal format, made by the controller of the same version."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .cases import ARGV_BUILDERS, power_budget

PLAN_FORMAT = "rerig-plan"
PLAN_FORMAT_NUMBER = 1
POWER_BUDGET = power_budget.KIND
MACHINE = power_budget.MACHINE

# An id becomes a folder's name.
_SAFE_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


class PlanError(Exception):
    """The plan can't be run; the message is one sentence."""


def read_plan(path: Path) -> dict[str, Any]:
    """The plan in ``path``, checked for format, number and known kinds. Raises :class:`PlanError`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PlanError(f"the plan can't be read: {error.strerror}") from error
    return parse_plan(data)


def parse_plan(data: bytes) -> dict[str, Any]:
    """The plan in a JSON text, checked as by :func:`read_plan`."""
    try:
        plan = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise PlanError("the plan is not a JSON document") from error
    if not isinstance(plan, dict) or plan.get("format") != PLAN_FORMAT:
        raise PlanError(f"this file is not a plan (its format is not {PLAN_FORMAT})")
    number = plan.get("format_number")
    if number != PLAN_FORMAT_NUMBER:
        raise PlanError(
            f"the plan has format number {number} and this agent reads {PLAN_FORMAT_NUMBER}: "
            "use the agent of the rerig that made it"
        )
    _check_parts(plan)
    return plan


# What the agent reads of each part, and of which type.
_NUMBER = (int, float)
_PLAN = {"run_id": str, "targets": list, "cases": list}
_TARGET = {"id": str, "label": str}
_SCRATCH = {"directory": str, "bytes": int}
_CASE = {
    "id": str,
    "target": str,
    "identity": dict,
    "extent": str,
    "parameters": dict,
    "repeats": list,
    "limit_s": _NUMBER,
}
_IDENTITY = {"kind": str, "direct": bool, "block_bytes": int}
_DD = {"read_bytes": int}
_POWER = {"load_s": _NUMBER, "cool_s": _NUMBER, "sample_s": _NUMBER}
_FIO = {"pattern": str, "queue_depth": int, "engine": str}
_FIO_PARAMETERS = {"span_bytes": int, "runtime_limit_s": _NUMBER}
_READ_AHEAD_LIMIT_KB = 999_999_999  # as many digits as the journal's undoing lets through
_REPEAT = {"number": int, "seed": int}


def _check_parts(plan: dict[str, Any]) -> None:
    _require(plan, _PLAN, "the plan")
    for target in plan["targets"]:
        _require(target, _TARGET, "a target")
        if "scratch" in target:
            _require(target["scratch"], _SCRATCH, "a scratch file")
        elif target.get("origin") != MACHINE:
            _require(target, {"path": str}, "a target")
    targets = {target["id"]: target for target in plan["targets"]}
    for case in plan["cases"]:
        _require(case, _CASE, "a case")
        if case["target"] not in targets:
            raise PlanError(f"case {case['id']} names an unknown target")
        if _SAFE_ID.fullmatch(case["id"]) is None:
            raise PlanError("the id of a case is no plain name")
        _check_identity(case)
        about_machine = case["identity"]["kind"] == POWER_BUDGET
        if about_machine != (targets[case["target"]].get("origin") == MACHINE):
            raise PlanError(f"the target of case {case['id']} is of another kind than the case")
        for repeat in case["repeats"]:
            _require(repeat, _REPEAT, "a repeat")


def _check_identity(case: dict[str, Any]) -> None:
    identity = case["identity"]
    if identity.get("kind") == POWER_BUDGET:
        _check_power(case["parameters"])
        return
    _require(identity, _IDENTITY, "an identity")
    if identity["kind"] not in ARGV_BUILDERS:
        raise PlanError(f"this agent does not know the kind of case {identity['kind']}")
    if identity["kind"] == "fio_read":
        _require(identity, _FIO, "an identity")
        _require(case["parameters"], _FIO_PARAMETERS, "the parameters of a case")
    else:
        _require(identity, _DD, "an identity")
    if case["parameters"].get("read_ahead_kb") is not None:
        _check_read_ahead(case)


def _check_power(parameters: dict[str, Any]) -> None:
    _require(parameters, _POWER, "the parameters of a case")
    if parameters["load_s"] <= 0 or parameters["sample_s"] <= 0 or parameters["cool_s"] < 0:
        raise PlanError("a time in the parameters of a case is not above zero")
    gpu = parameters.get("gpu_load")
    if gpu is not None and not (isinstance(gpu, list) and gpu and all(isinstance(word, str) for word in gpu)):
        raise PlanError("gpu_load of a case is no list of words")


def _check_read_ahead(case: dict[str, Any]) -> None:
    identity, wanted = case["identity"], case["parameters"]["read_ahead_kb"]
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= _READ_AHEAD_LIMIT_KB:
        raise PlanError("read_ahead_kb of a case is no number of KiB")
    if identity["kind"] != "dd_read" or identity["direct"]:
        raise PlanError("read_ahead_kb is for dd_read cases that are not direct: others read nothing ahead")


def _require(part: Any, fields: dict[str, Any], what: str) -> None:
    if not isinstance(part, dict):
        raise PlanError(f"the plan is incomplete: {what} is no object")
    for name, kind in fields.items():
        if not isinstance(part.get(name), kind):
            raise PlanError(f"the plan is incomplete: {name} of {what} is missing or of the wrong type")
