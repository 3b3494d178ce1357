"""Overlay mounts: their layers, and which of them holds a given file."""

from __future__ import annotations

import os
from typing import Any, Dict

__all__ = ["layer_directories", "pick_layer", "relative_in_layers"]

Mount = Dict[str, Any]


def layer_directories(mount: Mount) -> list[str]:
    """Upper directory (if any), then the lower ones from top to bottom, then data-only ones, as the mount names them.

    They are paths of the mounter's name space: in a container they often lead nowhere, or to something else.
    """
    upper: list[str] = []
    lower: list[str] = []
    for option in mount.get("super_options") or []:
        name, _, value = option.partition("=")
        if name == "upperdir":
            upper.append(_unescaped(value))
        elif name == "lowerdir":
            lower.extend(_unescaped(part) for part in _split_colons(value) if part)
        elif name in ("lowerdir+", "datadir+"):
            lower.append(value)
    return upper + lower


def _split_colons(value: str) -> list[str]:
    """Split at colons that no backslash precedes."""
    parts, escaped = [""], False
    for sign in value:
        if sign == ":" and not escaped:
            parts.append("")
        else:
            parts[-1] += sign
        escaped = sign == "\\" and not escaped
    return parts


def _unescaped(value: str) -> str:
    text, escaped = "", False
    for sign in value:
        escaped = sign == "\\" and not escaped
        if not escaped:
            text += sign
    return text


def relative_in_layers(mount: Mount, real_path: str) -> str:
    """The file's path inside every layer. A bind mount of a part of an overlay has that part as its root."""
    inside = os.path.relpath(real_path, mount["mount_point"])
    return os.path.normpath(os.path.join(mount["root"].lstrip("/"), inside))  # noqa: PTH118 - may be empty or "."


def pick_layer(facts: dict[str, Any], seen: list[dict[str, Any] | None]) -> int | None:
    """Index of the layer that holds the file, or None.

    `facts` are those of the file in the overlay, `seen` what lies at its place in every layer, top first. The topmost
    entry is the one that shows; its size and time must agree, else it is another file (metacopy, another name space).
    A directory shows the topmost one: a new file goes to the upper layer.
    """
    for index, entry in enumerate(seen):
        if entry is None:
            continue
        if entry["kind"] != facts["kind"]:
            return None
        if facts["kind"] == "directory":
            return index
        same = entry["size_bytes"] == facts["size_bytes"] and entry["modified_ns"] == facts["modified_ns"]
        return index if same else None
    return None
