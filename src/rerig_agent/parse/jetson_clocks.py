"""``jetson_clocks --show``: which clocks are allowed, and which run now."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .numbers import whole

MOST_CHARACTERS = 65536
_FAMILY = re.compile(r"SOC family:(\w{1,40})[ \t]+Machine:[ \t]*([ -~]{1,200})\Z", re.ASCII)
# Newer releases name the offline ones too, and then no processor's own line says "Online=" any more.
_ONLINE = re.compile(r"Online CPUs:[ \t]*([0-9][0-9,-]{0,200}?)(?:,?[ \t]+Offline CPUs:.{0,200})?\Z")
_RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?\Z")
_CORE = re.compile(r"cpu([0-9]{1,4}):[ \t]+((?:Online|Governor)=.{1,1000})\Z")
_UNIT = re.compile(r"(GPU|gpu-gpc-0|EMC)[ \t]+(MinFreq=.{1,1000})\Z")  # gpu-gpc-0: a Thor's
_TORN = re.compile(r"(?:cpu[0-9]|GPU[ \t]|gpu-gpc-0|EMC[ \t])")
_CLUSTERS = re.compile(r"Active GPU TPCs:[ \t]*([0-9]{1,3})\Z")
# R35 has a small "control"; a second line of newer releases ends in "pwm1_enable=1".
_FAN = re.compile(
    r"FAN Dynamic Speed [Cc]ontrol=(\w{1,40})(?:[ \t]+hwmon[0-9]{1,4}_pwm[0-9]{1,2}=([0-9]{1,5}))?\Z", re.ASCII
)
_MODE = re.compile(r"NV Power Mode:[ \t]*(\w{1,64})\Z", re.ASCII)
_WORD = re.compile(r"[a-z_]{1,40}\Z")


def parse_show(text: str) -> dict[str, Any]:
    """-> {"family", "machine", "online": "0-5", "cpus": [{"number", "online", "governor", "min_khz", "max_khz",
    "now_khz"}] by number, "gpu": {"min_hz", "max_hz", "now_hz"}, "emc": the same and "override": bool, "tpcs": the
    GPU's clusters that have power, "fan": {"control", "pwm"}, "mode"}; what isn't printed is None.

    A processor that is off may have no clocks (None). ParseError: no processor, no GPU, or a line of them that is torn.
    """
    found: dict[str, Any] = dict.fromkeys(("family", "machine", "online", "gpu", "emc", "tpcs", "fan", "mode"))
    found["cpus"] = []
    for line in text.split("\n") if len(text) <= MOST_CHARACTERS else []:
        _read(line.strip(" \t\r"), found)
    found["cpus"].sort(key=lambda core: core["number"])  # older releases sort by the name: cpu1, cpu10, cpu2
    numbers = [core["number"] for core in found["cpus"]]
    if not numbers or found["gpu"] is None or len(numbers) > len(set(numbers)):
        raise ParseError("this does not show the clocks of processors and GPU")
    return found


def _read(line: str, found: dict[str, Any]) -> None:
    core, unit = _CORE.match(line), _UNIT.match(line)
    if core:
        found["cpus"].append(_core(int(core.group(1)), _words(core.group(2)), found["online"]))
    elif unit:
        memory = unit.group(1) == "EMC"
        found["emc" if memory else "gpu"] = _unit(_words(unit.group(2)), memory)
    elif _TORN.match(line):
        raise ParseError("a line of clocks is torn")
    for pattern, names in ((_FAMILY, ("family", "machine")), (_ONLINE, ("online",)), (_MODE, ("mode",))):
        match = pattern.match(line)
        if match:
            found.update(zip(names, match.groups()))
    clusters, fan = _CLUSTERS.match(line), _FAN.match(line)
    if clusters:
        found["tpcs"] = int(clusters.group(1))
    if fan:
        found["fan"] = {"control": fan.group(1), "pwm": int(fan.group(2)) if fan.group(2) else None}


def _words(text: str) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in text.split())


def _core(number: int, words: dict[str, str], listed: str | None) -> dict[str, Any]:
    said, governor = words.get("Online"), words.get("Governor")
    if said not in ("0", "1", None) or (governor and not _WORD.match(governor)):
        raise ParseError("a line of clocks is torn")
    online = said == "1" if said else _is_among(number, listed)
    clocks = _clocks(words, "khz", needed=online is not False)
    return {"number": number, "online": online, "governor": governor or None, **clocks}


def _is_among(number: int, listed: str | None) -> bool | None:
    """Whether "0-3,6" holds the number; None where nothing is listed."""
    if listed is None:
        return None
    ranges = [_RANGE.match(part) for part in listed.split(",")]
    return any(one and int(one.group(1)) <= number <= int(one.group(2) or one.group(1)) for one in ranges)


def _unit(words: dict[str, str], memory: bool) -> dict[str, Any]:
    # What root alone may read of the memory comes out as nothing after "=".
    clocks = _clocks(words, "hz", needed=not memory)
    override = {"0": False, "1": True}.get(words.get("FreqOverride", ""))
    return {**clocks, "override": override} if memory else clocks


def _clocks(words: dict[str, str], unit: str, needed: bool) -> dict[str, int | None]:
    printed = {"min": words.get("MinFreq"), "max": words.get("MaxFreq"), "now": words.get("CurrentFreq")}
    if needed and not all(printed.values()):
        raise ParseError("a line of clocks is torn")
    return {f"{name}_{unit}": whole(word, "a clock") if word else None for name, word in printed.items()}
