"""A plan as a person reads it."""

from __future__ import annotations

import json

import pytest

from raw_runs import GIB, dd_case, fio_case
from rerig.plan import FIO_MISSING
from rerig.report.plans import print_plan, summary


def plan(*cases: dict[str, object], scratch: bool = False) -> dict[str, object]:
    target = {"id": "t1", "scratch": {"directory": "/data", "bytes": 4 * GIB}} if scratch else {"id": "t1"}
    return {"targets": [target], "cases": list(cases)}


def test_the_sum_tells_runs_time_and_bytes() -> None:
    assert summary(plan(dd_case(), fio_case())) == "6 runs, about 12 s, at most 6 GiB read."


def test_what_is_written_first_is_told_first() -> None:
    assert summary(plan(dd_case(), scratch=True)).startswith("First a scratch file of 4 GiB is written")


def test_skipped_cases_are_not_counted() -> None:
    assert summary(plan(dd_case(), {**fio_case(), "skip": FIO_MISSING})).startswith("3 runs")


def test_every_command_is_printed_under_its_case(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"dd if=/data/{number}" for number in range(3)] + ["# skipped: fio"] * 3
    print_plan(plan(dd_case(), {**fio_case(), "skip": FIO_MISSING}), lambda _plan: lines, as_json=False)
    text = capsys.readouterr().out
    assert "# dd-8m.t1: 3 × about 2.0 s, at most 1 GiB each\ndd if=/data/0\ndd if=/data/1\n" in text
    assert "# rand-64k-qd4.t1: skipped. The program fio is not installed" in text


def test_as_json_it_is_the_plan_itself(capsys: pytest.CaptureFixture[str]) -> None:
    print_plan(plan(dd_case()), lambda _plan: [], as_json=True)
    assert json.loads(capsys.readouterr().out) == plan(dd_case())
