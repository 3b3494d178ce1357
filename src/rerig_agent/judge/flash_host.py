"""May this host flash the board that is plugged into it, and by which command? Gates with a sentence each; pure.

Source: the quick start of L4T (supported hosts, what the flashing scripts need), and reports of what fails.
"""

from __future__ import annotations

from typing import Any, Dict

from ..parse.usb_ids import RECOVERY_BOARDS, VENDOR
from .board import NAMES
from .reflash import (
    CONFIG,
    CONFIGS,
    FLASH,
    INITRD_R36,
    INITRD_R38,
    NVME_LAYOUT,
    QSPI_LAYOUT,
    as_typed,
    nvme_command,
    qspi_command,
)

Gate = Dict[str, Any]

USBFS_MEMORY_MB = 2048
NO_AUTOSUSPEND = -1
SERVICES = ("ModemManager.service", "udisks2.service")
RECOVERY = "put the jumper between FC REC and GND (J14, pins 9 and 10) and power the board on"


def plan_flash(facts: dict[str, Any], target: str) -> dict[str, Any]:
    """{"gates", "doubts": [sentences], "board", "config", "argv", "command", "phrase"}.

    ``facts``: of the module flash_host_state. ``target``: "qspi" (the bootloader alone) or "nvme" (and a whole drive).
    board and phrase are None as long as it isn't clear which board it is; the command is then that of the family.
    """
    board = _board_name(facts)
    config = _config_of(board) or CONFIG
    argv = nvme_command(config, _release(facts)) if target == "nvme" else qspi_command(config)
    gates = [_host(facts), _board(facts), _bsp(facts, target, config)]
    if target == "nvme":
        gates += [_network(facts)]
    what = "QSPI" if target == "qspi" else "QSPI and erase its NVMe drive"
    return {
        "gates": gates,
        "doubts": _doubts(facts, target),
        "board": board,
        "config": config,
        "argv": argv,
        "command": as_typed(argv),
        "phrase": f"flash {board} {what}" if board and _config_of(board) else None,
    }


def _gate(name: str, passed: bool, sentence: str) -> Gate:
    return {"name": name, "passed": passed, "sentence": sentence}


def _in_recovery(facts: dict[str, Any]) -> list[str]:
    """The product ids of the boards in recovery mode, one for each board."""
    ids = [one["id"].partition(":") for one in facts["usb"]]
    return [
        product
        for vendor, _, product in ids
        if vendor == VENDOR and len(product) == 4 and product[0] == "7" and product.endswith("23")
    ]


def _board_name(facts: dict[str, Any]) -> str | None:
    found = _in_recovery(facts)
    return RECOVERY_BOARDS.get(found[0]) if len(found) == 1 else None


def _config_of(board: str | None) -> str | None:
    return next((CONFIGS[ids] for ids, name in NAMES.items() if name == board and ids in CONFIGS), None)


def _release(facts: dict[str, Any]) -> int:
    """L4T's first number: as the root file system says, else by where the script lies."""
    files, version = facts["bsp"]["files"], facts["bsp"]["release"]
    if version:
        return int(version.partition(".")[0])
    return 38 if files.get(INITRD_R38) and not files.get(INITRD_R36) else 36


def _host(facts: dict[str, Any]) -> Gate:
    if facts["machine"] != "x86_64":
        return _gate("host", False, f"L4T's flashing tools run on x86_64 alone, and this is {facts['machine']}.")
    if "microsoft" in facts["kernel_release"].lower():
        return _gate(
            "host", False, "This is WSL, where the board's changes of USB identity get lost: use a real Linux."
        )
    if facts["in_container"]:
        return _gate("host", False, "This is a container, from which flashing fails: use the machine itself.")
    return _gate("host", True, "This is an x86_64 Linux of its own.")


def _board(facts: dict[str, Any]) -> Gate:
    found = _in_recovery(facts)
    if not found:
        others = [one["id"] for one in facts["usb"] if one["id"].startswith(f"{VENDOR}:")]
        booted = " A Jetson is there, but not in recovery mode." if others else ""
        return _gate("board", False, f"No board in recovery mode is on this host's USB: {RECOVERY}.{booted}")
    if len(found) > 1:
        return _gate("board", False, f"{len(found)} boards in recovery mode are on this host's USB; leave one alone.")
    name = RECOVERY_BOARDS.get(found[0])
    if name is None:
        return _gate("board", False, f"The board in recovery mode has the unknown id {VENDOR}:{found[0]}.")
    if _config_of(name) is None:
        return _gate("board", False, f"The board in recovery mode is an {name}, of which rerig knows no Super mode.")
    return _gate("board", True, f"One board is in recovery mode, an {name}.")


def _bsp(facts: dict[str, Any], target: str, config: str) -> Gate:
    bsp = facts["bsp"]
    if not bsp["path"]:
        return _gate("bsp", False, "flash_host_bsp is not set: it is the unpacked folder Linux_for_Tegra.")
    script = INITRD_R38 if _release(facts) >= 38 else INITRD_R36
    layouts = [QSPI_LAYOUT] if target == "qspi" or _release(facts) >= 38 else [QSPI_LAYOUT, NVME_LAYOUT]
    for name in [FLASH if target == "qspi" else script, *layouts]:
        if not bsp["files"].get(name):
            return _gate("bsp", False, f"{bsp['path']} is no whole Linux_for_Tegra: {name} is missing.")
    if not bsp["files"].get(f"{config}.conf"):
        return _gate(
            "bsp", False, f"{bsp['path']} has no {config}.conf: it is of a release before 36.4.3, without Super."
        )
    if target == "nvme" and not bsp["release"]:
        return _gate(
            "bsp",
            False,
            f"{bsp['path']}/rootfs holds no L4T: unpack the sample root file system there, then run"
            " sudo ./tools/l4t_flash_prerequisites.sh and sudo ./apply_binaries.sh.",
        )
    return _gate("bsp", True, f"{bsp['path']} is a Linux_for_Tegra of L4T {bsp['release'] or 'an unread release'}.")


def _network(facts: dict[str, Any]) -> Gate:
    """The flashing Linux fetches what it writes over NFS and IPv6, through USB."""
    missing = [
        name for name, there in (("nfs-kernel-server", facts["nfs"]), ("rpcbind", facts["rpcbind"])) if not there
    ]
    if missing:
        return _gate(
            "network", False, f"The host lacks {' and '.join(missing)}, over which the board fetches its system."
        )
    if facts["ipv6_disabled"]:
        return _gate("network", False, "IPv6 is disabled on this host, and the board is spoken to by it.")
    return _gate("network", True, "NFS and IPv6 are there.")


def _doubts(facts: dict[str, Any], target: str) -> list[str]:
    found = []
    system, release = facts["distribution"], _release(facts)
    allowed = ("24.04", "22.04") if release >= 38 else ("22.04", "20.04")
    if (system["id"], system["version"]) not in [("ubuntu", version) for version in allowed]:
        named = " ".join(word for word in (system["id"], system["version"]) if word) or "an unnamed system"
        found.append(f"NVIDIA supports flashing from Ubuntu {' and '.join(sorted(allowed))}, and this is {named}.")
    if target == "nvme" and facts["ufw"]:
        found.append("The firewall ufw is on: it must let the interface usb0 through.")
    return found
