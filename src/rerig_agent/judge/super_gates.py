"""May this board be made Super on the board itself, and how far along is it? Gates with a sentence each; pure.

Whether it *is* Super is judged by :mod:`.super_mode` alone. Each gate has its reason in a public report or in the
firmware's source: see roles/super_mode/README.md.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Sequence

from ..parse import ParseError
from ..parse.efivar import parse_variable
from ..parse.nv_boot_control import parse_spec
from .board import FAMILY_NAMES
from .expected_clocks import megahertz
from .super_mode import judge_super
from .super_specs import PLAIN_BOARD, is_super_name, super_spec

Gate = Dict[str, Any]

SKUS = ("0003", "0005")
RELEASES = ("36.4", "36.5")
CAPSULE_NAME = "TEGRA_BL.Cap"
CAPSULE_BIT = 4  # of OsIndications: "file capsule delivery", UEFI specification
_ROOT_CAPABLE = re.compile(r"(?:APP(?:_b)?|esp(?:_alt)?)\Z", re.IGNORECASE)
_DISK = re.compile(r"(.*[0-9])p[0-9]+\Z|([a-z]+)[0-9]+\Z")


def judge_gates(evidence: dict[str, Any], road: dict[str, Any], releases: Sequence[str] = RELEASES) -> list[Gate]:
    """[{"name", "passed", "sentence"}], in the order in which they matter.

    ``evidence``: of :func:`rerig_agent.conditions.collect`, with the board's tools asked. ``road``: of
    :func:`rerig_agent.facts.super_road.collect_road`. ``releases``: beginnings of L4T versions that are allowed; what
    isn't in RELEASES stays refused whatever is given.
    """
    verdict = judge_super(evidence)
    if verdict["verdict"] == "not_a_jetson":
        return [_gate("board", False, verdict["cause"])]
    board, release = _board(verdict["board"]), _release(verdict["board"]["release"], releases)
    if not board["passed"]:
        return [board, release]  # the rest is about files that such a board doesn't have
    jetson, firmware, esp, capsule = evidence["jetson"], verdict["firmware"], road["esp"], road["capsule"]
    return [
        board,
        release,
        _clocks(verdict),
        _slot(firmware),
        _names(firmware, verdict["board"]["sku"]),
        _variables(firmware, jetson),
        _boot_medium(road["partitions"]),
        _esp(esp),
        _esp_space(esp, capsule, road["pending"]),
        _left_over(firmware),
        _other_capsule(jetson, esp, road["pending"]),
        _capsule(capsule),
        _gate(
            "config_tool",
            road["config_tool"],
            "nv-l4t-bootloader-config.sh is there."
            if road["config_tool"]
            else "nv-l4t-bootloader-config.sh, which tells the firmware the board's name, is not there.",
        ),
    ]


def may_ever(board: dict[str, Any], releases: Sequence[str] = RELEASES) -> bool:
    """Whether this road is open to such a board on such a release at all."""
    return bool(_board(board)["passed"] and _release(board["release"], releases)["passed"])


def _gate(name: str, passed: bool, sentence: str) -> Gate:
    return {"name": name, "passed": passed, "sentence": sentence}


def _board(board: dict[str, Any]) -> Gate:
    if board["family"] == "p3767" and board["sku"] in SKUS:
        return _gate("board", True, f"This is an {board['name']}.")
    ids = f" ({board['module']}-{board['sku']})" if board["module"] and board["sku"] else ""
    name = f"an {board['name']}" if board["name"] else "no board that rerig knows"
    also = ", of which rerig knows no Super mode" if board["family"] in FAMILY_NAMES else ""
    return _gate(
        "board", False, f"This is {name}{ids}{also}; this road is only for the Orin Nano 8GB (3767-0003, 3767-0005)."
    )


def _release(release: str | None, releases: Sequence[str]) -> Gate:
    def among(allowed: Sequence[str]) -> bool:
        return any(f"{release}.".startswith(f"{one.rstrip('.')}.") for one in allowed if one)

    if release is None:
        return _gate("release", False, "Which release of L4T this is can't be read.")
    if release.partition(".")[0] == "39":
        return _gate(
            "release",
            False,
            f"This is L4T {release}: from R39 on the board's name comes from its EEPROM at every boot and a changed one"
            " does not stick, so rerig never does this there.",
        )
    if not among(RELEASES):
        known = " and ".join(f"{one}.x" for one in RELEASES)
        return _gate("release", False, f"This is L4T {release}; this road was reported to work on {known} alone.")
    if not among(releases):
        return _gate("release", False, f"This is L4T {release}, which super_mode_releases does not allow.")
    return _gate("release", True, f"This is L4T {release}.")


def _clocks(verdict: dict[str, Any]) -> Gate:
    last, wanted = verdict["clocks"]["gpu_last_hz"], verdict["clocks"]["gpu_expected_hz"]
    if last is None:
        return _gate("clocks", False, "The GPU's table of clocks can't be read, and nothing else proves Super.")
    if verdict["layers"]["firmware"]["state"] != "super" and wanted is not None and last >= wanted:
        return _gate("clocks", False, f"{verdict['cause']} Another capsule would not mend that.")
    return _gate("clocks", True, f"The GPU's table ends at {megahertz(last)}.")


def _slot(firmware: dict[str, Any]) -> Gate:
    if firmware["slot"] is None:
        return _gate("slot", False, "Which bootloader slot runs can't be read, so success could not be told.")
    return _gate("slot", True, f"Bootloader slot {firmware['slot']} runs; a capsule is written to the other one.")


def _names(firmware: dict[str, Any], sku: str | None) -> Gate:
    odd = "; only jetson-orin-nano-devkit of the same module is understood, with or without -super."
    for name, key in (("TNSPEC", "tnspec"), ("COMPATIBLE_SPEC", "compatible_spec")):
        spec = firmware[key]
        if spec is None:
            return _gate("names", False, f"/etc/nv_boot_control.conf has no {name} that can be read.")
        if not _is_of(spec, sku):
            return _gate("names", False, f"{name} in /etc/nv_boot_control.conf is {spec}{odd}")
    return _gate("names", True, f"The board's name is {_name_in(firmware['tnspec'])}.")


def _is_of(spec: str, sku: str | None) -> bool:
    try:
        parsed = parse_spec(spec)
    except ParseError:
        return False
    known = parsed["board"] == PLAIN_BOARD or is_super_name(parsed["board"])
    return known and (parsed["fields"]["id"], parsed["fields"]["sku"]) == ("3767", sku)


def _name_in(spec: str) -> str:
    return str(parse_spec(spec)["board"])


def _variables(firmware: dict[str, Any], jetson: dict[str, Any]) -> Gate:
    """A missing variable is no hindrance: the vendor's tool writes it, and it is read back."""
    pairs = (
        ("TegraPlatformSpec", firmware["tnspec"], firmware["variable_spec"]),
        ("TegraPlatformCompatSpec", firmware["compatible_spec"], firmware["variable_compatible_spec"]),
    )
    for name, in_file, in_variable in pairs:
        if jetson["variables"].get(name, {}).get("error") == "missing":
            continue
        if in_variable is None:
            return _gate("variables", False, f"UEFI's variable {name} can't be read.")
        if in_file is not None and super_spec(in_variable) != super_spec(in_file):
            return _gate(
                "variables",
                False,
                f"UEFI's variable {name} is {in_variable}, which is another board than {in_file} in"
                " /etc/nv_boot_control.conf.",
            )
    if jetson["variables"].get("OsIndications", {}).get("error") in ("denied", "unreadable"):
        return _gate("variables", False, "UEFI's variable OsIndications can't be read.")
    return _gate("variables", True, "UEFI's copies of the name are of the same board.")


