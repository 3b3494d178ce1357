"""Power budgets on the terminal: what was loaded, and what power, heat and clocks came to, a column a repeat."""

from __future__ import annotations

from typing import Any

from rerig.quantities import OF_LOADS, QUANTITIES, figures
from rerig.report.figures import case_name
from rerig.report.published_column import PublishedColumn
from rerig.report.terminal import plain_table, print_lines
from rerig_agent.plan_format import POWER_BUDGET

CLOCKS = {"gpu_clock_lowest": "gpu_clock", "cpu_clock_lowest": "cpu_clock"}
UNKNOWN = "not known"


def print_loads(result: dict[str, Any], marks: dict[str, str]) -> None:
    """Print a table for every power budget that was measured; ``marks``: the letter of each doubt."""
    cases = [case for case in result["cases"] if case["identity"]["kind"] == POWER_BUDGET and case["repeats"]]
    if not cases:
        return
    claims = PublishedColumn(result)
    for case in cases:
        letters = sorted({marks[issue["code"]] for issue in case["validity"]["issues"]})
        title = case_name(case) + "".join(f" [{letter}]" for letter in letters)
        header = [title, *(f"repeat {repeat['number']}" for repeat in case["repeats"]), "published (ours beside it)"]
        rows = [
            ["processors under load", *map(_cores, case["repeats"]), ""],
            ["mean load of the GPU", *map(_gpu, case["repeats"]), ""],
        ]
        for name in OF_LOADS:
            cells = [_cell(name, repeat) for repeat in case["repeats"]]
            rows.append([QUANTITIES[name].words, *cells, claims.cell({case["target"]: case}, False, name)])
        plain_table(header, rows)
    if any(figures(case, name) for case in cases for name in OF_LOADS):
        print_lines(claims.sources())


def _cores(repeat: dict[str, Any]) -> str:
    return UNKNOWN if repeat["cores_loaded"] is None else f"{repeat['cores_loaded']} of {repeat['cores_online']}"


def _gpu(repeat: dict[str, Any]) -> str:
    return UNKNOWN if repeat["gpu_load_mean"] is None else f"{repeat['gpu_load_mean']:.0%}"


def _cell(name: str, repeat: dict[str, Any]) -> str:
    value = QUANTITIES[name].read(repeat)
    if value is None:
        return UNKNOWN
    shown = QUANTITIES[name].show(value)
    if name not in CLOCKS:
        return shown
    clock = repeat[CLOCKS[name]]
    share, top = clock["share_at_max"], QUANTITIES[name].show(clock["max_hz"])
    return f"{shown}, held" if share == 1 else f"{shown}, {share:.0%} at {top}"
