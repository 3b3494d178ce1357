"""Is it really Super: the judge's three layers, each by itself, and its verdict on the whole."""

from __future__ import annotations

from typing import Any

import pytest

from rerig.verify_checks import Check, Look

LAYERS = {
    "device_tree": "device tree",
    "nvpmodel": "nvpmodel's file",
    "firmware": "clock tables of the bootloader",
}


@pytest.mark.parametrize("layer", LAYERS)
def test_layer(look: Look, check: Check, layer: str) -> None:
    check.what = LAYERS[layer]
    check.needs_a_jetson(look)
    seen = look.verdict["layers"][layer]
    said, wanted = "\n".join(seen["evidence"]), "\n".join(seen["expected"])
    check.compare(said, wanted or "a board with a Super mode", seen["state"] == "super", look.cause)


def test_super_as_a_whole(look: Look, check: Check, desired: dict[str, Any]) -> None:
    """A mode below MAXN_SUPER is right where the inventory asks for just that one."""
    check.needs_a_jetson(look)
    verdict, mode = look.verdict, look.verdict["mode"]
    wanted = desired["power_mode_name"]
    as_asked = verdict["code"] == "mode_not_maxn" and mode["name"] == wanted and mode["applied"] is True
    holds = as_asked or (verdict["verdict"] == "super" and wanted == mode["name"])
    sentence = look.cause
    if verdict["verdict"] == "super" and not holds:
        sentence = f"The board is Super in {mode['name']}, and the wanted mode is {wanted}."
    found = f"{verdict['verdict'].replace('_', ' ')}, {mode['name'] or 'mode unknown'}"
    check.compare(found, f"super, {wanted}", holds, sentence)


def test_bootloader_slots_and_updates(look: Look, check: Check) -> None:
    """Nothing here is wrong today; it is what may end Super tomorrow."""
    check.needs_a_jetson(look)
    firmware = look.verdict["firmware"]
    slot = f"slot {firmware['slot']}" if firmware["slot"] else "slot unknown"
    check.found = f"{slot}, version {firmware['version'] or 'unknown'}, other slot {firmware['other_slot']}"
    for warning in look.verdict["warnings"]:
        check.warn(warning["text"])
