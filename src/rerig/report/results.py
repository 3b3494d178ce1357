"""A result on the terminal: targets, the table with the published figures beside it, every doubt with its advice."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

from rerig.doubts import KINDS
from rerig.report.board import board_lines
from rerig.report.figures import case_name, mean_rate, rate_text, target_text
from rerig.report.loads import print_loads
from rerig.report.published_column import PublishedColumn
from rerig.report.terminal import plain_table, print_lines
from rerig.sizes import format_duration
from rerig_agent.plan_format import MACHINE, POWER_BUDGET

MOST_PAUSES = 4  # more are no line that anyone reads
ENDS = {None: "", "signal": " (stopped)", "error": " (failed)", "killed": " (killed)"}


def print_run(path: Path, as_json: bool, quiet: bool) -> None:
    """Print the result in ``path``: as JSON, as its path alone (quiet), or as tables. Raises UserError."""
    from rerig.documents import load_valid_document

    result = load_valid_document(path, "rerig-result")
    if as_json:
        print(json.dumps(result, indent=2, ensure_ascii=False))
    elif quiet:
        print(path)
    else:
        print_result(result)
        print_lines([f"Result: {path}"])


def print_documents(paths: list[Path]) -> None:
    """Print several results as one JSON array. Raises UserError."""
    from rerig.documents import load_valid_document

    documents = [load_valid_document(path, "rerig-result") for path in paths]
    print(json.dumps(documents, indent=2, ensure_ascii=False))


def print_result(result: dict[str, Any]) -> None:
    """Print a valid result document to stdout."""
    print_lines([f"{result['suite']['name']} {result['suite']['version']}, run {result['run']['id']}", ""])
    print_lines([target_text(target) for target in result["targets"]])
    print_lines(board_lines(result["machine"]))
    print_lines([f"{key}: {text}" for key, text in result["labels"].items()])
    print_lines(sessions_lines(result["run"]["sessions"]))
    files = [target for target in result["targets"] if "refusal" not in target and target["origin"] != MACHINE]
    if files and result["cases"]:
        _print_table(result, files)
    print_loads(result, _marks(result))
    _print_reasons(result)
    _print_doubts(result)


def sessions_lines(sessions: list[dict[str, Any]]) -> list[str]:
    """One line about a run that was resumed: how often, and how long it stood still; none for a run in one go."""
    if len(sessions) == 1:
        return []
    pauses = []
    for before, after in itertools.pairwise(sessions):
        gap_s, why = after["gap_before_s"], ENDS[before["stopped_by"]]
        length = "an unknown time" if gap_s is None else format_duration(gap_s)
        pauses.append(f"for {length} after session {before['number']}{why}")
    if len(pauses) > MOST_PAUSES:
        pauses = [f"{len(pauses)} times"]
    return [f"Measured in {len(sessions)} sessions; the run stood still {', '.join(pauses)}."]


def _print_table(result: dict[str, Any], targets: list[dict[str, Any]]) -> None:
    marks = _marks(result)
    claims = PublishedColumn(result)
    header = ["read", *(_column(target) for target in targets)]
    header += [f"{target['id']}/{targets[0]['id']}" for target in targets[1:]]
    header += ["published (ours / published)"]
    rows = []
    for by_target in _by_name(result).values():
        cells = [case_name(*by_target.values())]
        cells += [_cell(by_target.get(target["id"]), marks) for target in targets]
        cells += [_ratio(by_target.get(target["id"]), by_target.get(targets[0]["id"])) for target in targets[1:]]
        cells.append(claims.cell(by_target, name_targets=len(targets) > 1))
        rows.append(cells)
    plain_table(header, rows)
    print_lines(claims.sources())


def _column(target: dict[str, Any]) -> str:
    return f"{target['id']}: mean (min–max)"


def _by_name(result: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Cases by their suite name, then by target: one row of the table each."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for case in result["cases"]:
        if case["identity"]["kind"] == POWER_BUDGET:
            continue
        name = case["id"].rsplit(".", 1)[0]
        rows.setdefault(name, {})[case["target"]] = case
    return rows


def _cell(case: dict[str, Any] | None, marks: dict[str, str]) -> str:
    if case is None:
        return ""
    found = sorted({marks[issue["code"]] for issue in case["validity"]["issues"]})
    return rate_text(case) + "".join(f" [{mark}]" for mark in found)


def _ratio(case: dict[str, Any] | None, base: dict[str, Any] | None) -> str:
    ours = None if case is None else mean_rate(case)
    theirs = None if base is None else mean_rate(base)
    return "" if not ours or not theirs else f"×{ours / theirs:.3g}"


def _marks(result: dict[str, Any]) -> dict[str, str]:
    """A letter for every code that occurs in a case."""
    codes = dict.fromkeys(found["code"] for case in result["cases"] for found in case["validity"]["issues"])
    return {code: chr(ord("a") + place) if place < 26 else str(place) for place, code in enumerate(codes)}


def _print_reasons(result: dict[str, Any]) -> None:
    """Why cases have no figure, each sentence once."""
    sentences = dict.fromkeys(case["reason"]["sentence"] for case in result["cases"] if case["reason"] is not None)
    print_lines([f"Not measured: {sentence}" for sentence in sentences])


def _print_doubts(result: dict[str, Any]) -> None:
    for code, mark in _marks(result).items():
        # A newer rerig may know codes that this one does not.
        print_lines([f"[{mark}] {KINDS[code].advice if code in KINDS else code}"])
        for case in result["cases"]:
            found = next((found for found in case["validity"]["issues"] if found["code"] == code), None)
            if found is not None:
                repeat = "" if found["repeat"] is None else f", repeat {found['repeat']}"
                print_lines([f"    {case['id']}{repeat}: {found['what']}"])
    for found in result["validity"]["issues"]:
        print_lines([f"The run: {found['what']}."])
    print_lines([f"Verdict: {result['validity']['verdict'].replace('_', ' ')}"])
    sys.stdout.flush()
