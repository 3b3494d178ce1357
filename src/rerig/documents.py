"""Reads a document from a file, strictly: whatever is in the file, the answer is a dict or one sentence.

Refusing is quick: the size is looked at before anything is read, and the number of values before
anything is parsed. ``validate`` and its kin live in rerig.schema.
"""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

from rerig.errors import UserError
from rerig.schema import MAX_VALUES, structure_problem, validate_or_raise, version_problem
from rerig.text import bounded, printable

MAX_BYTES = 64_000_000
# Longer ones take time that grows with the square, and no count here needs more than 16 digits.
_MAX_DIGITS = 40


class _RefusedError(ValueError):
    """Legal for Python's JSON reader, but not for a document."""


def load_document(path: str | os.PathLike[str], expected: str | None = None) -> dict[str, Any]:
    """The document in the JSON file ``path``, of a format and version that this rerig reads.

    ``expected`` is the format it must have ("rerig-result"). The schema is not applied: see
    ``load_valid_document``. Raises UserError with one sentence for anything else.
    """
    name = shown(path)
    text = decode(read_bytes(path, MAX_BYTES), name)
    # Values are parted by commas and opened containers, so this is an upper bound (strings hold some too).
    if sum(text.count(sign) for sign in ",[{") > 4 * MAX_VALUES:
        raise UserError(f"{name} holds more values than any of rerig's documents can.")
    document = _parse(text, name)
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise UserError(f"{name} holds {kind}, not one of rerig's documents.")
    structure = structure_problem(document)
    if structure:
        raise UserError(f"{name} can't be used: {printable(bounded(structure, 200))}.")
    version = version_problem(document)
    if version:
        raise UserError(f"{name} {version}.")
    if expected is not None and document["format"] != expected:
        raise UserError(f"{name} is a {document['format']}, but a {expected} is needed here.")
    return document


def load_valid_document(path: str | os.PathLike[str], expected: str | None = None) -> dict[str, Any]:
    """``load_document``, and the schema and its rules hold too."""
    document = load_document(path, expected)
    validate_or_raise(document, shown(path))
    return document


def shown(path: str | os.PathLike[str]) -> str:
    """A file's name as a sentence shows it: quoted, printable, bounded."""
    return "'" + bounded(printable(os.fspath(path)), 200) + "'"


def read_bytes(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """The bytes of the regular file ``path``, at most ``max_bytes``; UserError for anything else."""
    name = shown(path)
    too_large = f"at most {max_bytes / 1e6:g} MB are read."
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{name} is a directory, not a file.")
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{name} is not a regular file.")
        if status.st_size > max_bytes:
            raise UserError(f"{name} is too large ({status.st_size / 1e6:,.1f} MB): {too_large}")
        with Path(path).open("rb") as file:
            data = file.read(max_bytes + 1)  # bounded even if it grew since
    except OSError as error:
        raise UserError(f"{name} can't be read: {error.strerror or error}.") from None
    except ValueError:  # an embedded NUL can't be in a file name
        raise UserError(f"{name} is not a file name.") from None
    if len(data) > max_bytes:
        raise UserError(f"{name} is too large: {too_large}")
    return data


def decode(data: bytes, name: str) -> str:
    """``data`` as UTF-8 text (an editor's byte-order mark is harmless); UserError that shows ``name`` otherwise."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 text (at byte {error.start:,}).") from None


def _parse(text: str, name: str) -> object:
    if not text.strip():
        raise UserError(f"{name} is empty.")
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UserError(f"{name} is not JSON: {error.msg} at {where}.") from None
    except _RefusedError as error:
        raise UserError(f"{name} {error}.") from None
    except RecursionError:
        raise UserError(f"{name} is nested too deeply to be one of rerig's documents.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RefusedError(f"holds the key {bounded(printable(repr(key)), 60)} twice in one object")
            seen.add(key)
    return found


def _constant(word: str) -> NoReturn:
    raise _RefusedError(f"holds {word}, which is not JSON")


def _float(digits: str) -> float:
    value = float(digits) if len(digits) <= 10 * _MAX_DIGITS else math.inf
    if not math.isfinite(value):
        raise _RefusedError(f"holds the number {bounded(digits, 40)}, which is too large")
    return value


def _int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise _RefusedError(f"holds the number {bounded(digits, 40)}, which is too large")
    return int(digits)
