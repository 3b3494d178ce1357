"""What nvpmodel prints and what it keeps: the mode, the values in force, and what became of a change."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .lines import split_lines
from .numbers import MAX_DIGITS, signed, whole
from .nvpmodel_conf import NAME, parse_conf

ANSWER = "answer of nvpmodel"
_MODE = re.compile(rf"(?:NVPM VERB: Current mode:[ \t]*)?NV Power Mode:[ \t]*({NAME})\Z")
_ID = re.compile(r"[0-9]{1,4}\Z")
_WARNING = re.compile(r"NVPM WARN:[ \t]*(\S.{0,300})")
_ERROR = re.compile(r"^NVPM ERROR:[ \t]*(\S[^\r\n]{0,300})", re.MULTILINE)
_PARAMETER = re.compile(
    r"(?:NVPM VERB: )?PARAM (\w{1,64}): ARG (\w{1,64}): PATH (/\S{1,300}): REAL_VAL: (\S{1,40}) CONF_VAL: (\S{1,40})\Z",
    re.ASCII,
)
_TORN_PARAMETER = re.compile(r"(?:NVPM VERB: )?PARAM \w+: ARG ", re.ASCII)
_NUMBER_OR_WORD = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}\Z|[a-z]{{1,16}}\Z")
_LISTED = re.compile(r"NVPM VERB: (?:(PARAM|POWER_MODEL):? (\S+=\S.*)|((?:\w+ ){1,2}\S+))\Z", re.ASCII)
_LISTED_DEFAULT = re.compile(rf"NVPM VERB: PM_CONFIG: DEFAULT={NAME}\(([0-9]{{1,4}})\)\Z")
_STATUS = re.compile(r"pmode:([0-9]{1,8})(?:[ \t]+fmode:(\w{1,64}))?\Z", re.ASCII)
# INT_MAX of older and newer tools: "no cap" (the file's -1).
NO_CAP = (2**31 - 1, 2**63 - 1)
_ASKS = re.compile(r"Reboot required for changing to this power mode|DO YOU WANT TO REBOOT NOW", re.IGNORECASE)
# In this order: the more telling line wins.
_OUTCOMES = (
    ("chroot", re.compile(r"Running in chroot, ignoring request")),
    ("rebooting", re.compile(r"Automatically rebooting|NVPM WARN: rebooting")),
    ("bad_mode", re.compile(r"request for bad power mode")),
)
SENTENCES = {
    "done": "nvpmodel changed the mode.",
    "reboot_required": "This mode needs a reboot, which nvpmodel asked about; it was not changed.",
    "rebooting": "nvpmodel reboots the machine to change the mode.",
    "bad_mode": "nvpmodel's configuration has no such mode.",
    "chroot": "nvpmodel takes this for a chroot or a container and changed nothing.",
    "error": "nvpmodel failed.",
}


def parse_query(text: str) -> dict[str, Any]:
    """``nvpmodel -q`` -> {"name", "id", "warnings": [str]}: the id stands in the line after the name.

    ParseError: no mode, a mode without its id, or two modes.
    """
    lines = split_lines(text, ANSWER)
    found = {
        (match.group(1), int(after))
        for match, after in ((_MODE.match(line), after) for line, after in zip(lines, lines[1:]))
        if match and _ID.match(after)
    }
    if len(found) != 1:
        raise ParseError("nvpmodel names no power mode, or more than one")
    name, number = found.pop()
    warnings = (_WARNING.match(line) for line in lines)
    return {"name": name, "id": number, "warnings": [match.group(1) for match in warnings if match]}


def parse_query_verbose(text: str) -> list[dict[str, Any]]:
    """``nvpmodel -q --verbose`` -> [{"param", "arg", "path", "real", "conf"}].

    No cap (INT_MAX) is -1, words stay words. ParseError: no such line, or a torn one.
    """
    found = []
    for line in split_lines(text, ANSWER):
        match = _PARAMETER.match(line)
        if match:
            param, arg, path, real, conf = match.groups()
            found.append({"param": param, "arg": arg, "path": path, "real": _value(real), "conf": _value(conf)})
        elif _TORN_PARAMETER.match(line):
            raise ParseError("a line of nvpmodel's answer is torn")
    if not found:
        raise ParseError("nvpmodel prints no parameter")
    return found


def parse_listing(text: str) -> dict[str, Any]:
    """``nvpmodel -p --verbose`` -> as :func:`.nvpmodel_conf.parse_conf` of the configuration that it lists.

    No cap (INT_MAX) is -1. ``default`` may be none of the modes: lines are often left out of what people publish.
    """
    lines, default = [], None
    for line in split_lines(text, ANSWER):
        match, named = _LISTED.match(line), _LISTED_DEFAULT.match(line)
        if named:
            default = int(named.group(1))
        elif match and match.group(1):
            lines.append(f"< {match.group(1)} {match.group(2)} >")
        elif match and lines and not line.startswith("NVPM VERB: parsing done for "):
            lines.append(match.group(3))
    found = parse_conf("\n".join(lines))
    for model in found["models"]:
        settings = model["settings"]
        settings.update({key: -1 for key, value in settings.items() if value in NO_CAP})
    return {**found, "default": default}


def parse_status(text: str) -> dict[str, Any]:
    """/var/lib/nvpmodel/status ("pmode:0002 fmode:fan_mode_quiet") -> {"id", "fan_mode": str or None}."""
    match = _STATUS.match("\n".join(split_lines(text, "status of nvpmodel")).strip("\n"))
    if match is None:
        raise ParseError("this is no status of nvpmodel")
    return {"id": whole(match.group(1), "the mode's id"), "fan_mode": match.group(2)}


def parse_change(text: str, status: int) -> dict[str, str]:
    """What ``nvpmodel -m N`` printed, and its exit status -> {"outcome", "sentence"}. Raises nothing.

    outcome: done, reboot_required, rebooting, bad_mode, chroot or error. A failure can hide in exit status 0. Of a
    question about a reboot that was answered with no, or by nobody, nothing but "reboot_required" comes out.
    """
    outcome = next((name for name, pattern in _OUTCOMES if pattern.search(text)), None)
    if outcome is None and _ASKS.search(text):
        outcome = "reboot_required"
    error = _ERROR.search(text)
    if outcome is None:
        outcome = "error" if error or status else "done"
    sentence = SENTENCES[outcome]
    if outcome == "error":
        said = _printable(error.group(1)) if error else f"exit status {status}"
        sentence = f"nvpmodel failed: {said}."
    return {"outcome": outcome, "sentence": sentence}


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text).rstrip(" .!?") or "it does not say why"


def _value(word: str) -> int | str:
    if not _NUMBER_OR_WORD.match(word):
        raise ParseError("a value of nvpmodel's answer is neither a number nor a word")
    if word.isalpha():
        return word
    number = signed(word, "a value")
    return -1 if number in NO_CAP else number
