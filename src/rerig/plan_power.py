"""A power budget in a plan: its target is the machine itself. Pure."""

from __future__ import annotations

from typing import Any

from rerig import estimate
from rerig.errors import UserError
from rerig.text import printable
from rerig_agent.plan_format import MACHINE, POWER_BUDGET

SAMPLE_S = 1


def reads_files(suite: dict[str, Any]) -> bool:
    """Whether any case of the suite reads a file, the user's or a scratch file."""
    return any(case["kind"] != POWER_BUDGET for case in suite["cases"])


def loads_machine(suite: dict[str, Any]) -> bool:
    """Whether any case of the suite puts the machine under load."""
    return any(case["kind"] == POWER_BUDGET for case in suite["cases"])


def check_options(
    suite: dict[str, Any], paths: bool = False, scratch: bool = False, size: bool = False, gpu_load: bool = False
) -> None:
    """Raise UserError for an option that was given and means nothing to the suite."""
    name = printable(suite["name"])
    of_files = {"--path": paths, "--scratch": scratch, "--size": size}
    given = next((option for option, is_given in of_files.items() if is_given), None)
    if given is not None and not reads_files(suite):
        raise UserError(f"The suite {name} reads no file: leave out {given}.", 2)
    if gpu_load and not loads_machine(suite):
        raise UserError(f"The suite {name} puts no load on the GPU: leave out --gpu-load.", 2)


def machine_target(number: int) -> dict[str, Any]:
    """The target that is this machine, after ``number - 1`` files."""
    return {"id": f"t{number}", "label": "this machine", "origin": MACHINE}


def plan_power(
    suite_case: dict[str, Any], target_id: str, gpu_load: list[str] | None, repeats: list[dict[str, Any]]
) -> dict[str, Any]:
    """The planned case. ``gpu_load``: the user's command, before the suite's; ``repeats``: with their seeds."""
    load_s, cool_s = suite_case["load_s"], suite_case["cool_s"]
    command = suite_case["gpu_load"] if gpu_load is None else gpu_load
    return {
        "id": f"{suite_case['name']}.{target_id}",
        "target": target_id,
        "identity": {"kind": POWER_BUDGET, "load_s": load_s, "gpu": command is not None},
        "extent": "timed",
        "parameters": {"load_s": load_s, "cool_s": cool_s, "sample_s": SAMPLE_S, "gpu_load": command},
        "repeats": repeats,
        "estimate_s": float(load_s + cool_s),
        "estimate_bytes": 0,
        "limit_s": estimate.limit_seconds(load_s + cool_s),
        "skip": None,
    }
