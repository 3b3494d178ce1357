"""What a result says of the board that it was measured on, in one line."""

from __future__ import annotations

from typing import Any

WORDS = {
    "super": "Super",
    "not_super": "not Super",
    "partly": "not wholly Super",
    "unknown": "not known whether Super",
    "no_super_mode": "without a Super mode",
}


def board_lines(machine: dict[str, Any]) -> list[str]:
    """``Board: Orin Nano 8GB, not Super: The mode says MAXN_SUPER but …``; no line where there is no Jetson.

    The state before the run, or after it where nothing is known of before; what changed is among the doubts.
    """
    looks = (machine["before"], machine["after"])
    state = next((look["board_state"] for look in looks if look is not None and look["board_state"] is not None), None)
    if state is None:
        return []
    release = "" if state["release"] is None else f" (L4T {state['release']})"
    words = WORDS.get(state["verdict"], state["verdict"].replace("_", " "))
    return [f"Board: {state['name'] or 'a Jetson'}{release}, {words}: {state['cause']}"]
