"""The fan's profile, where one is wanted."""

from __future__ import annotations

from typing import Any

from rerig.verify_checks import Check, Look


def test_fan_profile(look: Look, check: Check, desired: dict[str, Any]) -> None:
    check.needs_a_jetson(look)
    wanted = desired["power_mode_fan_profile"]
    found = look.fan.get("profile") or "can't be read"
    holds = wanted is None or found == wanted
    check.compare(found, wanted or "as it is", holds, f"The fan's profile is {found}, and {wanted} is wanted.")
