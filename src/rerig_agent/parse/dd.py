"""What dd says when it ends: GNU's in every language, busybox', toybox' and the BSDs'.

No word of it is relied on. A summary is a line that has a number of bytes, then a number of seconds, then a rate with
a slash; a record line is one that has N+M and no other number. Rates are returned as printed and never computed with:
they are rounded, and busybox' are binary though they look decimal.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from . import ParseError

__all__ = ["parse_dd", "parse_dd_records"]

# A summary has some 200 signs. Longer lines are none, so no pattern ever runs over much text.
_LONGEST_LINE = 1000
# Signs that group digits in some locales' way of printing the bytes ("%'jd" in the Czech catalog).
_GROUPED = re.compile("(?<=[0-9])[\u00a0\u202f\u2009'’٬](?=[0-9]{3}(?![0-9]))")
_BRACKETS = re.compile(r"\([^()]*\)")
_RATE_IN_BRACKETS = re.compile(r"\(([^()]*/[^()]*)\)[ .]*\Z")
_NUMBER = re.compile(r"[0-9]{1,30}(?:[.,][0-9]{1,30})*(?:[eE][-+]?[0-9]{1,4})?")
_BYTES = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?![0-9.,])|[0-9]{1,30}(?:[.,][0-9]{2,3})*(?![0-9.,])")
_RATE_UNIT = re.compile(r"[^0-9/,]{0,20}/[^0-9/,]{1,20}\Z")
_ENDLESS_RATE = re.compile(r"[^0-9,、،;]{0,20}[,、،;]\s*([^0-9/,、،;]{1,40}/[^0-9/,]{1,20})\Z")
_UNIT = re.compile(r"\s*[kKMGTPEZYRQ]i?B?\b")
_RECORDS = re.compile(r"(?<![0-9])([0-9]{1,24})\+([0-9]{1,24})(?![0-9])")
_SPOKEN_BY_DD = re.compile(r"(?:\A|[\s/])dd: ?")
_GERMAN_SINGLE_BYTE = "ein Byte kopiert"  # coreutils 7 to 8.23 spell this one out


@dataclass(frozen=True)
class _Summary:
    size: int
    duration_s: float
    rate: str


def parse_dd(text: str) -> dict[str, Any]:
    """Read dd's stderr -> its last summary.

    {"bytes": int, "duration_s": float, "full_records_in", "partial_records_in", "full_records_out",
    "partial_records_out": int | None where not printed, "printed_rate": "422 MB/s", "warnings": [str], "errors": [str],
    lines that dd wrote about trouble, in its language; they may name paths}. Where dd was asked for its state several
    times the last answer counts. ``duration_s`` is 0.0 where dd printed 0 and an infinite rate. ParseError: no
    summary, as when dd could not open its file, or from a dd that prints none (parse_dd_records reads the rest).
    """
    found: _Summary | None = None
    records: list[tuple[int, int]] = []
    reported: list[tuple[int, int]] = []
    warnings: list[str] = []
    errors: list[str] = []
    complete = False
    for line in _lines(text):
        spoken = _trouble(line, warnings, errors)
        counted = None if spoken else _records(line)
        summary = None if spoken or counted else _summary(line)
        if counted:
            records.append(counted)
        elif summary is not None:
            # Before its own summary dd counts the records; without those lines it was a progress report.
            found, complete, reported, records = summary, bool(records), records, []
    if found is None:
        raise ParseError("dd printed no summary of bytes and seconds")
    if not complete or records:
        warnings.append("no record counts belong to the last summary, so it may be a progress report")
    return {
        "bytes": found.size,
        "duration_s": found.duration_s,
        **_named(reported),
        "printed_rate": found.rate,
        "warnings": warnings,
        "errors": errors,
    }


def parse_dd_records(text: str) -> dict[str, Any]:
    """Only the record counts, for a dd that prints nothing else (a small busybox, ``status=noxfer``).

    The four keys "full_records_in" … of parse_dd. ParseError: no record line.
    """
    records = [found for found in map(_records, _lines(text)) if found]
    if not records:
        raise ParseError("dd printed no record counts")
    return _named(records[-2:] if len(records) % 2 == 0 else records[-1:])


def _named(records: list[tuple[int, int]]) -> dict[str, int | None]:
    into, out = (records[-2], records[-1]) if len(records) >= 2 else (records[-1] if records else None, None)
    return {
        "full_records_in": into[0] if into else None,
        "partial_records_in": into[1] if into else None,
        "full_records_out": out[0] if out else None,
        "partial_records_out": out[1] if out else None,
    }


def _lines(text: str) -> list[str]:
    """Lines as a terminal would show them: progress reports end in a carriage return. Marks of direction are dropped,
    every script's digits and full-width signs become ASCII."""
    return [_plain(line) for line in re.split(r"[\r\n]+", text) if len(line) <= _LONGEST_LINE]


