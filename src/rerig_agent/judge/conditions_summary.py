"""The shareable summary of a machine's conditions: allow-listed words and numbers, no name that a person chose."""

from __future__ import annotations

import re
from typing import Any, Callable

from ..parse import ParseError
from ..parse.procfs import (
    parse_cpuinfo,
    parse_loadavg,
    parse_meminfo,
    parse_os_release,
    parse_pressure,
    parse_swaps,
)
from .public_board import public_board_state
from .public_options import matching, non_negative, not_an_address
from .virtual_machine import hypervisor_kind, is_virtual_machine

__all__ = ["public_kernel_release", "summarize"]

_GOVERNORS = "performance|powersave|ondemand|conservative|schedutil|userspace|interactive"
_PRINTABLE = r"[A-Za-z0-9(][A-Za-z0-9 ._+()/@,-]{0,79}"
# What distributions, boards and clouds put behind the version. A self-built kernel can carry a host's or person's name.
_RELEASE_WORDS = re.compile(
    r"\d+([._~]\d+)*|rc\d+|g[0-9a-f]{7,12}|dirty|custom|generic|lowlatency|lpae|64k|hwe|amd64|arm64|armmp|armhf|armv[678]l?"
    r"|686|pae|cloud|rt\d*|un|preempt|tegra|l4t|r\d+(\.\d+)*|jetson|raspi|rpi|rpt|v[678]|v[678]l?|v8_16k|2712|aws|azure|gcp"
    r"|gke|oem|oracle|kvm|ibm|nvidia|bluefield|intel|iotg|realtime|arch\d*|lts|zen\d*|hardened|default|fc\d+|el\d+(_\d+)*"
    r"|amzn\d+|x86|x86_64|aarch64|riscv64|uek|pve|bpo|deb\d+u?\d*|trunk|production|truenas|microsoft|standard|wsl2"
    r"|manjaro|gentoo|r\d|xanmod\d*|liquorix|cachyos|mainline|android\d+|odroid|sunxi\d*|rockchip\d*|meson\d*|edge|current"
    r"|vendor|legacy|bcm\d+|imx\d*|linuxkit|virt|firecracker|flatcar|ubuntu|debian|fedora|alpine",
    re.IGNORECASE | re.ASCII,
)
# After a first number of two digits only two more, so that 192.168.1.20 is none; 5.15.153.1 is one of WSL's.
_RELEASE_NUMBERS = re.compile(r"[1-9](\.[0-9]{1,5}){1,3}(?![0-9])|[1-9][0-9](\.[0-9]{1,5}){1,2}(?!\.?[0-9])")
_RELEASE_LENGTH = 80  # the kernel's own limit is 64 (include/uapi/linux/utsname.h)
_ADDRESS_BEHIND = re.compile(r"[^0-9.][0-9]{1,3}(\.[0-9]{1,3}){3}($|[^0-9.])")