def _boot_medium(partitions: list[dict[str, str]]) -> Gate:
    disks: list[str] = []
    for one in partitions:
        match = _DISK.match(one["device"]) if _ROOT_CAPABLE.match(one["name"]) else None
        if match:
            disks.append(match.group(1) or match.group(2))
    named = sorted(set(disks))
    if len(named) == 1:
        return _gate("boot_medium", True, f"{named[0]} is the only drive with partitions to boot from.")
    if not named:
        return _gate(
            "boot_medium", False, "No drive has a partition named APP or esp, so what this boots from can't be told."
        )
    return _gate(
        "boot_medium",
        False,
        f"{' and '.join(named)} can all be booted from; take out all but one, since two releases on two drives have"
        " crashed the firmware.",
    )


def _esp(esp: dict[str, Any]) -> Gate:
    if not esp["mounted"]:
        return _gate("esp", False, f"The EFI system partition is not mounted at {esp['path']}.")
    if not esp["writable"]:
        return _gate("esp", False, f"The EFI system partition at {esp['path']} is mounted read-only.")
    return _gate("esp", True, f"The EFI system partition is mounted at {esp['path']}.")


def _esp_space(esp: dict[str, Any], capsule: dict[str, Any], pending: dict[str, Any] | None) -> Gate:
    if esp["free_bytes"] is None or "bytes" not in capsule:
        return _gate("esp_space", False, "Whether the capsule has room on the EFI system partition can't be told.")
    have = esp["free_bytes"]
    if pending is not None and CAPSULE_NAME in esp["waiting"]:
        have += capsule["bytes"]  # where an earlier try lies already
    need = 2 * capsule["bytes"]
    if have < need:
        return _gate(
            "esp_space",
            False,
            f"The EFI system partition has {have / 1e6:.1f} MB free, and twice the capsule takes {need / 1e6:.1f} MB.",
        )
    return _gate("esp_space", True, f"The EFI system partition has {have / 1e6:.1f} MB free.")


