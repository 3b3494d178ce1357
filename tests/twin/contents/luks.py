"""LUKS headers, version 1 and 2, with one key slot. No passphrase opens them: the key material is noise.

Layout: "LUKS1 On-Disk Format Specification" 1.2.3 and "LUKS2 On-Disk Format Specification" 1.1, both by the cryptsetup
project. LUKS2 has its header twice; each copy holds its own SHA-256, over header and JSON with the field set to zero.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct

from twin.contents.seed import Seed
from twin.contents.sparse import MIB, Piece

KEY_BYTES = 64
STRIPES = 4000
HEADER_BYTES = 16 * 1024  # of LUKS2, with its JSON
PAYLOAD_START = {1: 2 * MIB, 2: 16 * MIB}

_SLOT_START = {1: 4096, 2: 32 * 1024}
_SLOT_BYTES = 256 * 1024  # KEY_BYTES * STRIPES, rounded up
_CHECKSUM_AT = 448


def pieces_1(size_bytes: int, seed: Seed) -> list[Piece]:
    header = struct.pack(
        ">6sH32s32s32sII20s32sI40s",
        b"LUKS\xba\xbe",
        1,
        b"aes",
        b"xts-plain64",
        b"sha256",
        PAYLOAD_START[1] // 512,
        KEY_BYTES,
        seed.noise("luks1 digest", 20),
        seed.noise("luks1 digest salt", 32),
        100_000,
        str(seed.uuid("luks1")).encode(),
    )
    for slot in range(8):
        state = 0x00AC71F3 if slot == 0 else 0x0000DEAD
        iterations, salt = (1_500_000, seed.noise("luks1 salt", 32)) if slot == 0 else (0, b"")
        start = _SLOT_START[1] + slot * _SLOT_BYTES
        header += struct.pack(">II32sII", state, iterations, salt, start // 512, STRIPES)
    return [(0, header), *_secrets(1, seed)]


def pieces_2(size_bytes: int, seed: Seed) -> list[Piece]:
    return [*((at, _header_2(at, seed)) for at in (0, HEADER_BYTES)), *_secrets(2, seed)]


def _secrets(version: int, seed: Seed) -> list[Piece]:
    """The first key slot, and the first encrypted bytes of what the volume holds."""
    slot = seed.noise(f"luks{version} slot", KEY_BYTES * STRIPES)
    return [(_SLOT_START[version], slot), (PAYLOAD_START[version], seed.noise(f"luks{version} payload", 65536))]


def _header_2(offset: int, seed: Seed) -> bytes:
    start = struct.pack(
        ">6sHQQ48s32s64s40s48sQ",
        b"SKUL\xba\xbe" if offset else b"LUKS\xba\xbe",
        2,
        HEADER_BYTES,
        3,  # how often the header was written
        b"",
        b"sha256",
        seed.noise(f"luks2 header salt {offset}", 64),
        str(seed.uuid("luks2")).encode(),
        b"",
        offset,
    ).ljust(4096, b"\0")
    area = json.dumps(_description(seed), separators=(",", ":")).encode().ljust(HEADER_BYTES - 4096, b"\0")
    digest = hashlib.sha256(start + area).digest()
    return start[:_CHECKSUM_AT] + digest + start[_CHECKSUM_AT + len(digest) :] + area


def _description(seed: Seed) -> dict[str, object]:
    def noise(name: str, length: int) -> str:
        return base64.b64encode(seed.noise(name, length)).decode()

    cipher = {"encryption": "aes-xts-plain64", "key_size": KEY_BYTES}
    slot = {
        "type": "luks2",
        "key_size": KEY_BYTES,
        "af": {"type": "luks1", "stripes": STRIPES, "hash": "sha256"},
        "area": {"type": "raw", "offset": str(_SLOT_START[2]), "size": str(_SLOT_BYTES + 2048), **cipher},
        "kdf": {"type": "argon2id", "time": 4, "memory": 1048576, "cpus": 4, "salt": noise("luks2 salt", 32)},
    }
    segment = {
        "type": "crypt",
        "offset": str(PAYLOAD_START[2]),
        "size": "dynamic",
        "iv_tweak": "0",
        "encryption": "aes-xts-plain64",
        "sector_size": 512,
    }
    digest = {
        "type": "pbkdf2",
        "keyslots": ["0"],
        "segments": ["0"],
        "hash": "sha256",
        "iterations": 100_000,
        "salt": noise("luks2 digest salt", 32),
        "digest": noise("luks2 digest", 32),
    }
    sizes = {"json_size": str(HEADER_BYTES - 4096), "keyslots_size": str(PAYLOAD_START[2] - 2 * HEADER_BYTES)}
    return {
        "keyslots": {"0": slot},
        "tokens": {},
        "segments": {"0": segment},
        "digests": {"0": digest},
        "config": sizes,
    }
