"""What the facts about a declared state mean: the links of NVMe drives, the fan's profile."""

from __future__ import annotations

import re
from typing import Any, Callable

from ..parse import ParseError
from ..parse.nvfancontrol import parse_default_profile, parse_profile
from .board import text_of

# PCIe's rates in GT/s, as the kernel prints them (drivers/pci/probe.c), by generation.
GENERATIONS = {"2.5": 1, "5.0": 2, "5": 2, "8.0": 3, "8": 3, "16.0": 4, "16": 4, "32.0": 5, "32": 5, "64.0": 6, "64": 6}
_SPEED = re.compile(r"([0-9]{1,2}(?:\.[0-9])?) GT/s")
_WIDTH = re.compile(r"x?([0-9]{1,2})\Z")


def judge_links(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    """[{"device", "state", "text", "width", "generation", "max_width", "max_generation"}] of every NVMe drive.

    state: ok; narrower_slot (the drive could do more than its slot, which is no fault); downgraded (slot and drive both
    could do more); unknown.
    """
    known = evidence.get("known_state") if isinstance(evidence, dict) else None
    links = known.get("nvme_links") if isinstance(known, dict) else None
    names = sorted(name for name in links if isinstance(name, str)) if isinstance(links, dict) else []
    return [_judge(name, links[name]) for name in names if isinstance(links, dict)]


def fan_profiles(evidence: dict[str, Any]) -> dict[str, str | None]:
    """{"profile": the one in force, "default": the configuration's}; None for what can't be read."""
    jetson = evidence.get("jetson") if isinstance(evidence, dict) else None
    default = _profile(parse_default_profile, text_of(jetson, "files", "fan_conf"))
    return {"profile": _profile(parse_profile, text_of(jetson, "files", "fan_status")) or default, "default": default}


def _profile(parse: Callable[[str], str], text: str | None) -> str | None:
    try:
        return parse(text or "")
    except ParseError:
        return None


def _judge(name: str, link: Any) -> dict[str, Any]:
    now, most = _pair(link, "current"), _pair(link, "max")
    slot = _pair(link.get("port") if isinstance(link, dict) else None, "max")
    found = {"device": name, "generation": now[0], "width": now[1], "max_generation": most[0], "max_width": most[1]}
    if None in now or None in most:
        return {**found, "state": "unknown", "text": f"The link of {name} can't be read."}
    said = f"{name} is linked at PCIe {now[0]} x{now[1]}"
    if now == most:
        return {**found, "state": "ok", "text": f"{said}, as much as the drive can do."}
    can = f"the drive can do PCIe {most[0]} x{most[1]}"
    slower = any(one is not None and other is not None and one < other for one, other in zip(slot, now))
    if None in slot or slower:  # a slot that can do less than what is in force contradicts itself
        return {**found, "state": "unknown", "text": f"{said} and {can}; what the slot can do is not known."}
    reachable = tuple(min(one, other) for one, other in zip(most, slot) if one is not None and other is not None)
    if now == reachable:
        return {**found, "state": "narrower_slot", "text": f"{said}, all that its slot can do ({can})."}
    both = f"drive and slot can do PCIe {reachable[0]} x{reachable[1]}"
    return {
        **found,
        "state": "downgraded",
        "text": f"{said}, but {both}: seat it anew, or look for errors of the link.",
    }


def _pair(link: Any, which: str) -> tuple[int | None, int | None]:
    speed = _SPEED.match(text_of(link, f"{which}_link_speed") or "")
    width = _WIDTH.match((text_of(link, f"{which}_link_width") or "").strip())
    lanes = int(width.group(1)) if width else 0
    return GENERATIONS.get(speed.group(1)) if speed else None, lanes or None
