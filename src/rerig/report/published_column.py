"""The column of a result's table that puts the published figures beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rerig.quantities import BANDWIDTH, QUANTITIES

if TYPE_CHECKING:
    from rerig.compare import ClaimRow


class PublishedColumn:
    """Every claim that a case of ``result`` answers, or would answer had it read as many bytes."""

    def __init__(self, result: dict[str, Any]) -> None:
        from rerig.compare import compare_with_published
        from rerig.published import list_published

        self._rows: dict[str, list[tuple[str, ClaimRow]]] = {}
        for document in list_published():
            for row in compare_with_published(result, document).rows:
                if row.case is not None and (row.our_mean is not None or _other_size(row)):
                    self._rows.setdefault(row.case, []).append((document["id"], row))
        in_order = (self._rows.get(case["id"], []) for case in result["cases"])
        ids = (published_id for rows in in_order for published_id, _row in rows)
        self._numbers = {published_id: number for number, published_id in enumerate(dict.fromkeys(ids), start=1)}

    def cell(self, by_target: dict[str, dict[str, Any]], name_targets: bool, quantity: str = BANDWIDTH) -> str:
        """One line a claim on the quantity: its figure, ours beside it, the verdict, and the number of its source."""
        lines = []
        for target_id, case in by_target.items():
            for published_id, row in self._rows.get(case["id"], []):
                if row.quantity != quantity:
                    continue
                prefix = f"{target_id}: " if name_targets else ""
                figure = QUANTITIES[quantity].show(row.published_mean)
                lines.append(f"{prefix}{figure}, {_words(row)} ({self._numbers[published_id]})")
        return "\n".join(lines)

    def sources(self) -> list[str]:
        """What the numbers stand for."""
        return [f"({number}) {published_id}" for published_id, number in self._numbers.items()]


def _other_size(row: ClaimRow) -> bool:
    return row.verdict == "unlike" and {found.parameter for found in row.differences} == {"read_bytes"}


def _words(row: ClaimRow) -> str:
    if row.our_mean is None:
        return "not compared: other size"
    words = {"too_loose": "too loose to decide"}.get(row.verdict, row.words)
    return f"{row.compared}, {words}"
