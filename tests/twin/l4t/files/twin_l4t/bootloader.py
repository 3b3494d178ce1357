"""The tools around the bootloader's package: staging a capsule, writing the board's name where firmware reads it."""

from __future__ import annotations

import re
import shutil

from . import board, efivars, firmware, nvbootctrl, place

CONTROL = "/etc/nv_boot_control.conf"
PAYLOADS = "/opt/ota_package/t23x"
SUPER = re.compile(r"-super-(maxn-)?$")
PLAIN = re.compile(r"jetson-orin-nano-devkit-$")


def control(name: str) -> str | None:
    """The value of a line of nv_boot_control.conf."""
    match = re.search(rf"^{name}[ \t]+(\S+)", place.read(CONTROL) or "", re.MULTILINE)
    return match.group(1) if match else None


def stage(file: str) -> None:
    """Copy a capsule onto the ESP and ask the firmware for it; raises OSError for a full ESP."""
    folder = place.path(firmware.CAPSULES)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(str(place.path(file)), str(folder / file.rsplit("/", 1)[-1]))
    efivars.put(efivars.OS_INDICATIONS, efivars.CAPSULE_ON_DISK.to_bytes(8, "little"))


def capsule_updater(words: list[str]) -> int:
    """nv_bootloader_capsule_updater.sh -q FILE."""
    if len(words) != 2 or words[0] != "-q":
        place.die("Usage: nv_bootloader_capsule_updater.sh -q <capsule payload>")
    if not place.is_root():
        place.die("nv_bootloader_capsule_updater.sh can only run as root")
    if not place.path(words[1]).is_file():
        place.die(f"ERROR. {words[1]} is not found.")
    try:
        stage(words[1])
    except OSError as error:
        place.die(f"cp: error writing: {error.strerror}")
    return 0


def bootloader_config(words: list[str]) -> int:
    """nv-l4t-bootloader-config.sh: -l writes the names in /etc to UEFI's variables, -v runs at each boot."""
    if words not in (["-l"], ["-v"]):
        place.die("Usage: nv-l4t-bootloader-config.sh -l | -v")
    if not place.is_root():
        place.die("nv-l4t-bootloader-config.sh can only run as root")
    settings = board.load()
    if words == ["-l"] or settings["release"] >= 39:
        if settings["release"] >= 39:
            rename(settings["eeprom_board"])
        for name, variable in {"TNSPEC": efivars.PLATFORM_SPEC, "COMPATIBLE_SPEC": efivars.COMPATIBLE_SPEC}.items():
            found = control(name)
            if found:
                efivars.put(variable, found.encode())
    return nvbootctrl.main(["verify"]) if words == ["-v"] else 0


def rename(name: str | None) -> None:
    """From R39 on the board's name comes from its EEPROM at each boot, whatever stands in /etc."""
    if name:
        line = r"(?m)^((?:TNSPEC|COMPATIBLE_SPEC)[ \t]+\S*?-)jetson-\S*$"
        place.write(CONTROL, re.sub(line, rf"\g<1>{name}-", place.read(CONTROL) or ""))


def postinst(words: list[str]) -> int:
    """The package's script: chooses the payload by the name in /etc and stages it; it says so even if it didn't."""
    if words[:1] != ["configure"]:
        return 0
    print("Starting bootloader post-install procedure.")
    spec = control("COMPATIBLE_SPEC") or ""
    if not (PLAIN.search(spec) or SUPER.search(spec)):
        print(f"ERROR. {spec} does not match any known boards.")
        return 1
    payload = f"{PAYLOADS}/TEGRA_BL_3767{'_super' if SUPER.search(spec) else ''}.Cap"
    file, esp = place.path(payload), place.path("/boot/efi")
    # fwupd wants twice the file's size.
    if file.is_file() and esp.is_dir() and shutil.disk_usage(str(esp)).free >= 2 * file.stat().st_size:
        stage(payload)
    print("Trigger Capsule update is done.\nReboot the target system for updates to take effect.")
    return 0
