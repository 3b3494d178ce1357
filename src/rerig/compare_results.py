"""Compares two results case by case. Pure: documents in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rerig.compare import doubt_notes, target_label, usable_figures, why_unusable
from rerig.quantities import BANDWIDTH, QUANTITIES, quantities_of
from rerig.stats import sample_of, welch_interval

Document = dict[str, Any]
Pair = tuple[Document | None, Document | None]
ResultVerdict = Literal["no_difference_shown", "differs", "undecided", "not_compared", "only_in_a", "only_in_b"]


@dataclass(frozen=True)
class ResultRow:
    """One case of result a beside the same case of result b, or one quantity of both, in its base unit.

    ``ratio`` is b's mean over a's, where a ratio means anything. ``difference_interval`` is the 95 % interval of
    mean(b) - mean(a), and None where a side has a single repeat.
    """

    identity: dict[str, Any]
    quantity: str
    case_a: str | None
    case_b: str | None
    target_a: str | None
    target_b: str | None
    verdict: ResultVerdict
    mean_a: float | None
    mean_b: float | None
    n_a: int
    n_b: int
    ratio: float | None
    difference_interval: tuple[float, float] | None
    notes: tuple[str, ...]

    @property
    def words(self) -> str:
        """The verdict in plain words."""
        if self.verdict == "only_in_a":
            return "only in the first result"
        if self.verdict == "only_in_b":
            return "only in the second result"
        if self.mean_a is None or self.mean_b is None:
            return "not compared"
        change = self._change(self.mean_a, self.mean_b)
        if self.difference_interval is None:
            return f"the second is {change}; a single repeat has no spread, so this may be chance"
        in_percent = self.ratio is not None
        scale = self.mean_a / 100 if in_percent else QUANTITIES[self.quantity].scale
        low, high = (bound / scale for bound in self.difference_interval)
        unit = "%" if in_percent else QUANTITIES[self.quantity].unit
        interval = f"(95 % interval {low:+.1f} to {high:+.1f} {unit})"
        return f"the second is {change} {interval}" if self.verdict == "differs" else f"no difference shown {interval}"

    def _change(self, mean_a: float, mean_b: float) -> str:
        if self.ratio is None:
            return f"{QUANTITIES[self.quantity].compared(mean_b, mean_a)} away"
        more, less = ("faster", "slower") if self.quantity == BANDWIDTH else ("higher", "lower")
        return f"{abs(self.ratio - 1) * 100:.1f} % {more if self.ratio >= 1 else less}"


@dataclass(frozen=True)
class ResultComparison:
    """Two results, case by case."""

    run_a: str
    run_b: str
    rows: tuple[ResultRow, ...]


def compare_results(a: Document, b: Document) -> ResultComparison:
    """One row for each identity of either result, in a's order, then what only b has.

    Cases join on their identity; where a result has several of one identity (on several targets), also on the
    target's label. "differs" where zero is outside Welch's 95 % interval of the difference.
    """
    rows = tuple(
        _row(a, b, *pair, quantity) for pair in _pairs(a, b) for quantity in quantities_of(_identity_of(*pair))
    )
    return ResultComparison(a["run"]["id"], b["run"]["id"], rows)


def _identity_of(case_a: Document | None, case_b: Document | None) -> Document:
    return dict((case_a or case_b or {})["identity"])


def _pairs(a: Document, b: Document) -> Iterator[Pair]:
    groups_a, groups_b = _by_identity(a), _by_identity(b)
    for key in dict.fromkeys([*groups_a, *groups_b]):
        cases_a, cases_b = groups_a.get(key, []), groups_b.get(key, [])
        if len(cases_a) == len(cases_b) == 1:
            yield cases_a[0], cases_b[0]
            continue
        waiting = list(cases_b)
        for case in cases_a:
            label = target_label(a, case)
            partner = next((other for other in waiting if target_label(b, other) == label), None)
            if partner is not None:
                waiting.remove(partner)
            yield case, partner
        yield from ((None, case) for case in waiting)


def _by_identity(result: Document) -> dict[tuple[tuple[str, Any], ...], list[Document]]:
    groups: dict[tuple[tuple[str, Any], ...], list[Document]] = {}
    for case in result["cases"]:
        groups.setdefault(tuple(sorted(case["identity"].items())), []).append(case)
    return groups


def _row(a: Document, b: Document, case_a: Document | None, case_b: Document | None, quantity: str) -> ResultRow:
    values_a, values_b = (usable_figures(case, quantity) if case else [] for case in (case_a, case_b))
    sample_a, sample_b = (sample_of(values) if values else None for values in (values_a, values_b))
    interval, ratio = None, None
    if case_a is None or case_b is None:
        verdict: ResultVerdict = "only_in_a" if case_b is None else "only_in_b"
    elif sample_a is None or sample_b is None:
        verdict = "not_compared"
    else:
        ratio = sample_b.mean / sample_a.mean if QUANTITIES[quantity].ratio else None
        if sample_a.n > 1 and sample_b.n > 1:
            interval = welch_interval(sample_a, sample_b)
            verdict = "no_difference_shown" if interval[0] <= 0 <= interval[1] else "differs"
        else:
            verdict = "undecided"
    return ResultRow(
        identity=_identity_of(case_a, case_b),
        quantity=quantity,
        case_a=case_a["id"] if case_a else None,
        case_b=case_b["id"] if case_b else None,
        target_a=target_label(a, case_a) if case_a else None,
        target_b=target_label(b, case_b) if case_b else None,
        verdict=verdict,
        mean_a=sample_a.mean if sample_a else None,
        mean_b=sample_b.mean if sample_b else None,
        n_a=len(values_a),
        n_b=len(values_b),
        ratio=ratio,
        difference_interval=interval,
        notes=tuple(_notes(quantity, ("first", a, case_a, values_a), ("second", b, case_b, values_b))),
    )


def _notes(quantity: str, *sides: tuple[str, Document, Document | None, list[float]]) -> Iterator[str]:
    """Doubts matter where there is a comparison; else only why there is none."""
    compared = all(values for *_, values in sides)
    for side, result, case, values in sides:
        if case is None:
            continue
        if not values:
            yield f"{side}: {why_unusable(case, quantity)}"
        elif compared:
            if len(values) == 1:
                yield f"{side}: a single repeat, so no interval"
            yield from (f"{side}: {note}" for note in doubt_notes(case, result))
