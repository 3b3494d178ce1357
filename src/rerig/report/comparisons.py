"""Comparisons on the terminal or as JSON: with published figures, with another result; and the published list."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rerig.errors import UserError
from rerig.report.terminal import plain_table, print_lines
from rerig.sizes import format_rate


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
        header = ["published", "figure", "here", "ratio", "verdict"]
        rows = [
            [
                row.title,
                format_rate(row.published_mean),
                _rate(row.our_mean),
                "" if row.ratio is None else f"×{row.ratio:.3g}",
                row.words + "".join(f"\n· {note}" for note in row.notes),
            ]
            for row in comparison.rows
        ]
        plain_table(header, rows)
    if all(row.ratio is None for row in comparison.rows):
        raise UserError(f"Nothing in this result can be compared with {comparison.published_id}.")


def print_pair(first: dict[str, Any], second: dict[str, Any], as_json: bool) -> None:
    """Compare two results case by case and print them. Raises UserError when nothing could be compared."""
    from rerig.compare_results import compare_results
    from rerig.report.figures import case_name

    comparison = compare_results(first, second)
    if as_json:
        _print_json(comparison)
    else:
        rows = [
            [
                case_name({"identity": row.identity}),
                _rate(row.mean_a),
                _rate(row.mean_b),
                "" if row.ratio is None else f"×{row.ratio:.3g}",
                row.words + "".join(f"\n· {note}" for note in row.notes),
            ]
            for row in comparison.rows
        ]
        plain_table(["read", "first", "second", "second/first", "verdict"], rows)
    if all(row.ratio is None for row in comparison.rows):
        raise UserError("These two results have no measured case in common.")


def print_published_list(as_json: bool) -> None:
    """Print every published document: id, title, and its claims."""
    from rerig.published import figure_of, list_published

    documents = list_published()
    if as_json:
        print(json.dumps(documents, indent=2, ensure_ascii=False))
        return
    for document in documents:
        print_lines([f"{document['id']}  {document['source']['title']} ({document['source']['language']})"])
        rows = [[claim["id"], claim["title"], format_rate(figure_of(claim).mean)] for claim in document["claims"]]
        plain_table(["claim", "what", "figure"], rows)


def _rate(bytes_per_s: float | None) -> str:
    return "" if bytes_per_s is None else format_rate(bytes_per_s)


def _print_json(comparison: Any) -> None:
    document = dataclasses.asdict(comparison)
    for row, source in zip(document["rows"], comparison.rows, strict=True):
        row["words"] = source.words
    print(json.dumps(document, indent=2, ensure_ascii=False))
