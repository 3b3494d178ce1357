"""What nvpmodel prints and what it keeps: the mode, the values in force, and what became of a change."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .numbers import MAX_DIGITS, signed, whole

_MODE = re.compile(r"NV Power Mode:[ \t]*(\w{1,64})[ \t]*\r?\n[ \t]*([0-9]{1,4})[ \t]*(?:\r?\n|\Z)", re.ASCII)
_WARNING = re.compile(r"^NVPM WARN:[ \t]*([^\r\n]{1,300})", re.MULTILINE)
_ERROR = re.compile(r"^NVPM ERROR:[ \t]*([^\r\n]{1,300})", re.MULTILINE)
_PARAMETER = re.compile(
    rf"PARAM (\w{{1,64}}): ARG (\w{{1,64}}): PATH (/[^\s:]{{1,300}}): "
    rf"REAL_VAL: (-?[0-9]{{1,{MAX_DIGITS}}}|[a-z]{{1,16}}) CONF_VAL: (-?[0-9]{{1,{MAX_DIGITS}}}|[a-z]{{1,16}})",
    re.ASCII,
)
_STATUS = re.compile(r"pmode:([0-9]{1,8})(?:[ \t]+fmode:(\w{1,64}))?[ \t\r\n]*\Z", re.ASCII)
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
    """``nvpmodel -q`` -> {"name", "id", "warnings": [str]}: the id stands in the line after the name."""
    match = _MODE.search(text)
    if match is None:
        raise ParseError("nvpmodel names no power mode")
    return {
        "name": match.group(1),
        "id": int(match.group(2)),
        "warnings": [word.strip() for word in _WARNING.findall(text)],
    }


def parse_query_verbose(text: str) -> list[dict[str, Any]]:
    """``nvpmodel -q --verbose`` -> [{"param", "arg", "path", "real", "conf"}].

    No cap (INT_MAX) is -1, words stay words.
    """
    found = [
        {"param": param, "arg": arg, "path": path, "real": _value(real), "conf": _value(conf)}
        for param, arg, path, real, conf in _PARAMETER.findall(text)
    ]
    if not found:
        raise ParseError("nvpmodel prints no parameter")
    return found


def parse_status(text: str) -> dict[str, Any]:
    """/var/lib/nvpmodel/status ("pmode:0002 fmode:fan_mode_quiet") -> {"id", "fan_mode": str or None}."""
    match = _STATUS.match(text)
    if match is None:
        raise ParseError("this is no status of nvpmodel")
    return {"id": whole(match.group(1), "the mode's id"), "fan_mode": match.group(2)}


def parse_change(text: str, status: int) -> dict[str, str]:
    """What ``nvpmodel -m N`` printed, and its exit status -> {"outcome", "sentence"}.

    outcome: done, reboot_required, rebooting, bad_mode, chroot or error. A failure can hide in exit status 0.
    """
    outcome = next((name for name, pattern in _OUTCOMES if pattern.search(text)), None)
    if outcome is None and _ASKS.search(text):
        outcome = "reboot_required"
    error = _ERROR.search(text)
    if outcome is None:
        outcome = "error" if error or status else "done"
    sentence = SENTENCES[outcome]
    if outcome == "error":
        said = error.group(1).strip() if error else f"exit status {status}"
        sentence = f"nvpmodel failed: {said}."
    return {"outcome": outcome, "sentence": sentence}


def _value(word: str) -> int | str:
    if not re.match(r"-?[0-9]", word):
        return word
    number = signed(word, "a value")
    return -1 if number in NO_CAP else number
