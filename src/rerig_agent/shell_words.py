"""Words as a person can paste them into a shell, and as no terminal takes them for commands of its own."""

from __future__ import annotations

import os
import shlex


def shell_word(word: str) -> str:
    """``word`` quoted for a POSIX shell; control characters and odd bytes as in ``$'\\n'``, for bash and zsh."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _escaped(sign: str) -> str:
    if sign in "'\\":
        return "\\" + sign
    if sign.isprintable():
        return sign
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(sign))
