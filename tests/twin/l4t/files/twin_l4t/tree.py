"""What the kernel of the board shows below /sys, as files: of its personality and of the bootloader that booted."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Union

from . import efivars

PLATFORM = "/sys/devices/platform"
CPUS = "/sys/devices/system/cpu"
HWMON_DEVICES = f"{PLATFORM}/bus@0/c240000.i2c/i2c-1"
CLOCKS = "/sys/kernel/debug/bpmp/debug/clk"
BASE = "/sys/firmware/devicetree/base"
EFI = "/sys/firmware/efi"
DMI = ("/sys/class/dmi/id", "/sys/devices/virtual/dmi/id")
READABLE, PRIVATE = 0o444, 0o400
KNOB, PRIVATE_KNOB = 0o644, 0o600


class File(NamedTuple):
    data: bytes
    mode: int = KNOB


class Link(NamedTuple):
    target: str


class Same(NamedTuple):
    """The folder ``source``, seen at another place too."""

    source: str


Tree = Dict[str, Union[File, Link, Same]]


def kernel_tree(board: dict[str, Any], flash: dict[str, Any], flavour: str) -> Tree:
    """``flavour``: whose device tree the kernel was given; the clocks are the booted slot's, whatever that says."""
    slot = flash["slots"][flash["current"]]
    clocks = board["flavours"][slot["flavour"]]["clocks"]
    tree: Tree = {}
    tree.update(device_tree(board, flavour))
    tree.update(gpu(board, clocks))
    tree.update(cpus(board, clocks))
    tree.update(memory_clock(board, clocks))
    tree.update(sensors(board))
    tree.update(firmware(board, flash, slot["version"]))
    return tree


def text(value: object, mode: int = KNOB) -> File:
    return File(f"{value}\n".encode(), mode)


def device_tree(board: dict[str, Any], flavour: str) -> Tree:
    names = board["flavours"][flavour]["device_tree"]
    strings = {"model": [names["model"]], "compatible": names["compatible"], "chosen/ids": [board["ids"]]}
    tree: Tree = {
        f"{BASE}/{name}": File("".join(f"{word}\0" for word in words).encode(), READABLE)
        for name, words in strings.items()
        if words != [None]
    }
    tree["/proc/device-tree"] = Link("../sys/firmware/devicetree/base")
    return tree


def gpu(board: dict[str, Any], clocks: dict[str, Any]) -> Tree:
    device, name, table = board["gpu"]["device"], board["gpu"]["name"], clocks["gpu_table_hz"]
    clock = f"{device}/devfreq/{name}"
    tree: Tree = {
        f"{clock}/available_frequencies": text(" ".join(map(str, table)), READABLE),
        f"{clock}/available_governors": text("performance powersave userspace nvhost_podgov", READABLE),
        f"{clock}/governor": text("nvhost_podgov"),
        f"{clock}/min_freq": text(table[0]),
        f"{clock}/max_freq": text(table[-1]),
        f"{clock}/cur_freq": text(table[0], READABLE),
        f"{device}/devfreq_dev": Link(f"devfreq/{name}"),
        f"{device}/load": text(0, READABLE),
        f"{device}/fbp_pg_mask": text(2),
        f"{device}/tpc_pg_mask": text(0),
        f"{device}/power/control": text("auto"),
        f"/sys/class/devfreq/{name}": Link(f"../../{device[len('/sys/') :]}/devfreq/{name}"),
    }
    tree.update({alias: Link(relative(alias.rpartition("/")[0], device)) for alias in board["gpu"]["aliases"]})
    return tree


def relative(folder: str, target: str) -> str:
    """``target`` as seen from ``folder``, both below /sys."""
    if target.startswith(f"{folder}/"):
        return target[len(folder) + 1 :]
    return "../" * (folder.count("/") - 1) + target[len("/sys/") :]


def cpus(board: dict[str, Any], clocks: dict[str, Any]) -> Tree:
    table = clocks["cpu_table_khz"]
    tree: Tree = {}
    for cores in board["clusters"]:
        policy = f"{CPUS}/cpufreq/policy{cores[0]}"
        tree.update(
            {
                f"{policy}/cpuinfo_min_freq": text(table[0], READABLE),
                f"{policy}/cpuinfo_max_freq": text(table[-1], READABLE),
                f"{policy}/cpuinfo_cur_freq": text(table[0], PRIVATE),
                f"{policy}/scaling_available_frequencies": text(" ".join(map(str, table)), READABLE),
                f"{policy}/scaling_available_governors": text("conservative ondemand performance schedutil", READABLE),
                f"{policy}/scaling_driver": text("tegra194", READABLE),
                f"{policy}/scaling_governor": text(board["cpu_governor"]),
                f"{policy}/scaling_min_freq": text(table[0]),
                f"{policy}/scaling_max_freq": text(table[-1]),
                f"{policy}/scaling_cur_freq": text(table[0], READABLE),
                f"{policy}/related_cpus": text(" ".join(map(str, cores)), READABLE),
                f"{policy}/affected_cpus": text(" ".join(map(str, cores)), READABLE),
            }
        )
        for core in cores:
            tree[f"{CPUS}/cpu{core}/cpufreq"] = Link(f"../cpufreq/policy{cores[0]}")
            tree[f"{CPUS}/cpu{core}/online"] = text(1)
            for number, name in enumerate(board["idle_states"]):
                tree[f"{CPUS}/cpu{core}/cpuidle/state{number}/name"] = text(name, READABLE)
                tree[f"{CPUS}/cpu{core}/cpuidle/state{number}/disable"] = text(0)
    return tree


