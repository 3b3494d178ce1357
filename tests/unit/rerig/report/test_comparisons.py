"""Comparisons as text and as JSON, and what can't be compared at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.report.comparisons import print_pair, print_published, print_published_list, printed_figure

EXAMPLES = Path(__file__).resolve().parents[4] / "schemas" / "examples" / "valid" / "result"


def example(name: str = "local-scratch-file.json") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return document


def test_power_and_heat_are_compared_in_their_own_units(capsys: pytest.CaptureFixture[str]) -> None:
    loads = example("power-budget-of-a-board.json")
    print_published(loads, "jetson-moe-ssd-2026", as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "21.5 W (n not stated) 19.5 W (n 2) ×0.907" in text
    assert "-0.8 °C" in text
    print_pair(loads, loads, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "GPU: highest tj" in text
    assert "no difference shown" in text
    print_published(loads, "jetson-moe-ssd-2026", as_json=True)
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["quantity"] for row in rows} == {"bandwidth", "input_power_highest", "tj_highest", "gpu_clock_lowest"}


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


def test_the_list_stands_left_aligned_under_its_headings(capsys: pytest.CaptureFixture[str]) -> None:
    print_published_list(as_json=False)
    lines = capsys.readouterr().out.splitlines()
    heading = next(line for line in lines if line.split()[:3] == ["claim", "what", "figure"])
    printed = [line for line in lines if " MB/s, sd not stated" in line]
    assert len(printed) == 5
    for line in printed:
        assert line[heading.index("figure")].isdigit()
        assert line[heading.index("figure") - 1] == " "


@pytest.mark.parametrize(
    ("figure", "last_digit", "printed"),
    [
        ({"values": [1.4, 1.45], "stated_sd": "not stated"}, 0.01, "1.40, 1.45 MB/s"),
        ({"values": [114], "stated_sd": 0.456}, 1, "114 MB/s, sd 0.456 stated"),
        ({"mean": 311, "sd": 1.4, "n": 5}, 0.1, "311.0 MB/s, sd 1.4, n 5"),
        ({"low": 2380, "high": 2510, "n": "not stated"}, 10, "2,380–2,510 MB/s, n not stated"),
    ],
)
def test_a_figure_stands_as_its_source_prints_it(figure: dict[str, Any], last_digit: float, printed: str) -> None:
    assert printed_figure({"unit": "MB/s", "figure": figure, "last_digit": last_digit}) == printed


def test_a_comparison_shows_both_ns_and_the_interval_in_megabytes_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    print_published(example("nas-and-local-disk.json"), "nas-vs-local-2026", as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "114 MB/s (n 3) 975 MB/s (n 3) ×8.58 111.1 to 116.2 MB/s differs" in text
    print_published(example(), "jetson-moe-ssd-2026", as_json=False)
    assert "200 MB/s (n not stated) 311 MB/s (n 3)" in " ".join(capsys.readouterr().out.split())


def test_of_several_targets_each_row_names_its_own_and_of_one_target_none_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Both files have the same name, so the id tells them apart."""
    print_published(example("nas-and-local-disk.json"), "nas-vs-local-2026", as_json=False)
    text = capsys.readouterr().out
    assert text.count("t1 flux.safetensors") == 2
    assert text.count("t2 flux.safetensors") == 1
    print_published(example(), "nas-vs-local-2026", as_json=False)
    assert "t1 " not in capsys.readouterr().out


def test_two_results_show_both_ns_their_difference_in_megabytes_a_second_and_their_targets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_pair(example("nas-and-local-disk.json"), example(), as_json=False)
    text = capsys.readouterr().out
    assert "first: t2 flux.safetensors" in text
    assert "second: t1 scratch file" in text
    joined = " ".join(text.split())
    assert "1,451 MB/s (n 3) 2,411 MB/s (n 3) ×1.66 +953.3 to +965.0 MB/s the second is" in joined


def test_two_results_of_one_target_each_name_none(capsys: pytest.CaptureFixture[str]) -> None:
    print_pair(example(), example(), as_json=False)
    assert "scratch file" not in capsys.readouterr().out


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
    assert "1,618 MB/s, sd not stated, n not stated" in text
    assert "114, 114, 114, 114, 114 MB/s, sd 0.456 stated" in text
    assert "얼마나 빠른가 — 순차 읽기: table, row" in text
    print_published_list(as_json=True)
    assert len(json.loads(capsys.readouterr().out)) == 2
