"""The power mode, by its name, and whether what it asks for is in force."""

from __future__ import annotations

from typing import Any

from rerig.verify_checks import Check, Look


def test_power_mode(look: Look, check: Check, desired: dict[str, Any]) -> None:
    check.needs_a_jetson(look)
    mode, wanted = look.verdict["mode"], desired["power_mode_name"]
    found = mode["name"] or "can't be read"
    sentence = f"The power mode is {found}, and {wanted} is wanted."
    if mode["name"] is None:
        sentence = "Which power mode is set can't be read."
    elif wanted not in mode["modes"]:
        sentence = f"nvpmodel's file here has no mode {wanted}: it has {', '.join(mode['modes'])}."
    check.compare(found, wanted, mode["name"] == wanted, sentence)


def test_values_of_the_mode(look: Look, check: Check) -> None:
    check.needs_a_jetson(look)
    mode = look.verdict["mode"]
    differences = [f"{one['what']} {one['real']} instead of {one['conf']}" for one in mode["differences"]]
    found = {True: "in force", False: "\n".join(differences), None: "can't be read"}[mode["applied"]]
    sentence = f"The mode's values are not in force: {', '.join(differences)}."
    if mode["applied"] is None:
        sentence = "Whether the mode's values are in force can't be read."
    check.compare(found, "in force", mode["applied"] is True, sentence)