def memory_clock(board: dict[str, Any], clocks: dict[str, Any]) -> Tree:
    emc, highest = f"{CLOCKS}/emc", clocks["emc_max_hz"]
    now = min(board["emc_rate_hz"], highest)
    return {
        f"{emc}/min_rate": text(clocks["emc_min_hz"]),
        f"{emc}/max_rate": text(highest),
        f"{emc}/rate": text(now),
        f"{emc}/mrq_rate_locked": text(0),
        f"{CLOCKS}/nafll_gpc0/max_rate": text(clocks["gpu_table_hz"][-1]),
        f"{CLOCKS}/nafll_gpc0/min_rate": text(clocks["gpu_table_hz"][0]),
        board["emc_cap"]: text(highest, PRIVATE_KNOB),
    }


def sensors(board: dict[str, Any]) -> Tree:
    monitors: list[tuple[str, dict[str, File]]] = [
        (f"{PLATFORM}/pwm-fan", {"name": text("pwmfan"), "pwm1": text(board["fan_pwm"])}),
        (f"{HWMON_DEVICES}/1-0040", {"name": text("ina3221"), **rails(board)}),
        (f"{PLATFORM}/soctherm-oc-event", {"name": text("soctherm_oc"), **events(board)}),
    ]
    tree: Tree = {
        "/sys/bus/i2c/drivers/ina3221/1-0040": Link(relative("/sys/bus/i2c/drivers/ina3221", f"{HWMON_DEVICES}/1-0040"))
    }
    for number, (device, files) in enumerate(monitors):
        folder = f"{device}/hwmon/hwmon{number}"
        tree.update({f"{folder}/{name}": file for name, file in files.items()})
        tree[f"/sys/class/hwmon/hwmon{number}"] = Link(relative("/sys/class/hwmon", folder))
    for number, (kind, millicelsius) in enumerate(board["temperatures"].items()):
        tree[f"/sys/class/thermal/thermal_zone{number}/type"] = text(kind, READABLE)
        tree[f"/sys/class/thermal/thermal_zone{number}/temp"] = text(millicelsius, READABLE)
    return tree


def rails(board: dict[str, Any]) -> dict[str, File]:
    """The INA3221's channels: mV and mA; it has no power of its own."""
    files = {}
    for number, rail in enumerate(board["rails"], 1):
        files[f"in{number}_label"] = text(rail["label"], READABLE)
        files[f"in{number}_input"] = text(rail["millivolts"], READABLE)
        files[f"curr{number}_input"] = text(rail["milliamperes"], READABLE)
        files[f"curr{number}_crit"] = text(rail["critical_milliamperes"])
    return files


def events(board: dict[str, Any]) -> dict[str, File]:
    return {f"oc{number}_event_cnt": text(count, READABLE) for number, count in enumerate(board["overcurrents"], 1)}


def firmware(board: dict[str, Any], flash: dict[str, Any], version: str) -> Tree:
    bios = {"bios_vendor": "EDK II", "bios_version": f"{version}-{board['bios_suffix']}", **board["dmi"]}
    tree: Tree = {f"{folder}/{name}": text(value, READABLE) for folder in DMI for name, value in bios.items()}
    if not board["has_uefi"]:
        return tree
    entry = f"{EFI}/esrt/entries/entry0"
    tree.update({f"{entry}/{name}": text(value, PRIVATE) for name, value in flash["esrt"].items()})
    tree[f"{entry}/fw_class"] = text(board["esrt_class"], PRIVATE)
    tree[f"{entry}/fw_type"] = text(1, PRIVATE)
    tree[f"{entry}/capsule_flags"] = text("0x0", PRIVATE)
    for name, number in {"count": 1, "max": 1, "version": 1}.items():
        tree[f"{EFI}/esrt/fw_resource_{name}"] = text(number, PRIVATE)
    tree[f"{EFI}/fw_platform_size"] = text(64, READABLE)
    tree[efivars.FOLDER] = Same(efivars.NVRAM)
    return tree
