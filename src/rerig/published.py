"""The published figures that come with rerig, and a claim's figure in its quantity's base unit."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerig.documents import load_valid_document, shown
from rerig.errors import UserError
from rerig.quantities import SCALES

PUBLISHED = Path(__file__).resolve().parents[2] / "published"
NOT_STATED = "not stated"


@dataclass(frozen=True)
class Figure:
    """A claim's figure in base units (bytes a second, W, °C, Hz).

    ``sd`` and ``n`` are None where the source does not state them.
    Of printed values, ``sd`` is the larger one of theirs and the stated one: values that are rounded alike show none.
    ``low`` and ``high`` are set for a range only, whose ``mean`` is its middle.
    """

    mean: float
    sd: float | None
    n: int | None
    last_digit: float
    low: float | None = None
    high: float | None = None


def figure_of(claim: dict[str, Any]) -> Figure:
    """The claim's figure in base units; mean and sample sd of printed values are computed here."""
    # Both posts print powers of ten, as dd and fio's "MB/s" do: 2 GiB in 18.8 s is 114 MB/s.
    scale, figure = SCALES[claim["unit"]], claim["figure"]
    last_digit = claim["last_digit"] * scale
    if "values" in figure:
        values = [value * scale for value in figure["values"]]
        stated = None if figure["stated_sd"] == NOT_STATED else figure["stated_sd"] * scale
        computed = statistics.stdev(values) if len(values) > 1 else None
        sd = max((spread for spread in (stated, computed) if spread is not None), default=None)
        return Figure(statistics.fmean(values), sd, len(values), last_digit)
    n = None if figure["n"] == NOT_STATED else figure["n"]
    if "mean" in figure:
        sd = None if figure["sd"] == NOT_STATED else figure["sd"] * scale
        return Figure(figure["mean"] * scale, sd, n, last_digit)
    low, high = figure["low"] * scale, figure["high"] * scale
    return Figure((low + high) / 2, None, n, last_digit, low, high)


def published_ids() -> list[str]:
    """The ids of the published figures that come with rerig (their files' names)."""
    return sorted(path.stem for path in PUBLISHED.glob("*.json"))


def load_published(id_or_path: str) -> dict[str, Any]:
    """The validated published document with this id, or in this file (a slash or .json makes it a path).

    Raises UserError with one sentence; for an unknown id it lists the known ones.
    """
    if "/" in id_or_path or id_or_path.endswith(".json"):
        return load_valid_document(id_or_path, "rerig-published")
    if id_or_path not in published_ids():
        known = ", ".join(published_ids())
        raise UserError(f"There are no published figures {shown(id_or_path)}; known are {known}.")
    return load_valid_document(PUBLISHED / f"{id_or_path}.json", "rerig-published")


def list_published() -> list[dict[str, Any]]:
    """Every published document that comes with rerig, by id."""
    return [load_published(name) for name in published_ids()]
