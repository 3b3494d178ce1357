"""Update capsules: the real header, and inside it a short text of ours that says which boards it fits."""

from __future__ import annotations

import json
import struct
import uuid
from typing import Any

MANAGEMENT_CAPSULE = uuid.UUID("6dcbd5ed-e82d-4c44-bda1-7194199ad92a")
HEADER = struct.Struct("<16sIII")  # GUID, header's size, flags, size of the whole
PERSIST = 0x00010000
DEFAULT_SPEC = "-------"  # what the firmware takes for a missing TegraPlatformCompatSpec


def pack(version: str, flavour: str, specs: list[str], bytes_: int = 0) -> bytes:
    """A capsule for the boards of ``specs`` ("" fits all), padded to ``bytes_``."""
    words = json.dumps({"version": version, "flavour": flavour, "specs": specs}, sort_keys=True).encode()
    size = max(bytes_, HEADER.size + len(words))
    return (HEADER.pack(MANAGEMENT_CAPSULE.bytes_le, HEADER.size, PERSIST, size) + words).ljust(size, b"\0")


def unpack(data: bytes) -> dict[str, Any]:
    """{"version", "flavour", "specs"}; raises ValueError for what is no capsule of ours or was cut short."""
    if len(data) < HEADER.size:
        raise ValueError("too short for a capsule")
    guid, start, _, size = HEADER.unpack_from(data)
    if guid != MANAGEMENT_CAPSULE.bytes_le or size != len(data):
        raise ValueError("not a whole capsule")
    return dict(json.loads(data[start:].rstrip(b"\0")))


def fits(image_spec: str, platform_spec: str | None, compatible_spec: str | None) -> bool:
    """Whether the firmware takes an image: its spec must match the board's full spec, or else the compatible one."""
    if not image_spec:
        return True
    full = platform_spec is not None and same_spec(image_spec, platform_spec)
    return full or same_spec(image_spec, DEFAULT_SPEC if compatible_spec is None else compatible_spec)


def same_spec(first: str, second: str) -> bool:
    """As many words between the dashes, and each the same or empty on one side."""
    ours, theirs = first.split("-"), second.split("-")
    if len(ours) != len(theirs):
        return False
    return all(not one or not theirs[place] or one == theirs[place] for place, one in enumerate(ours))
