"""A personality as files: what the twin gets beside the values below /sys, which it works out itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from twin.l4t import power_models, units
from twin.l4t.files.twin_l4t import capsule
from twin.l4t.files.twin_l4t.tree import File, Link
from twin.l4t.values import Personality, as_json

GUEST = Path(__file__).parent / "files" / "twin_l4t"
LIBRARY = "/usr/local/lib/twin-l4t"
STATE = "/var/lib/twin-l4t"
STAGE = f"{STATE}/stage"
PROGRAM = "/usr/local/sbin/twin-l4t"
TOOLS = {
    "/usr/sbin/nvpmodel": "nvpmodel:main",
    "/usr/sbin/nvbootctrl": "nvbootctrl:main",
    "/usr/sbin/nvfancontrol": "nvfancontrol:main",
    "/usr/sbin/nv_bootloader_capsule_updater.sh": "bootloader:capsule_updater",
    "/usr/bin/tegrastats": "tegrastats:main",
    "/usr/bin/jetson_clocks": "jetson_clocks:main",
    "/etc/systemd/nvpower.sh": "nvpower:main",
    "/etc/systemd/nvzramconfig.sh": "zram:main",
    "/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh": "bootloader:bootloader_config",
    "/var/lib/dpkg/info/nvidia-l4t-bootloader.postinst": "bootloader:postinst",
}
FUNCTIONS = {**TOOLS, PROGRAM: "program:main"}
# -I and -S: whatever Python's settings and site packages are, and faster.
LAUNCHER = """#!/usr/bin/python3 -IS
import os
import sys

sys.path.insert(0, (os.environ.get("TWIN_L4T_ROOT") or "") + "{library}")
from twin_l4t.{module} import {function}

sys.exit({function}(sys.argv[1:]))
"""
# Ubuntu's: a board's user finds nvpmodel without being told where it is, which Debian's doesn't.
ENVIRONMENT = 'PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\n'
FAN_CONF = "/etc/nvpower/nvfancontrol/nvfancontrol_p3767_0000.conf"
Files = dict[str, File | Link]


def library() -> Files:
    """The program that makes the board inside the twin: the same for every personality."""
    files: Files = {f"{LIBRARY}/twin_l4t/{one.name}": File(one.read_bytes()) for one in sorted(GUEST.glob("*.py"))}
    return {**files, PROGRAM: _launcher(FUNCTIONS[PROGRAM])}


def personality_files(personality: Personality) -> Files:
    """Everything of the board that lies in plain files, at its real path."""
    files: Files = {
        "/etc/nv_tegra_release": _text(_release(personality)),
        "/etc/environment": _text(ENVIRONMENT),
        "/boot/extlinux/extlinux.conf": _text(_extlinux(personality)),
        FAN_CONF: _text(f"FAN_DEFAULT_PROFILE {personality.fan_profile}\n"),
        "/etc/nvfancontrol.conf": Link(FAN_CONF),
        "/etc/nvpmodel.conf": Link(f"/etc/nvpmodel/{personality.conf}"),
        "/var/lib/nvpmodel/conf_file_path": _text(f"/etc/nvpmodel/{personality.conf}\n"),
        **{path: _launcher(function) for path, function in TOOLS.items()},
        **{path: Link(unit) if path != unit else _text(text) for path, unit, text in units.entries(personality)},
    }
    files |= {f"/etc/nvpmodel/{name}": _text(power_models.conf_text(conf)) for name, conf in personality.confs.items()}
    if personality.mode is not None:
        fan = f" fmode:{personality.fan_mode}" if personality.fan_mode else ""
        files["/var/lib/nvpmodel/status"] = _text(f"pmode:{personality.mode:04d}{fan}\n")
    if personality.tnspec:
        files["/etc/nv_boot_control.conf"] = _text(_boot_control(personality))
    for flavour in personality.variants:
        files[f"/boot/dtb/{_dtb(personality, flavour)}"] = _text("The twin's stand-in for a device tree.\n")
    for path, update in personality.capsules.items():
        files[path] = File(capsule.pack(update.version, update.flavour, list(update.specs), update.bytes))
    return files


def board_file(personality: Personality) -> Files:
    """What the program reads of the personality."""
    data = as_json(personality, power_models.BY_MACHINE)
    return {f"{STATE}/board.json": _text(json.dumps(data, indent=1, sort_keys=True) + "\n")}


def staged(files: Mapping[str, File | Link]) -> Files:
    return {STAGE + path: file for path, file in files.items()}


def write_below(files: Mapping[str, File | Link], root: Path) -> None:
    """As the twin's shell does on the twin, for tests on any machine."""
    for name, file in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(file, Link):
            path.symlink_to(file.target)
        else:
            path.write_bytes(file.data)
            path.chmod(file.mode)


def _text(text: str, mode: int = 0o644) -> File:
    return File(text.encode(), mode)


def _launcher(place: str) -> File:
    module, _, function = place.partition(":")
    return _text(LAUNCHER.format(library=LIBRARY, module=module, function=function), 0o755)


def _release(personality: Personality) -> str:
    lines = [personality.release.first_line]
    if personality.release.major >= 36:
        lines += ["# KERNEL_VARIANT: oot", "TARGET_USERSPACE_LIB_DIR=nvidia"]
        lines += ["TARGET_USERSPACE_LIB_DIR_PATH=usr/lib/aarch64-linux-gnu/nvidia"]
    return "\n".join([*lines, ""])


def _boot_control(personality: Personality) -> str:
    lines = {
        "TNSPEC": personality.tnspec,
        "COMPATIBLE_SPEC": personality.compatible_spec,
        "TEGRA_LEGACY_UPDATE": "true",
        "TEGRA_BOOT_STORAGE": personality.boot_storage,
        "TEGRA_EMMC_ONLY": "false",
        "TEGRA_CHIPID": "0x23",
        "TEGRA_OTA_BOOT_DEVICE": "/dev/mtdblock0",
        "TEGRA_OTA_GPT_DEVICE": "/dev/mtdblock0",
    }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def _dtb(personality: Personality, flavour: str) -> str:
    return personality.dtb.format("-super" if flavour == "super" else "")


def _extlinux(personality: Personality) -> str:
    device_tree = [f"      FDT /boot/dtb/{_dtb(personality, personality.fdt)}"] if personality.fdt else []
    return "\n".join(
        [
            "TIMEOUT 30",
            "DEFAULT primary",
            "",
            "MENU TITLE L4T boot options",
            "",
            "LABEL primary",
            "      MENU LABEL primary kernel",
            "      LINUX /boot/Image",
            "      INITRD /boot/initrd",
            *device_tree,
            "      APPEND ${cbootargs} root=PARTUUID=00000000-0000-4000-8000-000000000001 rw rootwait rootfstype=ext4"
            " mminit_loglevel=4 console=ttyTCU0,115200 firmware_class.path=/etc/firmware fbcon=map:0",
            "",
        ]
    )
