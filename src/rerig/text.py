"""Text that is safe to show: bounded, and without what moves the cursor or hides letters."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""``text`` with everything that does not print as itself escaped (a newline becomes ``\n``).

    Odd bytes of a file name (surrogate escapes) come out as ``\xNN``.
    """
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode's stand-in for one undecodable byte
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def bounded(text: str, characters: int) -> str:
    """``text``, cut with an ellipsis so that it has at most ``characters``."""
    return text if len(text) <= characters else text[: characters - 1] + "…"
