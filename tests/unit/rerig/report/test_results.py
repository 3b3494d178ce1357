"""What a result looks like on the terminal: figures, published figures, ratios, reasons and doubts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerig.report import results
from rerig.report.board import board_lines
from rerig.report.results import print_result, print_run, sessions_lines

EXAMPLES = Path(__file__).resolve().parents[4] / "schemas" / "examples" / "valid" / "result"


def shown(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    print_result(json.loads((EXAMPLES / name).read_text(encoding="utf-8")))
    return " ".join(capsys.readouterr().out.split())


def test_the_published_figure_and_its_verdict_stand_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown("local-scratch-file.json", capsys)
    assert "2,411 MB/s (2,407–2,413) 1,453 MB/s, ×1.66, differs by +65.9 % (1)" in text
    assert "311 MB/s (310–312) 200 MB/s, ×1.56, too loose to decide (2)" in text
    assert "(1) nas-vs-local-2026 (2) jetson-moe-ssd-2026" in text


def test_two_files_stand_side_by_side_with_their_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown("nas-and-local-disk.json", capsys)
    assert "t2/t1" in text
    assert "975 MB/s (970–981) 1,451 MB/s (1,450–1,452) ×1.49" in text
    assert "sequential 2 GiB / 4 GiB" in text
    assert "NFS (nfs4); can't be seen from here: the NAS's RAM" in text
    assert "nas: 4-bay, 10GbE, RAID 5" in text


def test_a_jetson_has_one_line_about_its_super_mode(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown("jetson-whose-mode-changed.json", capsys)
    assert (
        "Board: Orin Nano 8GB (L4T 36.4.7), not wholly Super: All three layers are Super, but the mode is 25W, which "
        "holds the GPU at 918 MHz." in text
    )
    assert "The run: the power mode changed during the run." in text
    assert "Board:" not in shown("local-scratch-file.json", capsys)


def test_a_board_that_rerig_does_not_know_is_called_a_jetson() -> None:
    machine = json.loads((EXAMPLES / "jetson-whose-mode-changed.json").read_text(encoding="utf-8"))["machine"]
    unknown = {**machine["after"]["board_state"], "verdict": "unknown", "name": None, "release": None, "cause": "Dark."}
    assert board_lines({"before": None, "after": {"board_state": unknown}}) == [
        "Board: a Jetson, not known whether Super: Dark."
    ]
    assert board_lines({"before": None, "after": None}) == []


def test_a_power_budget_has_a_table_of_its_own_with_the_posts_figures(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown("power-budget-of-a-board.json", capsys)
    assert "90 s of load on every processor and the GPU [a] [b] repeat 1 repeat 2 repeat 3" in text
    assert "processors under load 6 of 6 6 of 6 6 of 6" in text
    assert "mean load of the GPU 99% 99% 0%" in text
    assert "highest input power 19.5 W 19.5 W 19.5 W 21.5 W, ×0.907, too loose to decide (1)" in text
    assert "highest tj 70.2 °C 70.2 °C 70.2 °C 71.1 °C, -0.8 °C, too loose to decide (1)" in text
    assert "lowest GPU clock 1,020 MHz, held 918 MHz, 88% at 1,020 MHz 306 MHz, 0% at 1,020 MHz" in text
    assert "1,020 MHz, ×0.95, too loose to decide (1)" in text
    assert "(1) jetson-moe-ssd-2026" in text
    assert "could not be started" in text
    assert "min–max" not in text


def test_what_is_missing_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown("stopped-with-refusals-and-skips.json", capsys)
    assert "t2 in-memory.bin: not measured" in text
    assert "fio is not installed" in text
    assert "the run was stopped" in text
    assert "Verdict: doubtful" in text


def test_every_mark_in_the_table_has_its_advice(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown("stopped-with-refusals-and-skips.json", capsys)
    for mark in "abcd":
        assert text.count(f"[{mark}]") >= 2
    assert "a cache served the rest" in text


def test_a_doubt_is_shown_with_its_case_and_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((EXAMPLES / "local-scratch-file.json").read_text(encoding="utf-8"))
    found = next(case for case in document["cases"] if case["validity"]["issues"])
    print_result(document)
    assert f"{found['id']}, repeat" in (text := capsys.readouterr().out)
    assert found["validity"]["issues"][0]["what"] in text


def test_a_figure_of_another_size_is_named_and_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((EXAMPLES / "local-scratch-file.json").read_text(encoding="utf-8"))
    document["cases"][0]["identity"]["read_bytes"] //= 2
    print_result(document)
    assert "1,453 MB/s, not compared: other size (1)" in capsys.readouterr().out


def test_markup_in_a_file_name_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    document: dict[str, Any] = json.loads((EXAMPLES / "local-scratch-file.json").read_text(encoding="utf-8"))
    document["targets"][0]["label"] = "[red]m[/red].gguf"
    print_result(document)
    assert "[red]m[/red].gguf" in capsys.readouterr().out


def test_an_unknown_code_of_a_newer_rerig_is_shown_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "KINDS", {})
    assert "[a] short_run" in shown("local-scratch-file.json", capsys)


def test_json_is_the_document_and_quiet_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    path = EXAMPLES / "local-scratch-file.json"
    print_run(path, as_json=True, quiet=False)
    assert json.loads(capsys.readouterr().out) == json.loads(path.read_text(encoding="utf-8"))
    print_run(path, as_json=False, quiet=True)
    assert capsys.readouterr().out == f"{path}\n"


def with_gaps(*gaps: tuple[str | None, float | None]) -> list[dict[str, Any]]:
    """Sessions, each but the last with why it ended and how long the run stood still after it."""
    ends = [why for why, _gap_s in gaps] + [None]
    before = [None, *(gap_s for _why, gap_s in gaps)]
    pairs = enumerate(zip(ends, before, strict=True), start=1)
    return [{"number": number, "stopped_by": why, "gap_before_s": gap_s} for number, (why, gap_s) in pairs]


@pytest.mark.parametrize(
    ("gaps", "pauses"),
    [
        ([("killed", 180.2)], "2 sessions; the run stood still for 3 min after session 1 (killed)."),
        ([("signal", 7300.0)], "2 sessions; the run stood still for 2 h after session 1 (stopped)."),
        ([("killed", None)], "2 sessions; the run stood still for an unknown time after session 1 (killed)."),
        (
            [("error", 12.0), ("killed", 3e5)],
            "3 sessions; the run stood still for 12 s after session 1 (failed), for 3 days after session 2 (killed).",
        ),
        ([("killed", 1.0)] * 9, "10 sessions; the run stood still 9 times."),
    ],
)
def test_a_resumed_run_says_so_in_one_line(gaps: list[tuple[str, float | None]], pauses: str) -> None:
    assert sessions_lines(with_gaps(*gaps)) == ["Measured in " + pauses]


def test_a_run_in_one_go_says_nothing_of_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    assert "session" not in shown("local-scratch-file.json", capsys)
    assert "Measured in 2 sessions; the run stood still for 3 min after" in shown("resumed-after-a-kill.json", capsys)
