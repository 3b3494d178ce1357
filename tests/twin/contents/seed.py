"""Names, numbers and noise that look random and are the same every time."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass

# Every date in a file system is this one: 14 November 2023, 22:13:20 UTC.
TIME_S = 1_700_000_000

_SPACE = uuid.UUID("7b1c3a52-6f0d-5c9e-9a41-2d8f40e6b713")


@dataclass(frozen=True)
class Seed:
    """Two disks with the same seed are the same disk, as a copy made by ``dd`` is."""

    text: str

    def uuid(self, name: str) -> uuid.UUID:
        return uuid.uuid5(_SPACE, f"{self.text}/{name}")

    def number(self, name: str, bits: int) -> int:
        return self.uuid(name).int >> (128 - bits)

    def noise(self, name: str, length: int) -> bytes:
        """Bytes that nothing can be read from, as those of an encrypted disk."""
        return hashlib.shake_256(f"{self.text}/{name}".encode()).digest(length)
