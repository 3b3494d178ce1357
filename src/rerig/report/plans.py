"""A plan as a person reads it: every command with its time and bytes, and the sum of both."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from rerig import estimate
from rerig.sizes import format_bytes, format_seconds


def summary(plan: dict[str, Any]) -> str:
    """One or two sentences: how many runs, how long, how many bytes, and what is written first."""
    runs = sum(len(case["repeats"]) for case in plan["cases"] if case["skip"] is None)
    read = estimate.plan_bytes(plan)
    text = f"{runs} {'run' if runs == 1 else 'runs'}, about {format_seconds(estimate.plan_seconds(plan))}"
    text += f", at most {format_bytes(read)} read." if read else "."
    scratch = [target["scratch"]["bytes"] for target in plan["targets"] if "scratch" in target]
    if scratch:
        text = f"First a scratch file of {format_bytes(scratch[0])} is written (removed afterwards), then {text}"
    skipped = dict.fromkeys(case["skip"]["sentence"] for case in plan["cases"] if case["skip"] is not None)
    return " ".join([text, *(f"Some cases are skipped. {sentence}" for sentence in skipped)])


def print_documents(plans: list[dict[str, Any]]) -> None:
    """Print several plans as one JSON array."""
    print(json.dumps(plans, indent=2))


def print_plan(plan: dict[str, Any], list_commands: Callable[[dict[str, Any]], list[str]], as_json: bool) -> None:
    """Print the plan to stdout; ``list_commands`` gives, for a plan, one command line a planned repeat."""
    if as_json:
        print(json.dumps(plan, indent=2))
        return
    commands = iter(list_commands(plan))
    for case in plan["cases"]:
        if case["skip"] is not None:
            print(f"# {case['id']}: skipped. {case['skip']['sentence']}")
        else:
            most = f", at most {format_bytes(case['estimate_bytes'])} each" if case["estimate_bytes"] else ""
            print(f"# {case['id']}: {len(case['repeats'])} × about {format_seconds(case['estimate_s'])}{most}")
        for _repeat in case["repeats"]:
            sys.stdout.write(next(commands).encode("utf-8", "surrogateescape").decode("utf-8", "replace") + "\n")
    print(f"# {summary(plan)}")
