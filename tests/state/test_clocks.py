"""Whether jetson_clocks holds the clocks, as it is wanted at every boot or not."""

from __future__ import annotations

from typing import Any

from rerig.verify_checks import Check, Look

UNIT = "rerig-jetson-clocks.service"


def test_jetson_clocks(look: Look, check: Check, desired: dict[str, Any]) -> None:
    check.what = "jetson_clocks"
    check.needs_a_jetson(look)
    wanted = str(desired["power_mode_persist_clocks"]).lower() in ("true", "yes", "1")
    pinned, enabled = look.verdict["clocks"]["pinned"], UNIT in look.known_state.get("enabled", [])
    held = {True: "the GPU's clock is held", False: "the clocks move", None: "can't be read"}[pinned]
    check.found = f"{held}, {'at every boot' if enabled else 'not at boot'}"
    check.wanted = "held at every boot" if wanted else "not held at boot"
    if wanted and not (enabled and pinned):
        check.fail(f"jetson_clocks is to hold the clocks from boot on: {check.found}.")
    if enabled and not wanted:
        check.fail(f"{UNIT} holds the clocks at every boot, which is not wanted.")
    if pinned and not wanted:
        check.warn("jetson_clocks holds the clocks until the next boot or the next change of the power mode.")
