"""The checksums of superblocks, from the published definitions of the codes."""

from __future__ import annotations

import functools
import zlib

_U32 = 0xFFFFFFFF
_U64 = 0xFFFFFFFFFFFFFFFF


def crc32c(data: bytes) -> int:
    """CRC-32C as btrfs and XFS store it (RFC 3720, appendix B.4: 0x1EDC6F41 reflected, both ends inverted)."""
    table = _crc32c_table()
    value = _U32
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ _U32


def crc64_we(data: bytes) -> int:
    """CRC-64/WE as bcache stores it (polynomial 0x42F0E1EBA9EA3693 of ECMA-182, both ends inverted)."""
    table = _crc64_table()
    value = _U64
    for byte in data:
        value = table[(value >> 56) ^ byte] ^ (value << 8 & _U64)
    return value ^ _U64


def crc32_lvm(data: bytes) -> int:
    """LVM2's: the CRC-32 of Ethernet that starts with 0xF597A6CF and isn't inverted at the end."""
    return zlib.crc32(data, 0xF597A6CF ^ _U32) ^ _U32


def sum32(data: bytes) -> int:
    """md's: little-endian words of 32 bits added up, what runs over added again; two last bytes are half a word."""
    total = sum(int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))
    return (total & _U32) + (total >> 32) & _U32


@functools.cache
def _crc32c_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


@functools.cache
def _crc64_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 56
        for _ in range(8):
            value = (value << 1 & _U64) ^ (0x42F0E1EBA9EA3693 if value >> 63 else 0)
        table.append(value)
    return table
