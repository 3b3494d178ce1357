"""Options of a rerun that need more reading than a flag: labels and repeats; and how to show what came of it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from rerig.errors import UserError
from rerig.text import bounded

LONGEST_LABEL = 200
MOST_REPEATS = 100
LONGEST_WORD = 4096  # as a suite's


@dataclass(frozen=True)
class Output:
    """What goes to stdout: tables, documents as JSON, or (``quiet``) where the results are and nothing else."""

    json: bool = False
    quiet: bool = False


def parse_labels(texts: list[str]) -> dict[str, str]:
    """``["nas=4-bay, 10GbE"]`` as ``{"nas": "4-bay, 10GbE"}``. Raises UserError for anything else."""
    labels = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", key):
            raise UserError(f"--label {text!r} must look like nas='4-bay, 10GbE' (a lower-case word, =, a text).", 2)
        if not value or len(value) > LONGEST_LABEL or not value.isprintable():
            raise UserError(f"--label {key} must have a printable text of 1 to {LONGEST_LABEL} characters.", 2)
        if key in labels:
            raise UserError(f"--label {key} is given twice.", 2)
        labels[key] = value
    return labels


def parse_command(text: str) -> list[str] | None:
    """The words of a command, quoted as for a shell though none runs it; an empty text is None. Raises UserError."""
    if not text:
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        raise UserError(f"--gpu-load {bounded(text, 80)!r} has a quote that is not closed.", 2) from None
    if not words or not words[0] or "\0" in text or any(len(word) > LONGEST_WORD for word in words):
        raise UserError(f"--gpu-load {bounded(text, 80)!r} is no command: write it as '/path/to/program --option'.", 2)
    return words


def parse_repeats(text: str) -> int | None:
    """The number of repeats, 1 to 100; an empty text is None (as the suite says). Raises UserError."""
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= MOST_REPEATS:
        raise UserError(f"--repeats {text!r} must be a number from 1 to {MOST_REPEATS}.", 2)
    return int(text)
