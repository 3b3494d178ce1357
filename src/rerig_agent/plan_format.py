"""The plan as the agent reads it: an internal format, made by the controller of the same version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .cases import ARGV_BUILDERS

PLAN_FORMAT = "rerig-plan"
PLAN_FORMAT_NUMBER = 1


class PlanError(Exception):
    """The plan can't be run; the message is one sentence."""


def read_plan(path: Path) -> dict[str, Any]:
    """The plan in ``path``, checked for format, number and known kinds. Raises :class:`PlanError`."""
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"the plan can't be read: {error.strerror}") from error
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
    try:
        targets = {target["id"] for target in plan["targets"]}
        for case in plan["cases"]:
            if case["identity"]["kind"] not in ARGV_BUILDERS:
                raise PlanError("this agent does not know the kind of case {}".format(case["identity"]["kind"]))
            if case["target"] not in targets:
                raise PlanError("case {} names an unknown target".format(case["id"]))
    except (KeyError, TypeError) as error:
        raise PlanError(f"the plan is incomplete: {error} is missing or of the wrong type") from error
    return plan
