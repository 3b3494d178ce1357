"""The lines of a tool's output or of a small file that nobody vouches for."""

from __future__ import annotations

import re

from . import ParseError

# Of the texts read this way, the longest lines (tegrastats of the largest boards) have a thousand characters, and the
# longest files (nvpmodel's configurations) some hundred lines. What is far beyond is something else, or an attack.
LONGEST_LINE = 16 * 1024
LONGEST_TEXT = 2**20
# "$ nvpmodel -q", "user@board:~$ sudo nvpmodel -q": the command above a recording of its output.
_PROMPT = re.compile(r"(?:\$|[\w.-]{1,64}@[\w.-]{1,64}:[^\s$#]{0,200}[$#])(?: |\Z)", re.ASCII)


def split_lines(text: str, what: str, longest_text: int = LONGEST_TEXT) -> list[str]:
    """The lines without blanks and carriage returns at their ends; those with a shell's prompt are left out.

    ParseError, which names ``what`` was expected: NULs (a file after a power loss), too long a line or text.
    """
    if len(text) > longest_text:
        raise ParseError(f"this is no {what}: it is too long")
    if "\0" in text:
        raise ParseError(f"this is no {what}: it holds NUL characters")
    lines = text.split("\n")
    if any(len(line) > LONGEST_LINE for line in lines):
        raise ParseError(f"this is no {what}: a line is too long")
    stripped = (line.strip(" \t\r") for line in lines)
    return [line for line in stripped if not _PROMPT.match(line)]