def summarize(evidence: dict[str, Any]) -> dict[str, Any]:
    """The flat, shareable summary of what :func:`rerig_agent.conditions.collect` gathered. Pure, never raises.

    kernel_release, architecture, os_id, os_version, python, board_model (device tree), cpu_model: words or None;
    hypervisor (bool) and hypervisor_kind; cores, page_bytes, memory_bytes, memory_available_bytes, swap_bytes,
    swap_used_bytes (all ints); swap_on_zram (bool or None); load_1m, load_5m, load_15m, io_pressure_avg10,
    memory_pressure_avg10 (percent of time); governors (sorted list, each once); cpu_khz_lowest, cpu_khz_highest;
    temperature_highest_c (float); uptime_s (int); board_state (see :mod:`.public_board`; None: no Jetson).
    The boot id stays behind: compare it in the raw evidence.
    """
    given: dict[str, Any] = evidence if isinstance(evidence, dict) else {}
    os_release = _parsed(parse_os_release, given.get("os_release"))
    cpu = _parsed(parse_cpuinfo, given.get("cpuinfo"))
    memory = _parsed(parse_meminfo, given.get("meminfo"))
    load = _parsed(parse_loadavg, given.get("loadavg"))
    signs = given["hypervisor"] if isinstance(given.get("hypervisor"), dict) else {}
    frequencies = _numbers(given.get("cpu_frequencies_khz"))
    swap_free = non_negative(memory.get("SwapFree"))
    swap = non_negative(memory.get("SwapTotal"))
    uptime = given.get("uptime_s")
    return {
        "kernel_release": public_kernel_release(given.get("kernel_release")),
        "architecture": matching(given.get("machine"), r"[a-z0-9_]{1,16}"),
        "os_id": matching(os_release.get("ID"), r"[a-z0-9_-]{1,32}"),
        "os_version": not_an_address(matching(os_release.get("VERSION_ID"), r"[vVp]?[0-9][A-Za-z0-9._-]{0,30}")),
        "python": matching(given.get("python"), r"3\.\d{1,2}\.\d{1,2}"),
        "board_model": not_an_address(matching(given.get("device_tree_model"), _PRINTABLE)),
        "cpu_model": not_an_address(matching(cpu.get("model"), _PRINTABLE)),
        "hypervisor": is_virtual_machine(signs),
        "hypervisor_kind": hypervisor_kind(signs),
        "cores": non_negative(cpu.get("cores")),
        "page_bytes": non_negative(given.get("page_bytes")),
        "memory_bytes": non_negative(memory.get("MemTotal")),
        "memory_available_bytes": non_negative(memory.get("MemAvailable")),
        "swap_bytes": swap,
        "swap_used_bytes": None if swap is None or swap_free is None else max(0, swap - swap_free),
        "swap_on_zram": _swap_on_zram(given.get("swaps")),
        **{key: _fraction(load.get(key)) for key in ("load_1m", "load_5m", "load_15m")},
        "io_pressure_avg10": _pressure(given.get("pressure"), "io"),
        "memory_pressure_avg10": _pressure(given.get("pressure"), "memory"),
        "governors": _governors(given.get("governors")),
        "cpu_khz_lowest": min(frequencies, default=None),
        "cpu_khz_highest": max(frequencies, default=None),
        "temperature_highest_c": _highest_temperature(given.get("thermal_zones")),
        "uptime_s": int(uptime) if isinstance(uptime, (int, float)) and 0 <= uptime < 1e12 else None,
        "board_state": public_board_state(given),
    }


def public_kernel_release(release: Any) -> str | None:
    """The release with words that aren't a distribution's, board's or cloud's replaced by "custom".

    5.15.148-tegra, 6.8.0-45-generic and 6.6.51+rpt-rpi-2712 stay; 6.9.3-minsu-laptop becomes 6.9.3-custom.
    """
    if not isinstance(release, str) or len(release) > _RELEASE_LENGTH:
        return None
    version = _RELEASE_NUMBERS.match(release)
    if version is None:
        return None
    known = version.group(0)
    glued, *parts = re.split(r"([-+.~_])", release[version.end() :])
    for separator, word in [("-", glued)] * bool(glued) + list(zip(parts[::2], parts[1::2])):
        if word and not _RELEASE_WORDS.fullmatch(word):
            known += "" if known.endswith("-custom") else "-custom"
            break
        known += separator + word
    return version.group(0) + "-custom" if _ADDRESS_BEHIND.search(known) else known


def _parsed(parse: Callable[[str], Any], text: Any) -> dict[str, Any]:
    if not isinstance(text, str):
        return {}
    try:
        result = parse(text)
    except ParseError:
        return {}
    return result if isinstance(result, dict) else {}


def _numbers(values: Any) -> list[int]:
    found = values.values() if isinstance(values, dict) else []
    return [value for value in found if non_negative(value) is not None]


def _fraction(value: Any) -> float | None:
    ordinary = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e6
    return float(value) if ordinary else None


def _swap_on_zram(text: Any) -> bool | None:
    if not isinstance(text, str):
        return None
    try:
        return any("zram" in str(swap) for swap in parse_swaps(text))
    except ParseError:
        return None


def _pressure(texts: Any, kind: str) -> float | None:
    text = texts.get(kind) if isinstance(texts, dict) else None
    some = _parsed(parse_pressure, text).get("some")
    share = _fraction(some.get("avg10")) if isinstance(some, dict) else None
    return None if share is None else min(share, 100.0)


def _governors(values: Any) -> list[str]:
    found = values.values() if isinstance(values, dict) else []
    return sorted({word for word in found if matching(word, _GOVERNORS) is not None})


def _highest_temperature(zones: Any) -> float | None:
    temperatures = [
        zone["temperature_millicelsius"] / 1000
        for zone in (zones if isinstance(zones, list) else [])
        if isinstance(zone, dict) and isinstance(zone.get("temperature_millicelsius"), int)
    ]
    # Zones that are switched off report nonsense such as -256 °C.
    return max((value for value in temperatures if -50 < value < 200), default=None)
