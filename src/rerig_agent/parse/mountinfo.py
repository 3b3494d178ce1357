"""/proc/self/mountinfo, the options in it, and which of its mounts holds a path (proc_pid_mountinfo(5))."""

from __future__ import annotations

import posixpath
import re
from typing import Any, Dict

from . import ParseError
from .mount_options import option_value, parse_mount_listing, parse_nfs_options, split_options
from .numbers import is_whole, signed

__all__ = [
    "Mount",
    "find_mount",
    "option_value",
    "parse_mount_listing",
    "parse_mountinfo",
    "parse_nfs_options",
    "unescape",
]

Mount = Dict[str, Any]

_OCTAL = re.compile(r"\\([0-3][0-7]{2})")
_DELETED = "//deleted"
_FIELDS_BEFORE_SEPARATOR = 6


def parse_mountinfo(text: str) -> list[Mount]:
    """Every mount, in the order of mounting.

    {"mount_id", "parent_id": int, "dev": "254:0", "root": path inside the file system, "mount_point", "options": [str]
    of the mount, "optional": ["shared:1", …], "fs_type", "source", "super_options": [str] of the file system,
    "deleted": bool, whether the root or the mount point has been unlinked}. The kernel's octal escapes are undone;
    bytes that aren't UTF-8 stay what the caller's surrogateescape made of them. ParseError: a line of another shape,
    or no line at all.
    """
    # Only "\n" ends a line: paths may hold "\r" and every other sign that splitlines() takes for an end.
    mounts = [_mount(line) for line in text.split("\n") if line.strip()]
    if not mounts:
        raise ParseError("mountinfo holds no mount")
    return mounts


def find_mount(mounts: list[Mount], path: str) -> Mount:
    """The mount that holds ``path``, which must be absolute and free of symbolic links.

    Walks down the path as the kernel does: at every component it enters the mount that is mounted there on the mount
    it is in, and whatever is mounted on that one; of several the last listed. So over-mounts and autofs pairs give the
    topmost mount, and a mount below a directory that was covered later is never reached. A mount whose parent isn't
    listed (the root of a name space, or of a list that was cut) is entered from anywhere. ParseError: nothing listed
    holds the path.
    """
    if not path.startswith("/"):
        raise ParseError("only an absolute path lies on a mount")
    listed = {mount["mount_id"] for mount in mounts}
    places: dict[str, list[Mount]] = {}
    for mount in mounts:
        places.setdefault(mount["mount_point"], []).append(mount)
    current: Mount | None = None
    for place in _places_on_the_way(path):
        unvisited = places.get(place, []).copy()
        while unvisited:
            entered = _entered(unvisited, current, listed)
            if entered is None:
                break
            unvisited.remove(entered)
            current = entered
    if current is None:
        raise ParseError("no listed mount holds the path")
    return current


def unescape(text: str) -> str:
    """Undo the octal escapes (``\\040``) that the kernel writes for blanks, backslashes and the like in /proc files."""
    if "\\" not in text:
        return text
    plain = _OCTAL.sub(_sign, text)
    if not any("\udc80" <= sign <= "\udcff" for sign in plain):
        return plain
    try:  # Escaped bytes may together be a UTF-8 sign.
        return plain.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other lone surrogates, which no decoded file holds
        return plain


def _mount(line: str) -> Mount:
    front, separator, back = line.rstrip("\r").partition(" - ")
    # Split at single blanks: a source may be empty.
    before, after = front.strip(" ").split(" "), back.split(" ", 2)
    if not separator or len(before) < _FIELDS_BEFORE_SEPARATOR or len(after) < 2:
        raise ParseError("a line of mountinfo has too few fields")
    if len(after) == 2:  # blanks were squeezed, and with them the empty source
        after = [after[0], "", after[1]]
    major, _, minor = before[2].partition(":")
    if not (is_whole(major) and is_whole(minor)):
        raise ParseError("a mount's device is not major:minor")
    root, mount_point = unescape(before[3]), unescape(before[4])
    return {
        "mount_id": signed(before[0], "a mount's id"),
        "parent_id": signed(before[1], "a mount's parent"),
        "dev": before[2],
        "root": root,
        "mount_point": mount_point,
        "options": [unescape(option) for option in split_options(before[5])],
        "optional": before[_FIELDS_BEFORE_SEPARATOR:],
        "fs_type": unescape(after[0]),
        "source": unescape(after[1]),
        "super_options": [unescape(option) for option in split_options(after[2])],
        "deleted": root.endswith(_DELETED) or mount_point.endswith(_DELETED),
    }


def _sign(match: re.Match[str]) -> str:
    code = int(match.group(1), 8)
    return chr(code) if code < 0x80 else chr(0xDC00 + code)


def _places_on_the_way(path: str) -> list[str]:
    """ "/a/b" -> ["/", "/a", "/a/b"]."""
    places, here = ["/"], ""
    for part in posixpath.normpath(path).split("/"):
        if part:
            here += "/" + part
            places.append(here)
    return places


def _entered(candidates: list[Mount], current: Mount | None, listed: set[int]) -> Mount | None:
    """The mount that one enters here from ``current``: its last child, else the last without a listed parent."""
    stray = None
    for mount in reversed(candidates):
        parent = mount["parent_id"]
        if current is not None and parent == current["mount_id"]:
            return mount
        if stray is None and parent not in listed:
            stray = mount
    if stray is None and current is None:
        return candidates[0]  # a root that is its own parent, or whose parent is somewhere inside it
    return stray
