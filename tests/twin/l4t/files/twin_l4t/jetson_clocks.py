"""jetson_clocks: shows the clocks, holds them at their maximum, stores and restores them."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import board, clocks, nvpmodel, place

USAGE = "Usage: jetson_clocks [--show | --store [FILE] | --restore [FILE] | --fan]"
FAN = "/sys/class/hwmon/hwmon0/pwm1"
FULL_SPEED = "255"


def main(words: list[str]) -> int:
    if not place.is_root():
        print("Please run as root")
        return 1
    settings = board.load()
    words = list(words)
    action = words.pop(0) if words else ""
    default = f"{os.environ.get('HOME', '/root')}/l4t_dfs.conf"
    if action == "--show":
        show(settings)
    elif action == "--store":
        return store(settings, words[0] if words else default)
    elif action == "--restore":
        return restore(words[0] if words else default)
    elif action in ("", "--fan"):
        hold(settings)
        if action:
            place.write(FAN, f"{FULL_SPEED}\n")
    else:
        place.die(USAGE)
    return 0


def show(settings: dict[str, Any]) -> None:
    cores = clocks.cpus()
    model = place.word("/proc/device-tree/model").rstrip("\0")
    print(f"SOC family:{settings['soc']}  Machine:{model}")
    print(f"Online CPUs: {clocks.online_list(cores)}")
    for core in cores:
        idle = " ".join(f"{name}={int(on)}" for name, on in core.idle.items())
        governor = place.word(f"{core.clock}/scaling_governor")
        speeds = three(core.clock, "scaling_min_freq", "scaling_max_freq", "scaling_cur_freq")
        print(f"cpu{core.number}:  Online={int(core.online)} Governor={governor} {speeds} IdleStates: {idle} ")
    print(f"GPU {three(clocks.gpu(settings), 'min_freq', 'max_freq', 'cur_freq')}")
    print(f"Active GPU TPCs: {clocks.active_clusters(settings)}")
    highest = min(place.number(f"{clocks.EMC}/max_rate") or 0, place.number(settings["emc_cap"]) or sys.maxsize)
    lowest, now, held = (place.word(f"{clocks.EMC}/{name}") for name in ("min_rate", "rate", "mrq_rate_locked"))
    print(f"EMC MinFreq={lowest} MaxFreq={highest} CurrentFreq={now} FreqOverride={held}")
    print(f"FAN Dynamic Speed Control={settings['fan_control']} hwmon0_pwm1={place.word(FAN)}")
    mode = nvpmodel.mode_name()
    if mode:
        print(f"NV Power Mode: {mode}")


def three(folder: str, lowest: str, highest: str, now: str) -> str:
    values = (place.word(f"{folder}/{name}") for name in (lowest, highest, now))
    return "MinFreq={} MaxFreq={} CurrentFreq={}".format(*values)


def hold(settings: dict[str, Any]) -> None:
    """Each clock's minimum and present speed become its maximum; no core may idle."""
    for core in clocks.cpus():
        pin(core.clock, "scaling_")
        for state in clocks.idle_states(core.number):
            place.write(f"{state}/disable", "1\n")
    pin(clocks.gpu(settings), "")
    highest = place.number(settings["emc_cap"]) or place.number(f"{clocks.EMC}/max_rate")
    place.write(f"{clocks.EMC}/rate", f"{settings['emc_held_hz'] or highest}\n")
    place.write(f"{clocks.EMC}/mrq_rate_locked", "1\n")


def pin(folder: str, prefix: str) -> None:
    highest = place.word(f"{folder}/{prefix}max_freq")
    place.write(f"{folder}/{prefix}min_freq", f"{highest}\n")
    place.write(f"{folder}/{prefix}cur_freq", f"{highest}\n")


def changed_files(settings: dict[str, Any]) -> list[str]:
    """Every file that :func:`hold` or ``--fan`` writes."""
    files = []
    for core in clocks.cpus():
        files += [f"{core.clock}/scaling_min_freq", f"{core.clock}/scaling_cur_freq"]
        files += [f"{state}/disable" for state in clocks.idle_states(core.number)]
    gpu = clocks.gpu(settings)
    return [*files, f"{gpu}/min_freq", f"{gpu}/cur_freq", f"{clocks.EMC}/rate", f"{clocks.EMC}/mrq_rate_locked", FAN]


def store(settings: dict[str, Any], file: str) -> int:
    if place.path(file).exists():
        print(f"File {file} already exists. Can I overwrite it? Y/N:", end="", flush=True)
        if sys.stdin.readline().strip() not in ("Y", "y"):
            print("\nExiting...")
            return 1
    place.write(file, "".join(f"{name}:{place.word(name)}\n" for name in changed_files(settings)))
    return 0


def restore(file: str) -> int:
    text = place.read(file)
    if text is None:
        print(f"{file} not found! Please run jetson_clocks --store first.")
        return 1
    for line in text.splitlines():
        name, _, value = line.rpartition(":")
        place.write(name, f"{value}\n")
    return 0
