"""Which board it is: by the ids that the bootloader put into the device tree, else by the device tree's own name."""

from __future__ import annotations

import re
from typing import Any

from ..parse import ParseError
from ..parse.device_tree import parse_ids, parse_strings
from ..parse.nv_tegra_release import parse_release

# Module and SKU, as NVIDIA's flashing configurations name them (p3767-0000 and so on).
NAMES = {
    ("3767", "0000"): "Orin NX 16GB",
    ("3767", "0001"): "Orin NX 8GB",
    ("3767", "0003"): "Orin Nano 8GB",
    ("3767", "0004"): "Orin Nano 4GB",
    ("3767", "0005"): "Orin Nano 8GB",
}
FAMILIES = {"3767": "p3767", "3701": "agx_orin", "3834": "thor"}
FAMILY_NAMES = {"agx_orin": "AGX Orin", "thor": "AGX Thor"}
_COMPATIBLE = re.compile(r"nvidia,(?:p[0-9]{4}-[0-9]{4}\+)?p([0-9]{4})-([0-9]{4})(?:-super)?\Z")


def identify(jetson: dict[str, Any]) -> dict[str, Any]:
    """{"name", "module", "sku", "family": "p3767", "agx_orin", "thor" or "unknown", "release"}; None: not known.

    ``jetson`` is the evidence of :func:`rerig_agent.facts.jetson.collect_jetson`.
    """
    module, sku = _module(jetson)
    family = FAMILIES.get(module or "", "unknown")
    name = NAMES.get((module or "", sku or ""), FAMILY_NAMES.get(family))
    return {"name": name, "module": module, "sku": sku, "family": family, "release": release_of(jetson)}


def compatible_strings(jetson: dict[str, Any]) -> list[str]:
    """The device tree's compatible entries; empty where they can't be read."""
    try:
        return parse_strings(text_of(jetson, "device_tree", "compatible") or "")
    except ParseError:
        return []


def release_of(jetson: dict[str, Any]) -> str | None:
    """L4T's version, as /etc/nv_tegra_release has it."""
    try:
        version: str = parse_release(text_of(jetson, "files", "nv_tegra_release") or "")["version"]
    except ParseError:
        return None
    return version


def text_of(evidence: Any, *keys: str) -> str | None:
    """The text of a reading that lies under these keys; None for anything else."""
    for key in keys:
        evidence = evidence.get(key) if isinstance(evidence, dict) else None
    text = evidence.get("text") if isinstance(evidence, dict) else None
    return text if isinstance(text, str) else None


def error_of(evidence: Any, *keys: str) -> str | None:
    """Why a reading has no text: "missing", "denied", "unreadable", "not_run"; None where it has one."""
    for key in keys:
        evidence = evidence.get(key) if isinstance(evidence, dict) else None
    error = evidence.get("error") if isinstance(evidence, dict) else "missing"
    return error if isinstance(error, str) else None


def _module(jetson: dict[str, Any]) -> tuple[str | None, str | None]:
    found = (_COMPATIBLE.match(entry) for entry in compatible_strings(jetson)[:2])
    match = next((match for match in found if match is not None), None)
    named = (match.group(1), match.group(2)) if match else (None, None)
    try:
        module, sku, _fab = parse_ids(text_of(jetson, "device_tree", "ids") or "")["module"]
    except ParseError:
        return named
    # A tree made for another SKU of the module is common, one for another module a contradiction.
    return (module, sku) if named[0] in (None, module) else (None, None)
