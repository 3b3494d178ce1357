"""Finds fio's JSON reports in what fio wrote: amid notes, errors, progress, text reports and earlier reports."""

from __future__ import annotations

import json
import re
from typing import Any

from . import ParseError

LONGEST_TEXT = 64 * 1024 * 1024
# Every failed attempt may read to the end of the text, so there are few of them.
_FAILURES_ALLOWED = 24
_BEGINS_WITH_VERSION = re.compile(r'\{(?=\s{0,80}"fio version"\s{0,80}:)')
_BEGINS_A_LINE = re.compile(r"(?:\A|[\r\n])[ \t]{0,80}(?=\{)")
# C prints these where JSON has no number.
_NOT_A_NUMBER = re.compile(r"([:\[,][ \t]{0,80})[-+]?(?:nan|inf)(?:inity|\([a-z0-9]{0,20}\))?(?=\s{0,80}[,}\]])", re.I)
# Lines of other streams that a terminal or a pipe mixed into the report.
_FOREIGN_LINE = re.compile(r"(?:(?<=[\r\n])|\A)(?:Jobs: |fio: |note: |fs: )[^\r\n]*[\r\n]{0,2}")
_DECODER = json.JSONDecoder()


def last_report(text: str) -> tuple[dict[str, Any], str]:
    """(the last complete report that has jobs, the text outside all reports).

    C's nan and inf, which JSON doesn't have, become None. ParseError: there is no complete report with a job in it, or
    the text is longer than 64 MiB.
    """
    if len(text) > LONGEST_TEXT:
        raise ParseError("fio's output is longer than 64 MiB")
    reports, failures = _complete_reports(text)
    mended_text = text
    if failures or not reports:
        mended_text, foreign = _mended(text)
        mended, _ = _complete_reports(mended_text)
        if len(mended) > len(reports):
            reports = mended
            return reports[-1][2], foreign + _outside(mended_text, reports)
    if not reports:
        raise ParseError("fio's output holds no complete JSON report with a job in it")
    return reports[-1][2], _outside(text, reports)


def _complete_reports(text: str) -> tuple[list[tuple[int, int, dict[str, Any]]], int]:
    """[(start, end, report)] and how many beginnings led to none."""
    for pattern in (_BEGINS_WITH_VERSION, _BEGINS_A_LINE):  # the second for reports whose keys were sorted
        reports, failures, position = [], 0, 0
        while failures < _FAILURES_ALLOWED:
            begin = pattern.search(text, position)
            if begin is None:
                break
            start = text.index("{", begin.start())
            found, position = _decoded(text, start)
            if found is None:
                failures += 1
            elif _has_jobs(found):
                reports.append((start, position, found))
        if reports or failures:
            return reports, failures
    return [], 0


def _decoded(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):  # ValueError: also a number with more digits than Python will read
        return None, start + 1


def _has_jobs(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    jobs = found.get("jobs", found.get("client_stats"))
    return isinstance(jobs, list) and bool(jobs)


def _mended(text: str) -> tuple[str, str]:
    """(the text without lines of other streams, with null for what is no number; those lines)."""
    foreign = "".join(_FOREIGN_LINE.findall(text))
    return _NOT_A_NUMBER.sub(r"\1null", _FOREIGN_LINE.sub("", text)), foreign


def _outside(text: str, reports: list[tuple[int, int, dict[str, Any]]]) -> str:
    pieces, position = [], 0
    for start, end, _ in reports:
        pieces.append(text[position:start])
        position = end
    return "".join([*pieces, text[position:]]).strip()
