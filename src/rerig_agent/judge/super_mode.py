"""Is this board really in Super mode? One verdict from three layers that can disagree, with one sentence of cause.

The layers: the kernel's device tree (which nvpower picks the power modes by), nvpmodel's file and mode (which only
cap), and the bootloader's firmware (which holds the real tables of clocks). The mode's name alone proves nothing.
"""

from __future__ import annotations

from typing import Any

from .board import compatible_strings, error_of, identify
from .clock_readings import frequency, gpu_table, highest_cpu_khz
from .expected_clocks import EXPECTED, Expected, megahertz
from .firmware import judge_firmware
from .power_mode import judge_mode
from .public_power import public_mode, public_setting
from .super_causes import cause_of
from .super_warnings import needs_root, warnings_of

__all__ = ["EXPECTED", "MAXN_SUPER", "judge_super"]

MAXN_SUPER = "MAXN_SUPER"
NOT_A_JETSON = "This is not a Jetson: neither its device tree nor /etc/nv_tegra_release names a Tegra."


def judge_super(evidence: dict[str, Any]) -> dict[str, Any]:
    """The verdict on what :func:`rerig_agent.conditions.collect` gathered. Pure, never raises.

    verdict: super, not_super, partly (the hardware is Super, something is behind), unknown, no_super_mode,
    not_a_jetson. code and cause: why, as a word and as one sentence. board, layers {device_tree, nvpmodel, firmware:
    {"state": super, not_super or unknown, "evidence", "expected": [sentences]}}, mode (see
    :func:`rerig_agent.judge.power_mode.judge_mode`), clocks (Hz, kHz), firmware (see
    :func:`rerig_agent.judge.firmware.judge_firmware`), warnings [{"code", "text"}], needs_root [what root would add].
    """
    given = evidence if isinstance(evidence, dict) else {}
    jetson = given.get("jetson")
    if not isinstance(jetson, dict):
        return _nothing()
    board = identify(jetson)
    expected = EXPECTED.get(board["sku"] or "") if board["family"] == "p3767" else None
    mode, firmware, clocks = judge_mode(jetson), judge_firmware(jetson), _clocks(jetson, expected)
    layers = {
        "device_tree": _device_tree(jetson, board),
        "nvpmodel": _nvpmodel(mode, board),
        "firmware": _firmware(clocks, expected),
    }
    states = {name: layer["state"] for name, layer in layers.items()}
    verdict, code, cause = cause_of(board, states, mode, clocks, error_of(jetson, "gpu", "available_frequencies"))
    return {
        "verdict": verdict,
        "code": code,
        "cause": cause,
        "board": board,
        "layers": layers,
        "mode": mode,
        "clocks": clocks,
        "firmware": firmware,
        "warnings": warnings_of(states, board, firmware, clocks),
        "needs_root": needs_root(jetson),
    }


def _nothing() -> dict[str, Any]:
    unknown: dict[str, Any] = {"state": "unknown", "evidence": [], "expected": []}
    return {
        "verdict": "not_a_jetson",
        "code": "not_a_jetson",
        "cause": NOT_A_JETSON,
        "board": {"name": None, "module": None, "sku": None, "family": None, "release": None},
        "layers": {name: dict(unknown) for name in ("device_tree", "nvpmodel", "firmware")},
        "mode": judge_mode({}),
        "clocks": _clocks({}, None),
        "firmware": judge_firmware({}),
        "warnings": [],
        "needs_root": [],
    }


def _clocks(jetson: dict[str, Any], expected: Expected | None) -> dict[str, Any]:
    table = gpu_table(jetson)
    lowest, highest = frequency(jetson, "gpu", "min_freq"), frequency(jetson, "gpu", "max_freq")
    caps = (frequency(jetson, "clocks", name) for name in ("emc_cap", "emc_cap_r35"))
    return {
        "gpu_last_hz": table[-1] if table else None,
        "gpu_max_hz": highest,
        # What jetson_clocks does: no clock moves, so that one that is low is held there.
        "pinned": None if lowest is None or highest is None else lowest == highest,
        "gpc_max_hz": frequency(jetson, "clocks", "gpc_max_rate"),
        "cpu_max_khz": highest_cpu_khz(jetson),
        "emc_max_hz": frequency(jetson, "clocks", "emc_max_rate"),
        "emc_cap_hz": next((cap for cap in caps if cap is not None), None),
        "emc_rate_hz": frequency(jetson, "clocks", "emc_rate"),
        "emc_locked": frequency(jetson, "clocks", "emc_locked") == 1,
        "gpu_expected_hz": expected.super.gpu_hz if expected else None,
        "gpu_plain_hz": expected.plain.gpu_hz if expected else None,
        "cpu_expected_khz": expected.super.cpu_khz if expected else None,
        "emc_expected_hz": expected.super.emc_hz if expected else None,
    }


def _layer(state: str, evidence: list[str], expected: list[str]) -> dict[str, Any]:
    return {"state": state, "evidence": evidence, "expected": expected}


def _device_tree(jetson: dict[str, Any], board: dict[str, Any]) -> dict[str, Any]:
    strings = compatible_strings(jetson)
    wanted = ["The first entry of compatible ends in -super."]
    if board["family"] != "p3767":
        return _layer("unknown", [], [])
    if not strings:
        return _layer("unknown", ["The device tree's compatible can't be read."], wanted)
    ends = strings[0].endswith("-super")
    said = "ends" if ends else "does not end"
    return _layer("super" if ends else "not_super", [f"The first entry of compatible {said} in -super."], wanted)


def _nvpmodel(mode: dict[str, Any], board: dict[str, Any]) -> dict[str, Any]:
    wanted = [f"The active file of nvpmodel has the mode {MAXN_SUPER}, and it is set."]
    if board["family"] != "p3767":
        return _layer("unknown", [], [])
    if not mode["modes"]:
        return _layer("unknown", ["nvpmodel's active file can't be read."], wanted)
    has = MAXN_SUPER in mode["modes"]
    names = ", ".join(dict.fromkeys(map(public_mode, mode["modes"])))
    evidence = [f"The active file is {mode['conf'] or 'of another name'}, with the modes {names}."]
    evidence.append(f"The mode is {public_mode(mode['name'])}." if mode["name"] else "Which mode is set can't be read.")
    if mode["applied"] is False:
        evidence += [
            f"{public_setting(one['what'])} is {one['real']}, and the mode asks for {one['conf']}."
            for one in mode["differences"]
        ]
    return _layer("super" if has else "not_super", evidence, wanted)


def _firmware(clocks: dict[str, Any], expected: Expected | None) -> dict[str, Any]:
    if expected is None:
        return _layer("unknown", [], [])
    wanted = [f"The GPU's table ends at {megahertz(expected.super.gpu_hz)}."]
    last = clocks["gpu_last_hz"]
    if last is None:
        return _layer("unknown", ["The GPU's table can't be read."], wanted)
    evidence, states = [f"The GPU's table ends at {megahertz(last)}."], [last >= expected.super.gpu_hz]
    for key, name, unit, end in (
        ("cpu_max_khz", "The cores reach", 1_000, expected.super.cpu_khz),
        ("emc_max_hz", "The memory reaches", 1, expected.super.emc_hz),
    ):
        if end is None:
            continue
        wanted.append(f"{name} {megahertz(end * unit)}.")
        if clocks[key] is not None:
            evidence.append(f"{name} {megahertz(clocks[key] * unit)}.")
            states.append(clocks[key] >= end)
    return _layer("super" if all(states) else "not_super", evidence, wanted)
