"""Comparisons as text and as JSON, and what can't be compared at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.report.comparisons import print_pair, print_published, print_published_list

EXAMPLES = Path(__file__).resolve().parents[4] / "schemas" / "examples" / "valid" / "result"


def example(name: str = "local-scratch-file.json") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return document


def test_each_claim_has_its_verdict_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    print_published(example(), "nas-vs-local-2026", as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "differs by +65.9 %" in text
    assert "not measured" in text
    print_published(example(), "jetson-moe-ssd-2026", as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "fio engine not stated in the source; here io_uring" in text


def test_a_comparison_as_json_holds_the_words_too(capsys: pytest.CaptureFixture[str]) -> None:
    print_published(example(), "nas-vs-local-2026", as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert {row["verdict"] for row in document["rows"]} >= {"differs", "not_measured"}
    assert all(row["words"] for row in document["rows"])


def test_nothing_to_compare_is_one_sentence() -> None:
    refused = example("nas-and-a-refused-file.json")
    refused["cases"] = []
    with pytest.raises(UserError, match="Nothing in this result can be compared with nas-vs-local-2026"):
        print_published(refused, "nas-vs-local-2026", as_json=False)
    with pytest.raises(UserError, match="no measured case in common"):
        print_pair(refused, example(), as_json=False)


def test_two_results_are_compared_case_by_case(capsys: pytest.CaptureFixture[str]) -> None:
    print_pair(example(), example(), as_json=False)
    text = capsys.readouterr().out
    assert "no difference shown" in text
    assert "differs" not in text


def test_the_published_figures_are_listed_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    print_published_list(as_json=False)
    text = capsys.readouterr().out
    assert "nas-vs-local-2026" in text
    assert "jetson-moe-ssd-2026" in text
    assert "1,618 MB/s" in text
    print_published_list(as_json=True)
    assert len(json.loads(capsys.readouterr().out)) == 2
