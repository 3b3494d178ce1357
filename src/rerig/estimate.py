"""How long a case may take: rates assumed by kind of storage, for the estimate that is shown before a run starts.

The rates are round figures of ordinary hardware, not measurements of this machine; nothing but the estimate and the
time limit hangs on them.
"""

from __future__ import annotations

from typing import Any

SOLID_STATE_B_PER_S = 500e6  # a SATA SSD's order
ROTATIONAL_B_PER_S = 150e6
CARD_B_PER_S = 40e6
WIRE_SHARE = 0.94  # payload share of Ethernet with TCP/IP at an MTU of 1500
GIGABIT_B_PER_S = 1e9 / 8 * WIRE_SHARE
RANDOM_SHARE = 0.25  # of the sequential rate: an SSD at the low queue depths of the suites
SMALLEST_REPEAT_S = 0.1


def rate_bytes_per_s(classified: dict[str, Any]) -> float:
    """The assumed sequential rate of a classified target, in bytes a second."""
    if classified["medium"] == "network":
        link = classified.get("link") or {}
        speed_mbit = link.get("speed_mbit")
        return float(speed_mbit) * 1e6 / 8 * WIRE_SHARE if speed_mbit else GIGABIT_B_PER_S
    devices = classified.get("devices") or []
    if any(device.get("transport") == "mmc" for device in devices):
        return CARD_B_PER_S
    # A virtual disk often calls itself rotational without being so.
    if classified["storage_class"] == "local_disk" and any(device.get("rotational") for device in devices):
        return ROTATIONAL_B_PER_S
    return SOLID_STATE_B_PER_S


def read_seconds(size_bytes: int, classified: dict[str, Any]) -> float:
    """Seconds for one sequential pass over ``size_bytes``."""
    return round(max(SMALLEST_REPEAT_S, size_bytes / rate_bytes_per_s(classified)), 1)


def fio_pass(suite_case: dict[str, Any], span_bytes: int, classified: dict[str, Any]) -> tuple[float, int]:
    """(seconds, bytes) of one fio repeat: one pass, cut by the case's time limit."""
    limit_s = float(suite_case["runtime_limit_s"])
    share = RANDOM_SHARE if suite_case["pattern"] == "random" else 1
    pass_s = read_seconds(int(span_bytes / share), classified)
    if pass_s <= limit_s:
        return pass_s, span_bytes
    return limit_s, min(span_bytes, int(limit_s * rate_bytes_per_s(classified)))


def limit_seconds(estimate_s: float) -> float:
    """The time limit of a repeat: generous, since a slow disk is a finding and only a hung one is a fault."""
    return round(60 + 20 * estimate_s, 1)


def plan_seconds(plan: dict[str, Any]) -> float:
    """Seconds of all repeats that will run, without the scratch file."""
    return sum(float(case["estimate_s"]) * len(case["repeats"]) for case in plan["cases"] if case["skip"] is None)


def plan_bytes(plan: dict[str, Any]) -> int:
    """Bytes read at most by all repeats that will run."""
    return sum(case["estimate_bytes"] * len(case["repeats"]) for case in plan["cases"] if case["skip"] is None)
