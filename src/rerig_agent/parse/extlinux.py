"""/boot/extlinux/extlinux.conf: which kernel, device tree and arguments a Jetson's UEFI starts Linux with.

The format is syslinux's, of which L4T's launcher knows DEFAULT, LABEL, LINUX, INITRD, FDT, OVERLAYS and APPEND.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError

MOST_CHARACTERS = 65536
_LABEL = re.compile(r"[!-~]{1,100}\Z")
_PATH = re.compile(r"/[!-~]{0,400}\Z")
_ROOT = re.compile(r"(?:^|[ \t])root=([!-~]{1,200})(?=[ \t]|\Z)")
_ONCE = ("LINUX", "INITRD", "FDT", "OVERLAYS", "APPEND")


def parse_extlinux(text: str) -> dict[str, Any]:
    """-> {"default": label that is started, "labels": [all of them], "linux", "initrd", "fdt", "append", "root"}.

    All but the first two are those of the default entry and None where it doesn't have them; "root" is what APPEND
    says after ``root=``. Without a DEFAULT the first label is started. ParseError: no label, one twice, a DEFAULT that
    is none of them, or a path that is none.
    """
    if len(text) > MOST_CHARACTERS or "\0" in text:
        raise ParseError("this is no extlinux.conf")
    entries = _entries(text)
    default = entries.pop("", {}).get("DEFAULT") or next(iter(entries), None)
    if default is None or default not in entries:
        raise ParseError("extlinux.conf has no label, or not the one that it wants to start")
    entry = entries[default]
    for name in ("LINUX", "INITRD", "FDT"):
        if name in entry and not _PATH.match(entry[name]):
            raise ParseError(f"the {name} of extlinux.conf is no path")
    root = _ROOT.search(entry.get("APPEND", ""))
    return {
        "default": default,
        "labels": list(entries),
        **{name.lower(): entry.get(name) for name in ("LINUX", "INITRD", "FDT", "APPEND")},
        "root": root.group(1) if root else None,
    }


def _entries(text: str) -> dict[str, dict[str, str]]:
    """{label: {"LINUX": …}}; what stands before the first label is under ""."""
    label = ""
    entries: dict[str, dict[str, str]] = {"": {}}
    for line in text.split("\n"):
        words = line.strip(" \t\r").split(None, 1)
        if not words or words[0].startswith("#"):
            continue
        key, value = words[0].upper(), words[1] if len(words) > 1 else ""
        if key == "LABEL":
            if not _LABEL.match(value) or value in entries:
                raise ParseError("a label of extlinux.conf is none, or is there twice")
            label = value
            entries[label] = {}
        elif key in _ONCE and label and key in entries[label]:
            raise ParseError(f"an entry of extlinux.conf has two lines {key}")
        elif key == "DEFAULT":
            entries[""][key] = value
        elif key in _ONCE:
            entries[label][key] = value
    return entries
