"""Compares a result with published claims, or with another result. Pure: documents in, verdicts out.

Both join on the identity of a case. With a claim, a parameter that the source does not state is passed over with a
note; one that differs, or is missing on either side, makes the cases unlike, and unlike cases are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rerig.published import NOT_STATED, Figure, figure_of
from rerig.quantities import BANDWIDTH, QUANTITIES, figures
from rerig.stats import Sample, mean_half_width, prediction_half_width, sample_of

Document = dict[str, Any]
ClaimVerdict = Literal["consistent", "differs", "too_loose", "unlike", "not_measured"]

# An interval wider than this on each side, as a share of the figure, decides nothing that lies inside it.
LOOSE_SHARE = 0.5
# What an identity of each kind must hold beside kind and medium, which choose the cases that are looked at.
PARAMETERS = {
    "dd_read": ("direct", "evict", "block_bytes", "read_bytes"),
    "dd_reread": ("direct", "evict", "block_bytes", "read_bytes"),
    "fio_read": ("direct", "evict", "block_bytes", "pattern", "queue_depth", "engine"),
    "power_budget": ("load_s", "gpu"),
}
WORDS = {
    "direct": "O_DIRECT",
    "evict": "eviction before each repeat",
    "block_bytes": "block size",
    "read_bytes": "bytes a repeat",
    "pattern": "pattern",
    "queue_depth": "queue depth",
    "engine": "fio engine",
    "read_ahead_kb": "read-ahead",
    "load_s": "seconds of load",
    "gpu": "load on the GPU",
}
MEDIUM_WORDS = {"block": "local disk", "network": "network", "host_share": "host-share", "other": "other"}
_MISSING = "missing"


@dataclass(frozen=True)
class Difference:
    """A parameter that is not the same on both sides; "missing" where a side lacks it."""

    parameter: str
    published: object
    here: object


@dataclass(frozen=True)
class ClaimRow:
    """One claim beside one case of the result. Means and ``interval`` are in the quantity's base unit.

    ``ratio`` is our mean over the published one, where a ratio means anything. ``interval`` is where our mean was to be
    expected. ``case`` and ``target`` (its label) are None where no case answers the claim.
    """

    claim: str
    title: str
    quantity: str
    case: str | None
    target: str | None
    verdict: ClaimVerdict
    published_mean: float
    published_n: int | None
    our_mean: float | None
    our_n: int | None
    ratio: float | None
    interval: tuple[float, float] | None
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def compared(self) -> str:
        """Ours beside the published figure: ``×1.03``, ``+2.1 °C``; empty where there is none of ours."""
        return "" if self.our_mean is None else QUANTITIES[self.quantity].compared(self.our_mean, self.published_mean)

    @property
    def words(self) -> str:
        """The verdict in plain words."""
        if self.verdict == "differs" and self.our_mean is not None:
            return f"differs by {self.compared if self.ratio is None else _percent(self.ratio - 1)}"
        if self.verdict == "too_loose" and self.our_mean is not None:
            shown = self.compared if self.ratio is None else f"ratio {self.ratio:.3g}"
            return f"published figure too loose to decide ({shown})"
        if self.verdict == "unlike":
            parts = (
                f"{WORDS.get(found.parameter, found.parameter)} {_shown(found.here, found.parameter)} here, "
                f"{_shown(found.published, found.parameter)} published"
                for found in self.differences
            )
            return "unlike, not compared: " + "; ".join(parts)
        return self.verdict.replace("_", " ")


@dataclass(frozen=True)
class Comparison:
    """Every claim of one published document beside the cases of one result."""

    published_id: str
    run_id: str
    rows: tuple[ClaimRow, ...]


def compare_with_published(result: Document, published: Document) -> Comparison:
    """One row for each claim and each case that answers it, in the order of the claims.

    A claim is answered by every case whose stated parameters are the same, also one that was skipped or is invalid
    ("not_measured", with the reason). Where there is none, the nearest case of the same kind and medium is shown as
    "unlike". Verdicts: see ``judge_figure``.
    """
    rows = [row for claim in published["claims"] for row in _claim_rows(claim, result)]
    return Comparison(published["id"], result["run"]["id"], tuple(rows))


def _claim_rows(claim: Document, result: Document) -> list[ClaimRow]:
    identity = claim["identity"]
    kind, medium = identity.get("kind"), identity.get("medium")
    cases = [
        (_differences(identity, case["identity"]), case)
        for case in result["cases"]
        if (case["identity"].get("kind"), case["identity"].get("medium")) == (kind, medium)
    ]
    answers = [case for differences, case in cases if not differences]
    if answers:
        return [_answered(claim, case, result) for case in answers]
    if not cases:
        words = MEDIUM_WORDS.get(str(medium), str(medium))
        note = f"this result has no {kind} case" + ("" if medium is None else f" on a {words} target")
        return [_row(claim, None, result, "not_measured", notes=(note,))]
    differences, nearest = min(cases, key=lambda pair: len(pair[0]))
    return [_row(claim, nearest, result, "unlike", differences=tuple(differences))]


def _differences(claimed: Document, measured: Document) -> list[Difference]:
    required = PARAMETERS.get(str(claimed.get("kind")), ())
    others = sorted((claimed.keys() | measured.keys()) - {"kind", "medium", *required})
    found = []
    for parameter in (*required, *others):
        published, here = claimed.get(parameter, _MISSING), measured.get(parameter, _MISSING)
        passed_over = published == NOT_STATED and here not in (_MISSING, NOT_STATED)
        same = published == here and here not in (_MISSING, NOT_STATED)
        if not (passed_over or same):
            found.append(Difference(parameter, published, here))
    return found


def _answered(claim: Document, case: Document, result: Document) -> ClaimRow:
    values = usable_figures(case, claim["quantity"])
    if not values:
        return _row(claim, case, result, "not_measured", notes=(why_unusable(case, claim["quantity"]),))
    ours, figure = sample_of(values), figure_of(claim)
    verdict, interval, reasons = judge_figure(figure, ours)
    notes = (*reasons, *_not_stated(claim, case), *claim["notes"], *doubt_notes(case, result))
    return _row(claim, case, result, verdict, ours, interval, notes=notes)


def _row(
    claim: Document,
    case: Document | None,
    result: Document,
    verdict: ClaimVerdict,
    ours: Sample | None = None,
    interval: tuple[float, float] | None = None,
    differences: tuple[Difference, ...] = (),
    notes: tuple[str, ...] = (),
) -> ClaimRow:
    figure = figure_of(claim)
    has_ratio = ours is not None and QUANTITIES[claim["quantity"]].ratio
    return ClaimRow(
        claim=claim["id"],
        title=claim["title"],
        quantity=claim["quantity"],
        case=case["id"] if case else None,
        target=target_label(result, case) if case else None,
        verdict=verdict,
        published_mean=figure.mean,
        published_n=figure.n,
        our_mean=ours.mean if ours else None,
        our_n=ours.n if ours else None,
        ratio=ours.mean / figure.mean if ours and has_ratio else None,
        interval=interval,
        differences=differences,
        notes=notes,
    )


def judge_figure(figure: Figure, ours: Sample) -> tuple[ClaimVerdict, tuple[float, float] | None, tuple[str, ...]]:
    """(verdict, interval for our mean in the figure's unit, notes that explain the verdict).

    - Two or more published repeats with a spread: the 95 % prediction interval for the mean of as many repeats as
      ours, widened by half a unit of the last printed digit.
    - A range: the range itself, widened alike. It is no 95 % interval: of n earlier repeats and a new one, the new
      one lies outside in 2 cases of n + 1 though nothing has changed, which the notes say.
    - Neither: no interval, "too_loose".

    Outside the interval: "differs". Inside: "consistent", or "too_loose" where the interval reaches more than half
    of the figure to each side, so that nearly everything would be inside.

    The interval takes the spread of our repeats to be the published one. Where ours is so much larger that the 95 %
    interval of our own mean reaches into it, the verdict stays and a note says so; likewise for a single repeat.
    """
    notes: list[str] = []
    if figure.low is not None and figure.high is not None:
        low, high = figure.low - figure.last_digit / 2, figure.high + figure.last_digit / 2
        notes.append(_range_note(figure.n))
    elif figure.sd is None or figure.n is None or figure.n < 2:
        lacking = "number of repeats" if figure.n is None else "spread"
        return "too_loose", None, (f"the source states no {lacking} for this figure",)
    else:
        half = prediction_half_width(figure.sd, figure.n, ours.n, figure.last_digit)
        low, high = figure.mean - half, figure.mean + half
        if figure.sd == 0:
            notes.append("all published repeats print the same figure: only its last digit gives it a width")
    if not low <= ours.mean <= high:
        verdict: ClaimVerdict = "differs"
    else:
        verdict = "too_loose" if (high - low) / 2 > LOOSE_SHARE * figure.mean else "consistent"
    notes.extend(_own_spread(verdict, (low, high), ours))
    return verdict, (low, high), tuple(notes)


def _own_spread(verdict: ClaimVerdict, interval: tuple[float, float], ours: Sample) -> Iterable[str]:
    if ours.sd is None:
        yield "a single repeat here: its own spread is unknown"
    elif verdict == "differs":
        half = mean_half_width(ours)
        if ours.mean - half <= interval[1] and ours.mean + half >= interval[0]:
            yield "our own repeats spread so far that this may be chance"


def _range_note(n: int | None) -> str:
    if n is None:
        return "the source gives a range without the number of repeats: a new one may lie outside by chance"
    return f"the source gives a range of {n} repeats: by chance alone a new one lies outside in 2 cases of {n + 1}"


def _not_stated(claim: Document, case: Document) -> Iterable[str]:
    for parameter in PARAMETERS[claim["identity"]["kind"]]:
        if claim["identity"][parameter] == NOT_STATED:
            yield f"{WORDS[parameter]} not stated in the source; here {_shown(case['identity'][parameter])}"


def usable_figures(case: Document, quantity: str = BANDWIDTH) -> list[float]:
    """A quantity's figures of a case that may be compared: measured, and valid or doubtful; else []."""
    if case["status"] != "measured" or case["validity"]["verdict"] not in ("valid", "doubtful"):
        return []
    return figures(case, quantity)


def why_unusable(case: Document, quantity: str = BANDWIDTH) -> str:
    """Why ``usable_figures`` is empty, in words."""
    if case["status"] != "measured":
        sentence = case["reason"]["sentence"] if case["reason"] else "no reason is recorded"
        return f"{case['status'].replace('_', ' ')}: {sentence}"
    if quantity != BANDWIDTH and case["validity"]["verdict"] != "invalid":
        if all(repeat["partial"] for repeat in case["repeats"]):
            return "not every processor and the GPU were loaded, and a partial load is compared with nothing"
        return f"nothing there tells the {QUANTITIES[quantity].words}"
    return f"measured, but {case['validity']['verdict']}: {_codes(case['validity']['issues']) or 'no rate'}"


def doubt_notes(case: Document, result: Document) -> Iterable[str]:
    """The doubts of a case and of its whole run, by their codes."""
    if case["validity"]["verdict"] == "doubtful":
        yield f"doubtful: {_codes(case['validity']['issues'])}"
    if result["validity"]["issues"]:
        yield f"the whole run is {result['validity']['verdict']}: {_codes(result['validity']['issues'])}"


def target_label(result: Document, case: Document) -> str:
    """The label of the case's target (its id if the result does not list it)."""
    labels = {target["id"]: target["label"] for target in result["targets"]}
    return str(labels.get(case["target"], case["target"]))


def _codes(issues: Sequence[Document]) -> str:
    return ", ".join(dict.fromkeys(issue["code"] for issue in issues))


def _percent(share: float) -> str:
    return f"{share * 100:+.{1 if abs(share) < 1 else 0}f} %"


def _shown(value: object, parameter: str = "") -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if parameter == "read_ahead_kb" and value == _MISSING:  # in an identity only where it was set
        return "not set"
    unit = " KiB" if parameter == "read_ahead_kb" else ""
    return f"{value:,}{unit}" if isinstance(value, int) else str(value)
