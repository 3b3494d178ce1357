"""The firmware of the board at boot: changes the boot chain, applies a staged capsule, chooses the device tree.

As the real one it writes a capsule to the slot that is not running, never to the running one.
"""

from __future__ import annotations

from typing import Any

from . import board, capsule, efivars, place

CAPSULES = "/boot/efi/EFI/UpdateCapsule"
EXTLINUX = "/boot/extlinux/extlinux.conf"
# BootChainFwStatus
SUCCESS, NO_OPERATION, CANCELED, BAD_CHAIN, CHAIN_FAILED = 0, 2, 3, 9, 10
# last_attempt_status
OK, BAD_PACKAGE, NOT_IN_PACKAGE, UPDATE_CANCELED = 0, 6145, 6151, 6163
VERSION_TOO_LOW = 3  # of the UEFI specification: "incorrect version"
# nvbootctrl's "Capsule update status"
NONE, UPDATED, BOOT_FAILED, INSTALL_FAILED = 0, 1, 2, 3


def boot() -> tuple[dict[str, Any], str]:
    """Everything between power on and the kernel; the flash as it is then, and the device tree's flavour."""
    settings, flash = board.load(), board.load_flash()
    if settings["has_uefi"]:
        change_chain(flash)
        apply_capsules(settings, flash)
        efivars.put_number(efivars.CHAIN_CURRENT, flash["current"], efivars.BOOT | efivars.RUNTIME)
    flash["esrt"]["fw_version"] = board.number_of_version(flash["slots"][flash["current"]]["version"])
    board.save_flash(flash)
    return flash, device_tree_flavour(settings, flash)


def change_chain(flash: dict[str, Any]) -> None:
    """What BootChainFwNext asks for; a status that is still there means that this is an old wish."""
    wish = efivars.number(efivars.CHAIN_NEXT)
    if wish is None:
        return
    efivars.drop(efivars.CHAIN_NEXT)
    if efivars.value(efivars.CHAIN_STATUS) is not None:
        return
    status = SUCCESS
    if wish >= len(flash["slots"]):
        status = BAD_CHAIN
    elif wish == flash["current"]:
        status = NO_OPERATION
    elif flash["next_boot_fails"]:
        status = CHAIN_FAILED
        flash["next_boot_fails"] = False
    else:
        flash["current"] = wish
    efivars.put_number(efivars.CHAIN_STATUS, status)


def apply_capsules(settings: dict[str, Any], flash: dict[str, Any]) -> None:
    """Each capsule that lies on the ESP, if OsIndications asks for it; the files and the bit are gone afterwards."""
    asked = efivars.number(efivars.OS_INDICATIONS) or 0
    if not asked & efivars.CAPSULE_ON_DISK:
        return
    efivars.put(efivars.OS_INDICATIONS, (asked & ~efivars.CAPSULE_ON_DISK).to_bytes(8, "little"))
    folder = place.path(CAPSULES)
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        if file.is_file():
            apply_capsule(flash, file.read_bytes())
            file.unlink()


def apply_capsule(flash: dict[str, Any], data: bytes) -> None:
    esrt = flash["esrt"]
    try:
        found = capsule.unpack(data)
        version = board.number_of_version(found["version"])
    except (ValueError, KeyError):
        esrt["last_attempt_status"], flash["capsule_status"] = BAD_PACKAGE, INSTALL_FAILED
        return
    esrt["last_attempt_version"] = version
    esrt["last_attempt_status"] = refusal(flash, found, version)
    if esrt["last_attempt_status"] != OK:
        flash["capsule_status"] = INSTALL_FAILED
        return
    written = 1 - flash["current"]
    flash["slots"][written].update(version=found["version"], flavour=found["flavour"], status="normal")
    if flash["next_boot_fails"]:
        flash["next_boot_fails"], flash["capsule_status"] = False, BOOT_FAILED
        flash["slots"][written]["status"] = "unbootable"
        return
    flash["current"], flash["capsule_status"] = written, UPDATED


def refusal(flash: dict[str, Any], found: dict[str, Any], version: int) -> int:
    """The last_attempt_status that the firmware gives without writing anything, 0 where it has no objection."""
    if efivars.value(efivars.CHAIN_STATUS) is not None:
        efivars.put_number(efivars.CHAIN_STATUS, CANCELED)
        return UPDATE_CANCELED
    if version < flash["esrt"]["lowest_supported_fw_version"]:
        return VERSION_TOO_LOW
    platform, compatible = spec(efivars.PLATFORM_SPEC), spec(efivars.COMPATIBLE_SPEC)
    if not any(capsule.fits(image, platform, compatible) for image in found["specs"]):
        return NOT_IN_PACKAGE
    return OK


def spec(name: str) -> str | None:
    data = efivars.value(name)
    return None if data is None else data.rstrip(b"\0").decode("ascii", "replace")


def device_tree_flavour(settings: dict[str, Any], flash: dict[str, Any]) -> str:
    """extlinux's FDT line decides; without one the kernel gets the device tree of the booted slot."""
    for line in (place.read(EXTLINUX) or "").splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "FDT":
            name = words[1].rsplit("/", 1)[-1]
            for end, flavour in settings["device_tree_files"].items():
                if name.endswith(end) and flavour in settings["flavours"]:
                    return str(flavour)
    return str(flash["slots"][flash["current"]]["flavour"])