def _plain(line: str) -> str:
    if line.isascii():
        return _GROUPED.sub("", line).strip()
    signs = []
    for sign in line:
        if sign.isascii():
            signs.append(sign)
        elif unicodedata.category(sign) == "Nd":
            signs.append(str(unicodedata.decimal(sign)))
        elif sign == "٫":
            signs.append(".")
        elif unicodedata.category(sign) != "Cf":
            signs.append(sign)
    return unicodedata.normalize("NFKC", _GROUPED.sub("", "".join(signs))).strip()


def _records(line: str) -> tuple[int, int] | None:
    match = _RECORDS.search(line)
    if not match or any(sign.isdigit() for sign in line[: match.start()] + line[match.end() :]):
        return None
    return int(match.group(1)), int(match.group(2))


def _trouble(line: str, warnings: list[str], errors: list[str]) -> bool:
    """Whether dd or the shell speaks of dd in this line, "dd: …", which then is a warning or an error."""
    if not _SPOKEN_BY_DD.search(line):
        return False
    # "warning: partial read (4096 bytes); suggest iflag=fullblock": the option's name is in every language.
    (warnings if "iflag=fullblock" in line or "warning:" in line else errors).append(line)
    return True


def _summary(line: str) -> _Summary | None:
    rate, body = _split_rate(line)
    if rate is None:
        return None
    numbers = list(_NUMBER.finditer(body))
    if not numbers:
        return None
    seconds = numbers[-1]
    duration_s = _seconds(body, seconds)
    size = _size(body[: seconds.start()])
    if duration_s is None or size is None:
        return None
    return _Summary(size, duration_s, rate)


def _split_rate(line: str) -> tuple[str | None, str]:
    """(the rate, the line before it without brackets); (None, "") where the line doesn't end in a rate."""
    in_brackets = _RATE_IN_BRACKETS.search(line)
    if in_brackets:  # BSD
        return in_brackets.group(1).strip(), _BRACKETS.sub(" ", line[: in_brackets.start()])
    body = _BRACKETS.sub(" ", line).rstrip(" .")
    numbers = list(_NUMBER.finditer(body))
    if not numbers:
        return None, ""
    last = numbers[-1]
    endless = _ENDLESS_RATE.match(body, last.end())  # "Infinity B/s", in words
    if endless:
        return endless.group(1).strip(), body[: last.end()]
    if _RATE_UNIT.match(body, last.end()):
        return body[last.start() :], body[: last.start()]
    return None, ""


def _seconds(body: str, match: re.Match[str]) -> float | None:
    """The sign before the last digits is the decimal one: C's %g groups no digits."""
    if body[: match.start()].endswith("-"):
        return None
    value = float(re.sub(r"[.,](?=[^.,]*[.,])", "", match.group()).replace(",", "."))
    return value if value < float("inf") else None


def _size(before: str) -> int | None:
    """The last whole number before the seconds, its groups of digits joined."""
    if before.startswith(_GERMAN_SINGLE_BYTE):
        return 1
    found = list(_BYTES.finditer(before))
    if not found:
        return None
    last = found[-1]
    # "-5 bytes", "1.5 bytes" and "1234 MB" are no number of bytes.
    if before[: last.start()].endswith(("-", ".", ",")) or _UNIT.match(before, last.end()):
        return None
    return int(re.sub(r"[., ]", "", last.group()))
