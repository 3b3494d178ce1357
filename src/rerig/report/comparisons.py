"""Comparisons on the terminal or as JSON: with published figures, with another result; and the published list."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.published import NOT_STATED
from rerig.quantities import BANDWIDTH, QUANTITIES
from rerig.report.terminal import plain_table, print_lines

if TYPE_CHECKING:
    from rerig.compare_results import ResultRow

_PLACE = ("section", "place")


def print_published(result: dict[str, Any], published: str, as_json: bool) -> None:
    """Compare a result with the published figures ``published`` (id or path) and print every claim.

    Raises UserError when not a single claim could be compared.
    """
    from rerig.compare import compare_with_published
    from rerig.published import load_published

    comparison = compare_with_published(result, load_published(published))
    if as_json:
        _print_json(comparison)
    else:
        several = len(result["targets"]) > 1
        header = ["published", "figure", "here", "ratio", "expected here", "verdict"]
        rows = [
            [
                "\n".join([row.title, *([_target(row.case, row.target)] if several and row.case else [])]),
                _figure(row.quantity, row.published_mean, row.published_n),
                _figure(row.quantity, row.our_mean, row.our_n),
                row.compared,
                _interval(row.quantity, row.interval),
                row.words,
            ]
            for row in comparison.rows
        ]
        plain_table(header, rows)
        _print_notes([(f"{row.title}{_target_suffix(row.case, several)}", row.notes) for row in comparison.rows])
    if all(row.our_mean is None for row in comparison.rows):
        raise UserError(f"Nothing in this result can be compared with {comparison.published_id}.")


def print_pair(first: dict[str, Any], second: dict[str, Any], as_json: bool) -> None:
    """Compare two results case by case and print them. Raises UserError when nothing could be compared."""
    from rerig.compare_results import compare_results

    comparison = compare_results(first, second)
    if as_json:
        _print_json(comparison)
    else:
        several = len(first["targets"]) > 1 or len(second["targets"]) > 1
        header = ["read", "first", "second", "second/first", "second − first (95 %)", "verdict"]
        rows = [
            [
                "\n".join([_row_name(row), *(_sides(row) if several else [])]),
                _figure(row.quantity, row.mean_a, row.n_a),
                _figure(row.quantity, row.mean_b, row.n_b),
                "" if row.ratio is None else f"×{row.ratio:.3g}",
                _interval(row.quantity, row.difference_interval, sign="+"),
                row.words,
            ]
            for row in comparison.rows
        ]
        plain_table(header, rows)
        _print_notes([(_row_name(row), row.notes) for row in comparison.rows])
    if all(row.mean_a is None or row.mean_b is None for row in comparison.rows):
        raise UserError("These two results have no measured case in common.")


def _row_name(row: ResultRow) -> str:
    from rerig.report.figures import case_name

    quantity = "" if row.quantity == BANDWIDTH else f": {QUANTITIES[row.quantity].words}"
    return case_name({"identity": row.identity}) + quantity


def _target_suffix(case: str | None, several: bool) -> str:
    return f" ({case.rsplit('.', 1)[-1]})" if several and case else ""


def _print_notes(rows: list[tuple[str, tuple[str, ...]]]) -> None:
    """What a verdict must be read with, under the table: it would be torn to pieces inside a narrow cell."""
    for title, notes in rows:
        if notes:
            print_lines([f"{title}:", *(f"  · {note}" for note in notes)])


def print_published_list(as_json: bool) -> None:
    """Print every published document: its id and title, and of each claim the figure as printed and its place."""
    from rerig.published import list_published

    documents = list_published()
    if as_json:
        print(json.dumps(documents, indent=2, ensure_ascii=False))
        return
    for document in documents:
        print_lines([f"{document['id']}  {document['source']['title']} ({document['source']['language']})"])
        rows = [
            [claim["id"], claim["title"], printed_figure(claim), ": ".join(claim["source"][key] for key in _PLACE)]
            for claim in document["claims"]
        ]
        plain_table(["claim", "what", "figure", "section: place in it"], rows, numbers=())


def printed_figure(claim: dict[str, Any]) -> str:
    """The figure as its source prints it: ``1.45, 1.45, 1.46 GB/s``, ``200 MB/s, sd not stated, n not stated``."""
    figure, unit = claim["figure"], claim["unit"]
    decimals = max(0, -math.floor(math.log10(claim["last_digit"]) + 1e-9))

    def digits(value: float) -> str:
        return f"{value:,.{decimals}f}"

    if "values" in figure:
        stated = "" if figure["stated_sd"] == NOT_STATED else f", sd {figure['stated_sd']:g} stated"
        return ", ".join(digits(value) for value in figure["values"]) + f" {unit}{stated}"
    if "mean" in figure:
        return f"{digits(figure['mean'])} {unit}, sd {figure['sd']}, n {figure['n']}"
    return f"{digits(figure['low'])}–{digits(figure['high'])} {unit}, n {figure['n']}"


def _figure(quantity: str, value: float | None, n: int | None) -> str:
    if value is None:
        return ""
    return f"{QUANTITIES[quantity].show(value)} (n {NOT_STATED if n is None else n})"


def _interval(quantity: str, interval: tuple[float, float] | None, sign: str = "") -> str:
    """Both ends; one digit more than a figure has, since an interval can be narrow."""
    if interval is None:
        return ""
    scale, unit = QUANTITIES[quantity].scale, QUANTITIES[quantity].unit
    widest = max(abs(end) for end in interval) / scale
    decimals = 0 if widest >= 1000 else 1 if widest >= 10 else 2
    low, high = (f"{end / scale:{sign},.{decimals}f}" for end in interval)
    return f"{low} to {high} {unit}"


def _target(case: str, label: str | None) -> str:
    """``t1 a.bin``; a case's id ends with its target's."""
    return f"{case.rpartition('.')[2]} {label}"


def _sides(row: ResultRow) -> list[str]:
    """The target on each side, once where both are the same."""
    found = [
        (side, _target(case, label))
        for side, case, label in (("first", row.case_a, row.target_a), ("second", row.case_b, row.target_b))
        if case is not None
    ]
    if len({words for _, words in found}) == 1:
        return [found[0][1]]
    return [f"{side}: {words}" for side, words in found]


def _print_json(comparison: Any) -> None:
    document = dataclasses.asdict(comparison)
    for row, source in zip(document["rows"], comparison.rows, strict=True):
        row["words"] = source.words
    print(json.dumps(document, indent=2, ensure_ascii=False))
