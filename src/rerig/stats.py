"""Means and intervals of a few repeats. Pure; scipy is imported only where a quantile is needed.

All means here are means of rates (each repeat weighs the same), since that is what both posts print. The rate of
the whole, all bytes over all seconds, is their harmonic mean for repeats of equal size, and lower: by about the
square of the coefficient of variation, 0.01 % for a spread of 1 %.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Sample:
    """n values by their mean and sample standard deviation (divisor n - 1; None for a single value)."""

    n: int
    mean: float
    sd: float | None


def sample_of(values: Sequence[float]) -> Sample:
    """The Sample of one or more values. Raises ValueError for none."""
    if not values:
        raise ValueError("no values, no mean")
    sd = statistics.stdev(values) if len(values) > 1 else None
    return Sample(len(values), statistics.fmean(values), sd)


def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """The t value that ``confidence`` of a t distribution lies within (two-sided); 4.303 for 2 degrees and 0.95."""
    # scipy.stats would take three times as long to import.
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # scipy ships no types

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def mean_half_width(sample: Sample, confidence: float = CONFIDENCE) -> float:
    """Half the t interval of the mean that ``sample`` was drawn from: t(n - 1) * sd / sqrt(n), in the unit of ``sd``.

    Raises ValueError for a single value, which has no spread.
    """
    if sample.sd is None:
        raise ValueError("a spread needs two values")
    return t_quantile(sample.n - 1, confidence) * sample.sd / math.sqrt(sample.n)


def prediction_half_width(sd: float, n: int, m: int, last_digit: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """Half the interval around a mean of ``n`` >= 2 values that the mean of ``m`` new ones falls into.

    t(n - 1) * sd * sqrt(1/n + 1/m), for normal values of one spread (Hahn & Meeker, Statistical Intervals, 2nd ed.,
    section 4.8), plus half of ``last_digit``, the printed resolution: the printed figure may be so far from the true
    one. Unit of ``sd`` and ``last_digit``. Raises ValueError for n < 2 or m < 1.
    """
    if n < 2 or m < 1:
        raise ValueError("a prediction needs two published values and one new one")
    return t_quantile(n - 1, confidence) * sd * math.sqrt(1 / n + 1 / m) + last_digit / 2


def welch_interval(a: Sample, b: Sample, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of mean(b) - mean(a), each side with its own spread and at least two values (else ValueError).

    Welch's t interval with the Welch-Satterthwaite degrees of freedom (Welch, Biometrika 34, 1947).
    """
    if a.sd is None or b.sd is None:
        raise ValueError("a spread needs two values on each side")
    difference = b.mean - a.mean
    part_a, part_b = a.sd**2 / a.n, b.sd**2 / b.n
    if part_a + part_b == 0:  # equal values on both sides: no spread, and no degrees of freedom to compute
        return difference, difference
    # Shares of the sum rather than squares of it, which would underflow for tiny spreads.
    share_a, share_b = part_a / (part_a + part_b), part_b / (part_a + part_b)
    degrees = 1 / (share_a**2 / (a.n - 1) + share_b**2 / (b.n - 1))
    half = t_quantile(degrees, confidence) * math.sqrt(part_a + part_b)
    return difference - half, difference + half
