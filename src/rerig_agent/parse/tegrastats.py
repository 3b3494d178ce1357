"""A line of tegrastats, in every form that boards with R35 to R39 were seen to print.

Which fields there are depends on the release, the module and the user (root also sees the memory's clock and the
engines). Everything after the processors is NAME VALUE or NAME@VALUE, and a field of no known form is an error: a torn
line must not be read as less power or another clock.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError

MOST_CHARACTERS = 8192
ELLIPSES = ("...", "\u2026")  # how documents, NVIDIA's own among them, cut the list of processors
NAMES = (
    *("ram_used_mb", "ram_total_mb", "largest_free_blocks", "largest_free_block_kb"),
    *("swap_used_mb", "swap_total_mb", "swap_cached_mb"),
)
_OFF = -256.0  # what the kernel's sensor says while its part of the chip has no power
_N = r"([0-9]{1,9})"
_HEAD = re.compile(
    rf"(?:([0-9]{{2}}-[0-9]{{2}}-[0-9]{{4}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}) )?"
    rf"RAM {_N}/{_N}MB \(lfb {_N}x{_N}([kM])B\) (?:SWAP {_N}/{_N}MB \(cached {_N}MB\) )?CPU \[([^][]{{1,2000}})\]"
)
_START = re.compile(r"(?:[0-9]{2}-[0-9]{2}-[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} )?RAM ")
_CORE = re.compile(rf"{_N}%@{_N}\Z")
_CLOCK = re.compile(rf"(?:{_N}%)?(?:@{_N}|@\[([0-9]{{1,9}}(?:,[0-9]{{1,9}}){{0,15}})\])?\Z")
_TEMPERATURE = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,40})@(-?[0-9]{1,4}(?:\.[0-9]{1,6})?)C(?:/-?[0-9.]{1,12}C)?\Z")
# Early R35 left the unit out, never of one number alone.
_RAIL = re.compile(rf"{_N}(?:mW(?:/{_N}mW(?:/{_N}mW)?)?|/{_N})\Z")
_RAIL_NAME = re.compile(r"(?:VDD|VIN|NC\Z)[A-Z0-9_]{0,40}\Z")
UNCONNECTED = "NC"  # a channel of the power monitor with nothing behind it; an AGX Orin prints two
_ENGINE_NAME = re.compile(r"[A-Z][A-Z0-9]{1,20}(?:_FREQ)?\Z")


def parse_line(text: str) -> dict[str, Any]:
    """-> {"time": "MM-DD-YYYY HH:MM:SS" or None, "ram_used_mb", "ram_total_mb", "largest_free_blocks": how many of
    "largest_free_block_kb", "swap_used_mb", "swap_total_mb", "swap_cached_mb" (None: no swap named),
    "cpus": [{"load", "mhz"}, None: off], "cpus_complete": bool, "gpu": {"load" or None, "mhz": [of its parts]} or None,
    "emc": {"load", "mhz" or None} or None, "engines": {name: {"load" or None, "mhz": []}, None: off},
    "temperatures": {name: degrees Celsius, None: no power}, "rails": {name: {"now_mw", "average_mw" or None}}}.

    Loads are percent. Names of sensors are in lower case (R35 prints some in capitals). R39's second temperature and
    third power have no documented meaning and are left out. ParseError: anything that isn't one whole line.
    """
    line = text.strip(" \t\r\n")
    head = _HEAD.match(line) if len(line) <= MOST_CHARACTERS else None
    if head is None:
        raise ParseError("this is no line of tegrastats")
    found: dict[str, Any] = {"time": head.group(1)}
    numbers = [None if word is None else int(word) for word in (*head.groups()[1:5], *head.groups()[6:9])]
    found.update(zip(NAMES, numbers))
    found["largest_free_block_kb"] *= 1024 if head.group(6) == "M" else 1
    if found["ram_used_mb"] > found["ram_total_mb"] or (found["swap_used_mb"] or 0) > (found["swap_total_mb"] or 0):
        raise ParseError("tegrastats' memory in use is more than there is")
    cores = head.group(10).split(",")
    found["cpus_complete"] = cores[-1] not in ELLIPSES
    found["cpus"] = [_core(word) for word in cores[: None if found["cpus_complete"] else -1]]
    return {**found, **_fields(line[head.end() :].split())}


def parse_lines(text: str) -> list[dict[str, Any]]:
    """What tegrastats wrote until it was stopped: a dict of :func:`parse_line` for each line, other lines left out.

    A last line without its end may be torn, and is then left out. ParseError: no line, or a torn one before the last.
    """
    lines = [line for line in text.split("\n") if _START.match(line.strip(" \t\r\n"))]
    if not lines:
        raise ParseError("this holds no line of tegrastats")
    found = [parse_line(line) for line in lines[:-1]]
    try:
        found.append(parse_line(lines[-1]))
    except ParseError:
        if not found or not text.endswith(lines[-1]):
            raise
    return found


def _core(word: str) -> dict[str, int] | None:
    if word == "off":
        return None
    match = _CORE.match(word)
    if match is None:
        raise ParseError("a processor of tegrastats' line is torn")
    return {"load": _percent(match.group(1)), "mhz": int(match.group(2))}


def _fields(words: list[str]) -> dict[str, Any]:
    clocks: dict[str, Any] = {}
    temperatures: dict[str, float | None] = {}
    rails: dict[str, dict[str, int | None]] = {}
    while words:
        name = words.pop(0)
        heat = _TEMPERATURE.match(name)
        if heat:
            degrees = float(heat.group(2))
            _put(temperatures, heat.group(1).lower(), None if degrees == _OFF else degrees)
            continue
        value = words.pop(0) if words else ""
        power = _RAIL.match(value)
        if _RAIL_NAME.match(name) and power:
            average = power.group(2) or power.group(4)
            if name != UNCONNECTED:
                _put(rails, name, {"now_mw": int(power.group(1)), "average_mw": int(average) if average else None})
        elif _ENGINE_NAME.match(name) and not _RAIL_NAME.match(name):
            _put(clocks, name[: -len("_FREQ")] if name.endswith("_FREQ") else name, _clock(value))
        else:
            raise ParseError("a field of tegrastats' line is torn")
    memory = clocks.pop("EMC", None)
    if memory is not None:
        memory = {"load": memory["load"], "mhz": memory["mhz"][0] if memory["mhz"] else None}
    graphics = clocks.pop("GR3D", None)
    return {"gpu": graphics, "emc": memory, "engines": clocks, "temperatures": temperatures, "rails": rails}


def _clock(value: str) -> dict[str, Any] | None:
    if value == "off":
        return None
    if re.match(r"[0-9]{1,9}\Z", value):  # "APE 174": the clock alone
        return {"load": None, "mhz": [int(value)]}
    match = _CLOCK.match(value) if value else None
    if match is None:
        raise ParseError("a clock of tegrastats' line is torn")
    load, one, several = match.groups()
    mhz = [int(word) for word in (one or several or "").split(",") if word]
    return {"load": None if load is None else _percent(load), "mhz": mhz}


def _percent(word: str) -> int:
    if int(word) > 100:
        raise ParseError("a load of tegrastats' line is more than 100 %")
    return int(word)


def _put(found: dict[str, Any], name: str, value: Any) -> None:
    if name in found:
        raise ParseError("tegrastats' line names something twice")
    found[name] = value
