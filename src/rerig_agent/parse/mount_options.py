"""Mount options: one list of them, those of NFS, and the lines of `mount` and `nfsstat -m`."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .numbers import is_whole

_TRUNCATED = ("...", "…")
_NFSSTAT = re.compile(r"(/[^\n]*?) from ([^\n]*?)[ \t]*\n?[ \t]*Flags:[ \t]*([^\n]*)")
_VERSION_FLAG = re.compile(r"v([234](?:\.[0-9])?)\Z")
_PROTOCOL_FLAGS = ("tcp", "udp", "rdma")


def split_options(text: str) -> list[str]:
    """Split at commas, but not at those between double quotes (SELinux contexts hold such)."""
    if '"' not in text:
        return [option for option in text.split(",") if option]
    options, quoted = [""], False
    for piece in re.split(r'([",])', text):
        if piece == "," and not quoted:
            options.append("")
            continue
        quoted ^= piece == '"'
        options[-1] += piece
    return [option for option in options if option]


def option_value(options: list[str], name: str) -> str | None:
    """The value of ``name=value``, "" for a bare ``name``, None where it is missing. The last one counts."""
    found = None
    for option in options:
        key, _, value = option.partition("=")
        if key == name:
            found = value
    return found


def parse_nfs_options(options: list[str]) -> dict[str, Any]:
    """What matters of an NFS mount's options (nfs(5)); None where an option is missing or no number.

    {"version": "4.1", "rsize", "wsize": bytes, "proto", "hard": bool, "nconnect": TCP connections, 1 where it isn't
    said, "timeo": tenths of a second, "retrans", "truncated": whether the list ends in "..."}.
    """
    if isinstance(options, str):
        options = split_options(options)
    options = [option.strip() for option in options]
    nconnect = _number(options, "nconnect")
    return {
        "version": _version(options),
        "rsize": _number(options, "rsize"),
        "wsize": _number(options, "wsize"),
        "proto": option_value(options, "proto") or next((flag for flag in _PROTOCOL_FLAGS if flag in options), None),
        "hard": not any(option in ("soft", "softerr") for option in options),
        "nconnect": 1 if nconnect is None else nconnect,
        "timeo": _number(options, "timeo"),
        "retrans": _number(options, "retrans"),
        "truncated": any(option.endswith(_TRUNCATED) for option in options),
    }


def parse_mount_listing(text: str) -> list[dict[str, Any]]:
    """The output of `mount` or of `nfsstat -m`, one or more entries.

    [{"source", "mount_point", "fs_type": str | None where it isn't printed, "options": [str]}]. Both programs print
    blanks in names as they are; a name that itself holds " on /" or " type " is split at the wrong place.
    ParseError: no entry.
    """
    entries = [
        {"source": source, "mount_point": place, "fs_type": None, "options": split_options(flags.strip())}
        for place, source, flags in _NFSSTAT.findall(text)
    ]
    for line in text.split("\n"):
        entry = _mount_line(line)
        if entry is not None:
            entries.append(entry)
    if not entries:
        raise ParseError("this is no output of mount or nfsstat -m: it names no mount")
    return entries


def _mount_line(line: str) -> dict[str, Any] | None:
    """SOURCE on PLACE type TYPE (OPTIONS), or the BSDs' SOURCE on PLACE (TYPE, OPTIONS)."""
    source, on, rest = line.strip().partition(" on /")
    front, bracket, options = rest.rpartition(" (")
    if not on or not bracket:
        return None
    listed = split_options(options[:-1] if options.endswith(")") else options)
    place, kind, fs_type = front.rpartition(" type ")
    if not kind:
        if not listed:
            return None
        place, fs_type, listed = front, listed[0].strip(), [option.strip() for option in listed[1:]]
    return {"source": source, "mount_point": "/" + place, "fs_type": fs_type, "options": listed}


def _number(options: list[str], name: str) -> int | None:
    value = option_value(options, name)
    return int(value) if value is not None and is_whole(value) else None


def _version(options: list[str]) -> str | None:
    value = option_value(options, "vers") or option_value(options, "nfsvers")
    if not value:
        flags = (_VERSION_FLAG.match(option) for option in options)
        value = next((flag.group(1) for flag in flags if flag), None)
    minor = option_value(options, "minorversion")  # before Linux 3.4 or so: vers=4,minorversion=1
    return f"{value}.{minor}" if value == "4" and minor and is_whole(minor) else value