def _left_over(firmware: dict[str, Any]) -> Gate:
    if firmware["left_over_status"] is None:
        return _gate("left_over_status", False, "Whether a BootChainFwStatus is left over can't be read.")
    if firmware["left_over_status"]:
        return _gate(
            "left_over_status",
            False,
            "A BootChainFwStatus is left over in UEFI's variables from an earlier update: the firmware would cancel"
            " this one.",
        )
    return _gate("left_over_status", True, "No BootChainFwStatus is left over.")


def _other_capsule(jetson: dict[str, Any], esp: dict[str, Any], pending: dict[str, Any] | None) -> Gate:
    """A half-done try of our own is no hindrance: the same run goes on with it."""
    foreign = [name for name in esp["waiting"] if pending is None or name != CAPSULE_NAME]
    if foreign:
        return _gate(
            "no_other_capsule",
            False,
            f"{foreign[0]} waits in {esp['path']}/EFI/UpdateCapsule already; let the next boot apply it, or remove it.",
        )
    if pending is None and capsule_asked(jetson):
        return _gate(
            "no_other_capsule", False, "OsIndications already asks the firmware for a capsule: another update waits."
        )
    return _gate("no_other_capsule", True, "No other update waits for the next boot.")


def capsule_asked(jetson: dict[str, Any]) -> bool:
    """Whether OsIndications asks the firmware to apply capsules from the EFI system partition."""
    try:
        number = parse_variable(jetson["variables"].get("OsIndications", {}).get("hex", ""))["number"]
    except ParseError:
        return False
    return bool((number or 0) & CAPSULE_BIT)


def _capsule(capsule: dict[str, Any]) -> Gate:
    if "bytes" not in capsule:
        return _gate(
            "capsule",
            False,
            f"The capsule {capsule['path']} is not there; the package nvidia-l4t-bootloader brings it from 36.4.3 on.",
        )
    if not capsule["whole"]:
        return _gate("capsule", False, f"{capsule['path']} is no capsule, or was cut short.")
    return _gate("capsule", True, f"The capsule {capsule['path']} has {capsule['bytes'] / 1e6:.1f} MB.")
