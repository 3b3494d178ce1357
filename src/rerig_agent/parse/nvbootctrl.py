"""``nvbootctrl dump-slots-info``: the bootloader that runs, its slot, and how the last capsule went."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError

CAPSULE_STATUS = {
    0: "no capsule was tried",
    1: "the last capsule was installed",
    2: "the last capsule was installed, but its boot failed",
    3: "the last capsule could not be installed",
}
_VERSION = re.compile(r"^Current version:[ \t]*([0-9]{1,3}(?:\.[0-9]{1,3}){1,3})", re.MULTILINE)
_STATUS = re.compile(r"^Capsule update status:[ \t]*([0-9]{1,6})", re.MULTILINE)
_CURRENT = re.compile(r"^Current (?:bootloader |rootfs )?slot:[ \t]*([AB01])\b", re.MULTILINE)
_ACTIVE = re.compile(r"^Active (?:bootloader |rootfs )?slot:[ \t]*([AB01])\b", re.MULTILINE)
_SLOT = re.compile(
    r"^slot:[ \t]*([0-9]{1,2}),[ \t]*(?:[^\n]*,[ \t]*)?status:[ \t]*([a-z][a-z ]{0,30}[a-z])", re.MULTILINE
)


def parse_slots(text: str) -> dict[str, Any]:
    """-> {"version", "capsule_status": int or None, "current": "A" or "B", "active", "slots": [{"number", "status"}]}.

    Other keys than "current" may be None, or empty, where the release doesn't print them.
    """
    current = _CURRENT.search(text)
    if current is None:
        raise ParseError("nvbootctrl names no current slot")
    version, status, active = _VERSION.search(text), _STATUS.search(text), _ACTIVE.search(text)
    return {
        "version": version.group(1) if version else None,
        "capsule_status": int(status.group(1)) if status else None,
        "current": _letter(current.group(1)),
        "active": _letter(active.group(1)) if active else None,
        "slots": [{"number": int(number), "status": word} for number, word in _SLOT.findall(text)],
    }


def _letter(word: str) -> str:
    return {"0": "A", "1": "B"}.get(word, word)
