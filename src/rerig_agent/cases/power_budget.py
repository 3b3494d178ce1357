"""All processors and the GPU under load for a while: what power, heat and clocks come to. No tool is measured."""

from __future__ import annotations

from typing import Any

KIND = "power_budget"
# The target of such cases is no file.
MACHINE = "machine"


def describe(case: dict[str, Any]) -> str:
    """What a plan's listing says of a repeat, up to the command for the GPU, which follows where there is one."""
    parameters = case["parameters"]
    words = "# every processor under load for {:g} s, then {:g} s to cool down".format(
        parameters["load_s"], parameters["cool_s"]
    )
    return words + ("; no load on the GPU" if parameters["gpu_load"] is None else "; on the GPU meanwhile: ")
