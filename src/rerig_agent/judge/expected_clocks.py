"""The ends of the clock tables, with and without a Super bootloader: the only table of them.

Sources: outputs that owners of such boards published; the caps in the public nvpmodel files; the post on the 8 GB Nano.
None: not published.
"""

from __future__ import annotations

from typing import NamedTuple


class Ends(NamedTuple):
    """The last step of the GPU (Hz), of the cores (kHz), of the memory (Hz)."""

    gpu_hz: int
    cpu_khz: int | None
    emc_hz: int | None


class Expected(NamedTuple):
    """A module's ends with a Super bootloader and with the one it had before."""

    super: Ends
    plain: Ends


NANO_SUPER = Ends(1_020_000_000, 1_728_000, 3_199_000_000)
NANO_PLAIN = Ends(624_750_000, 1_510_400, 2_133_000_000)
NX = Expected(Ends(1_173_000_000, 1_984_000, 3_199_000_000), Ends(918_000_000, None, None))
# By SKU of the module p3767.
EXPECTED = {
    "0000": NX,
    "0001": NX,
    "0003": Expected(NANO_SUPER, NANO_PLAIN),
    "0004": Expected(NANO_SUPER, NANO_PLAIN),
    "0005": Expected(NANO_SUPER, NANO_PLAIN),
}


def megahertz(hz: int) -> str:
    """624750000 -> "624.75 MHz", 1020000000 -> "1020 MHz"."""
    return f"{hz / 1e6:.2f}".rstrip("0").rstrip(".") + " MHz"
