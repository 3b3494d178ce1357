"""What is compared: bandwidths of reads, and of a power budget its highest power and heat and its lowest clocks.

A claim names its quantity; a result's cases give it by their kind. All figures are in the base unit: bytes a second, W,
degrees Celsius, Hz.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rerig.sizes import format_rate
from rerig_agent.plan_format import POWER_BUDGET

Repeat = dict[str, Any]

BANDWIDTH = "bandwidth"
# What a printed unit is in base units.
SCALES = {"MB/s": 1e6, "GB/s": 1e9, "W": 1.0, "°C": 1.0, "MHz": 1e6}


@dataclass(frozen=True)
class Quantity:
    """``words``: for a table; ``read``: the figure of a repeat, None where it has none; ``show``: as a person reads it.

    ``ratio``: whether a ratio of two figures means anything; degrees Celsius have no true zero.
    """

    name: str
    words: str
    read: Callable[[Repeat], float | None]
    show: Callable[[float], str]
    unit: str
    scale: float
    ratio: bool = True

    def compared(self, ours: float, theirs: float) -> str:
        """Ours beside theirs: ``×1.03``, or ``+2.1 °C``."""
        return f"×{ours / theirs:.3g}" if self.ratio else f"{ours - theirs:+.1f} {self.unit}"


def _clock(name: str) -> Callable[[Repeat], float | None]:
    return lambda repeat: None if repeat[name] is None else float(repeat[name]["lowest_hz"])


def _megahertz(hz: float) -> str:
    return f"{hz / 1e6:,.0f} MHz"


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity(BANDWIDTH, "bandwidth", lambda repeat: repeat["bandwidth_bytes_per_s"], format_rate, "MB/s", 1e6),
        Quantity(
            "input_power_highest",
            "highest input power",
            lambda repeat: repeat["input_power_highest_w"],
            lambda watts: f"{watts:.1f} W",
            "W",
            1.0,
        ),
        Quantity(
            "tj_highest",
            "highest tj",
            lambda repeat: repeat["tj_highest_c"],
            lambda celsius: f"{celsius:.1f} °C",
            "°C",
            1.0,
            ratio=False,
        ),
        Quantity("gpu_clock_lowest", "lowest GPU clock", _clock("gpu_clock"), _megahertz, "MHz", 1e6),
        Quantity("cpu_clock_lowest", "lowest processor clock", _clock("cpu_clock"), _megahertz, "MHz", 1e6),
    )
}
OF_LOADS = tuple(name for name in QUANTITIES if name != BANDWIDTH)


def quantities_of(identity: dict[str, Any]) -> tuple[str, ...]:
    """The names of the quantities that a case of this identity gives."""
    return OF_LOADS if identity.get("kind") == POWER_BUDGET else (BANDWIDTH,)


def figures(case: dict[str, Any], name: str) -> list[float]:
    """A quantity of every repeat that has it, partial loads left out: they measure something else."""
    if name not in quantities_of(case["identity"]):
        return []
    read = QUANTITIES[name].read
    found = (read(repeat) for repeat in case["repeats"] if not repeat.get("partial"))
    return [value for value in found if value]
