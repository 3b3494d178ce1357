"""A board as a plain shell sees it: cat, readlink, dpkg, systemctl and the board's tools; and what it must see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twin.l4t import layer, shapes
from twin.l4t.values import Personality, PowerModel
from twin.shell import Shell

END = "=== end of "
CPU = "/sys/devices/system/cpu/cpu0/cpufreq"
CLOCKS = "/sys/kernel/debug/bpmp/debug/clk"
ENTRY = "/sys/firmware/efi/esrt/entries/entry0"
VARIABLE = "/sys/firmware/efi/efivars/TegraPlatformCompatSpec-781e084c-a330-417c-b678-38e696380cb9"
MONITOR = "/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon*"


def commands(board: Personality, device_tree: str) -> dict[str, str]:
    """What is typed, by what it shows."""
    gpu = f"/sys/class/devfreq/{board.gpu.name}"
    return {
        "model": f"tr '\\0' ' ' < {device_tree}/model",
        "compatible": f"tr '\\0' ' ' < {device_tree}/compatible",
        "release": "head -n 1 /etc/nv_tegra_release",
        "core": "dpkg-query -W -f '${Version}' nvidia-l4t-core",
        "conf": "readlink /etc/nvpmodel.conf",
        "table": f"cat {gpu}/available_frequencies",
        "table by its device": f"cat {board.gpu.device}/devfreq/{board.gpu.name}/available_frequencies",
        "gpu_max": f"cat {gpu}/max_freq",
        "gpc": f"cat {CLOCKS}/nafll_gpc0/max_rate",
        "emc": f"cat {CLOCKS}/emc/max_rate",
        "cap": f"cat {board.emc_cap}",
        "cpu": f"cat {CPU}/cpuinfo_max_freq",
        "cpu_max": f"cat {CPU}/scaling_max_freq",
        "cores": "ls -d /sys/devices/system/cpu/cpu[0-9]*/cpufreq | wc -l",
        "rails": f"cat {MONITOR}/in*_label",
        "firmware": f"cat {ENTRY}/fw_version",
        "attempt": f"cat {ENTRY}/last_attempt_status",
        "bios": "cat /sys/class/dmi/id/bios_version",
        "spec": f"tail -c +5 {VARIABLE} || true",
        "control": "grep COMPATIBLE_SPEC /etc/nv_boot_control.conf || true",
        "target": "systemctl get-default",
        "desktop": "systemctl is-active display-manager || true",
        "esp": "findmnt --noheadings --output TARGET --target /boot/efi",
        "mode": "nvpmodel -q",
        "slots": "nvbootctrl dump-slots-info",
        "clocks": "jetson_clocks --show",
        "fan": "nvfancontrol -q",
        "state": "systemctl is-system-running --wait || true",
    }


def look(shell: Shell, board: Personality) -> dict[str, str]:
    """What each command prints, by the names of :func:`commands`."""
    spare = layer.report(shell)["/proc/device-tree"] == "spare"
    asked = commands(board, f"{layer.SPARE if spare else ''}/proc/device-tree")
    printed = shell.script("".join(f"{line}\necho; echo '{END}{name}'\n" for name, line in asked.items()), limit_s=600)
    seen = {}
    for name in asked:
        text, _, printed = printed.partition(f"\n{END}{name}\n")
        seen[name] = text
    return seen


def differences(seen: Mapping[str, str], board: Personality) -> dict[str, Any]:
    """{name: (seen, expected)} of all that isn't as on the board; the tools' words go through the strict readers."""
    slots, mode = shapes.read_slots(seen["slots"]), shapes.read_mode(seen["mode"])
    clocks = shapes.read_clocks(seen["clocks"])
    found = {
        **{
            name: " ".join(text.split())
            for name, text in seen.items()
            if name not in ("slots", "mode", "clocks", "fan")
        },
        "slots": (slots.version, slots.current, slots.active, slots.status),
        "mode": (mode.name, mode.id),
        "clocks": (clocks.machine, clocks.gpu.highest, clocks.cores[0].highest, len(clocks.cores), clocks.mode),
        "fan": shapes.read_fan(seen["fan"]),
    }
    wanted = expected(board)
    return {name: (found[name], wanted[name]) for name in found if found[name] != wanted[name]}


def expected(board: Personality) -> dict[str, Any]:
    """The same as it is on the board after its boot."""
    model, clocks, version = stored_model(board), board.clocks, board.running.version
    gpu_max, cpu_max = allowed(model.gpu_max_hz, clocks.gpu_table_hz), allowed(model.cpu_max_khz, clocks.cpu_table_khz)
    emc = min(model.emc_max_hz, clocks.emc_max_hz) if model.emc_max_hz > 0 else clocks.emc_max_hz
    table = " ".join(map(str, clocks.gpu_table_hz))
    major, minor, patch = map(int, version.split("."))
    named = "AB"[board.current_slot]
    spec = board.compatible_spec if board.variable_compatible_spec is None else board.variable_compatible_spec
    return {
        "model": board.device_tree.model,
        "compatible": " ".join(board.device_tree.compatible),
        "release": " ".join(board.release.first_line.split()),
        "core": board.packages["nvidia-l4t-core"],
        "conf": f"/etc/nvpmodel/{board.conf}",
        "table": table,
        "table by its device": table,
        "gpu_max": str(gpu_max),
        "gpc": str(clocks.gpu_table_hz[-1]),
        "emc": str(clocks.emc_max_hz),
        "cap": str(emc),
        "cpu": str(clocks.cpu_table_khz[-1]),
        "cpu_max": str(cpu_max),
        "cores": str(board.cores),
        "rails": " ".join(rail.label for rail in board.rails),
        "firmware": str(major << 16 | minor << 8 | patch),
        "attempt": str(board.last_attempt_status),
        "bios": f"{version}-{board.bios_suffix}",
        "spec": spec or "",
        "control": f"COMPATIBLE_SPEC {board.compatible_spec}" if board.compatible_spec else "",
        "target": f"{'graphical' if board.desktop else 'multi-user'}.target",
        "desktop": "active" if board.desktop else "inactive",
        "esp": "/boot/efi",
        "mode": (model.name, model.id),
        "slots": (version, named, named, tuple(slot.status for slot in board.slots)),
        "clocks": (board.device_tree.model, gpu_max, cpu_max, board.cores, model.name),
        "fan": board.fan_profile,
        "state": "running",
    }


def stored_model(board: Personality) -> PowerModel:
    """The mode that the board is in after its boot."""
    conf = board.confs[board.conf]
    number = conf.default if board.mode is None else board.mode
    return next(model for model in conf.models if model.id == number)


def allowed(cap: int, table: tuple[int, ...]) -> int:
    """The highest step under a cap."""
    return table[-1] if cap <= 0 else max(step for step in table if step <= cap)
