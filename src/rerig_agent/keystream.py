"""Random bytes faster than any disk: the AES-128-CTR keystream of the system's OpenSSL, else the kernel's generator.

No block of it comes twice, at any distance and any alignment, so that nothing compresses or deduplicates it. The kernel
gives some 0.5 GB a second and core, an NVMe takes several; OpenSSL gives more than that on one core.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

_LIBRARIES = ("libcrypto.so.3", "libcrypto.so.1.1")


class Keystream:
    """One stream under its own random key; not to be shared between threads."""

    def __init__(self) -> None:
        self._openssl = _load_openssl()
        self._context = None if self._openssl is None else _new_context(self._openssl)

    def fill(self, buffer: mmap.mmap) -> None:
        """Fill the whole ``buffer`` with fresh random bytes. The GIL is free meanwhile."""
        size = len(buffer)
        if self._openssl is None or self._context is None:
            buffer[:] = os.urandom(size)
            return
        view = (ctypes.c_char * size).from_buffer(buffer)
        written = ctypes.c_int()
        # In place: what the buffer held is combined with the stream, which is as random as the stream itself.
        done = self._openssl.EVP_EncryptUpdate(self._context, view, ctypes.byref(written), view, size)
        del view  # the buffer could not be closed while it is exported
        if done != 1 or written.value != size:
            self._context = None
            buffer[:] = os.urandom(size)


def _load_openssl() -> Any:
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            library.EVP_CIPHER_CTX_new.restype = ctypes.c_void_p
            library.EVP_aes_128_ctr.restype = ctypes.c_void_p
            library.EVP_EncryptInit_ex.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_char_p] * 2
            library.EVP_EncryptUpdate.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int]
        except (OSError, AttributeError):
            continue
        return library
    return None


def _new_context(openssl: Any) -> int | None:
    context = openssl.EVP_CIPHER_CTX_new()
    cipher = openssl.EVP_aes_128_ctr()
    if not context or not cipher:
        return None
    ready = openssl.EVP_EncryptInit_ex(context, cipher, None, os.urandom(16), os.urandom(16))
    return int(context) if ready == 1 else None
