"""Random bytes by OpenSSL or by the kernel: never the same twice, and nothing that a compressor could use."""

from __future__ import annotations

import mmap
import re
import zlib
from typing import Any

import pytest

from rerig_agent import keystream
from rerig_agent.keystream import Keystream

SIZE = 2**20


@pytest.fixture(params=["openssl", "kernel"])
def stream(request: Any, monkeypatch: pytest.MonkeyPatch) -> Keystream:
    if request.param == "kernel":
        monkeypatch.setattr(keystream, "_LIBRARIES", ())
    made = Keystream()
    if request.param == "openssl" and made._context is None:
        pytest.skip("this machine has no OpenSSL library")
    return made


def filled(stream: Keystream, size: int = SIZE) -> bytes:
    buffer = mmap.mmap(-1, size)
    stream.fill(buffer)
    data = bytes(buffer)
    buffer.close()
    return data


def test_nothing_compresses_and_nothing_comes_twice(stream: Keystream) -> None:
    data = b"".join(filled(stream) for _ in range(8))
    assert len(zlib.compress(data, 1)) > len(data)
    chunks = re.findall(b"\x00(.{8})", data, re.DOTALL)
    assert len(set(chunks)) == len(chunks) > 10_000


def test_every_filling_is_new_and_whole(stream: Keystream) -> None:
    first, second = filled(stream), filled(stream)
    assert first != second
    assert first[-4096:].count(0) < 100


def test_two_streams_have_nothing_in_common() -> None:
    first, second = filled(Keystream()), filled(Keystream())
    assert not {first[at : at + 16] for at in range(0, SIZE, 16)} & {second[at : at + 16] for at in range(0, SIZE, 16)}


def test_a_library_without_the_cipher_leaves_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystream, "_LIBRARIES", ("libc.so.6", "libnonesuch.so.1"))
    assert len(set(filled(Keystream(), 4096))) > 200
