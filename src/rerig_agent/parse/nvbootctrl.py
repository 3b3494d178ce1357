"""``nvbootctrl dump-slots-info``: the bootloader that runs, its slot, and how the last capsule went."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .lines import split_lines
from .numbers import is_whole

CAPSULE_STATUS = {
    0: "no capsule was tried",
    1: "the last capsule was installed",
    2: "the last capsule was installed, but its boot failed",
    3: "the last capsule could not be installed",
}
_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){1,3}\Z")
_LETTERS = {"A": "A", "B": "B", "0": "A", "1": "B"}
_STATUS = re.compile(r"[a-z][a-z _-]{0,40}\Z")


def parse_slots(text: str) -> dict[str, Any]:
    """-> {"version", "capsule_status": int or None, "current": "A" or "B", "active", "slots": [{"number", "status"}]}.

    Other keys than "current" may be None, or empty, where the release doesn't print them. The same tool's answer about
    root file systems (``-t rootfs``) says nothing about the bootloader: ParseError, as for fewer slots than announced.
    """
    values: dict[str, str] = {}
    slots: list[str] = []
    for line in split_lines(text, "list of slots"):
        key, colon, value = line.partition(":")
        if colon and key == "slot":
            slots.append(value)
        elif colon:
            values.setdefault(key, value.strip())
    current = _letter(values, "Current")
    if current is None:
        raise ParseError("nvbootctrl names no current bootloader slot")
    announced = values.get("num_slots", "")
    if announced and announced != str(len(slots)):
        raise ParseError("nvbootctrl lists other slots than it announces")
    version, status = values.get("Current version", ""), values.get("Capsule update status", "")
    return {
        "version": version if _VERSION.match(version) else None,
        "capsule_status": int(status) if is_whole(status) else None,
        "current": current,
        "active": _letter(values, "Active"),
        "slots": [slot for slot in map(_slot, slots) if slot],
    }


def _letter(values: dict[str, str], which: str) -> str | None:
    word = values.get(f"{which} bootloader slot", values.get(f"{which} slot"))
    if word is not None and word not in _LETTERS:
        raise ParseError("nvbootctrl names a slot that is none")
    return None if word is None else _LETTERS[word]


def _slot(value: str) -> dict[str, Any] | None:
    """The number, then "key: word" pairs between commas; older releases print no status."""
    number, *pairs = (part.strip() for part in value.split(","))
    words = dict(pair.partition(":")[::2] for pair in pairs)
    status = words.get("status", "").strip()
    if not is_whole(number) or (status and not _STATUS.match(status)):
        raise ParseError("a line about a slot is torn")
    return {"number": int(number), "status": status} if status else None
