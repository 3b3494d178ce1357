"""The agent takes its own plans only, and says in one sentence what is wrong with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerig_agent.plan_format import PLAN_FORMAT_NUMBER, PlanError, read_plan


def a_case(**changes: Any) -> dict[str, Any]:
    identity = {"kind": "dd_read", "direct": True, "block_bytes": 4096, "read_bytes": 8192}
    return {
        "id": "dd.t1",
        "target": "t1",
        "identity": identity,
        "extent": "whole_file",
        "parameters": {},
        "repeats": [{"number": 1, "seed": 1}],
        "limit_s": 60.0,
        **changes,
    }


def a_plan(**changes: Any) -> dict[str, Any]:
    return {
        "format": "rerig-plan",
        "format_number": PLAN_FORMAT_NUMBER,
        "run_id": "20260101T000000Z-abcd",
        "targets": [{"id": "t1", "label": "m", "path": "/data/m"}],
        "cases": [a_case()],
        **changes,
    }


def read(directory: Path, text: str) -> dict[str, Any]:
    path = directory / "plan.json"
    path.write_text(text)
    return read_plan(path)


def test_a_plan_of_this_format_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(a_plan())) == a_plan()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "rerig-result"}, "not a plan"),
        ({"format_number": PLAN_FORMAT_NUMBER + 1}, "use the agent of the rerig that made it"),
        ({"format_number": None}, "use the agent of the rerig that made it"),
        ({"targets": []}, "unknown target"),
        ({"cases": [a_case(identity={**a_case()["identity"], "kind": "write_all"})]}, "does not know the kind"),
        ({"cases": [a_case(id="../../etc")]}, "no plain name"),
        ({"cases": [{"id": "x.t1"}]}, "incomplete"),
        ({"cases": None}, "incomplete"),
    ],
)
def test_another_plan_is_one_sentence(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        read(tmp_path, json.dumps(a_plan(**changes)))


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 100_000])
def test_what_is_no_plan_at_all_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(PlanError):
        read(tmp_path, text)


def test_a_missing_plan_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="can't be read: No such file"):
        read_plan(tmp_path / "none.json")


@pytest.mark.parametrize("field", sorted(a_case()))
def test_a_case_without_any_of_its_fields_is_named(tmp_path: Path, field: str) -> None:
    case = {name: value for name, value in a_case().items() if name != field}
    with pytest.raises(PlanError, match=f"{field} of a case is missing"):
        read(tmp_path, json.dumps(a_plan(cases=[case])))


@pytest.mark.parametrize(
    "target", [{"id": "t1"}, {"id": "t1", "label": "m"}, {"id": "t1", "label": "m", "scratch": {}}, 7]
)
def test_a_target_without_its_file_is_refused(tmp_path: Path, target: Any) -> None:
    with pytest.raises(PlanError, match="incomplete"):
        read(tmp_path, json.dumps(a_plan(targets=[target])))


def ahead(direct: bool = False, kind: str = "dd_read", **parameters: Any) -> dict[str, Any]:
    return a_case(identity={**a_case()["identity"], "direct": direct, "kind": kind}, parameters=parameters)


@pytest.mark.parametrize("case", [ahead(read_ahead_kb=0), ahead(read_ahead_kb=16384), ahead(read_ahead_kb=None)])
def test_a_read_ahead_is_a_number_of_a_read_through_the_cache(tmp_path: Path, case: dict[str, Any]) -> None:
    assert read(tmp_path, json.dumps(a_plan(cases=[case])))["cases"] == [case]


@pytest.mark.parametrize(
    "case",
    [
        ahead(read_ahead_kb="128"),
        ahead(read_ahead_kb=True),
        ahead(read_ahead_kb=-4),
        ahead(read_ahead_kb=1.5),
        ahead(read_ahead_kb=10**9),
        ahead(direct=True, read_ahead_kb=128),
        ahead(kind="dd_reread", read_ahead_kb=128),
    ],
)
def test_another_read_ahead_is_refused(tmp_path: Path, case: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="read_ahead_kb"):
        read(tmp_path, json.dumps(a_plan(cases=[case])))
