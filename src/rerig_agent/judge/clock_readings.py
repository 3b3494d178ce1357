"""Clocks in the evidence of a board, as numbers."""

from __future__ import annotations

from typing import Any

from ..parse import ParseError
from ..parse.devfreq import parse_available_frequencies, parse_frequency
from .board import text_of


def frequency(evidence: Any, *keys: str) -> int | None:
    """The number that lies under these keys, in the unit of its file; None for anything else."""
    try:
        return parse_frequency(text_of(evidence, *keys) or "")
    except ParseError:
        return None


def gpu_table(jetson: dict[str, Any]) -> tuple[int, ...]:
    """The GPU's steps in Hz; empty where they can't be read."""
    try:
        return parse_available_frequencies(text_of(jetson, "gpu", "available_frequencies") or "")
    except ParseError:
        return ()


def highest_cpu_khz(jetson: dict[str, Any]) -> int | None:
    """What the fastest core can do."""
    cpus = jetson.get("cpus")
    names = [name for name in cpus if isinstance(name, str)] if isinstance(cpus, dict) else []
    found = [frequency(cpus, name, "highest_khz") for name in names]
    return max((khz for khz in found if khz), default=None)
