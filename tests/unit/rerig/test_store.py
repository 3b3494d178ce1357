"""Writing documents whole, and finding the results that a user names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.store import find_results, new_run_directory, write_document


def test_a_document_is_written_whole_with_readable_hangul(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_document(path, {"label": "한글"})
    assert "한글" in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_a_file_name_that_is_no_text_survives(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_document(path, {"path": "/data/\udcff"})
    assert json.loads(path.read_text()) == {"path": "/data/\udcff"}


def test_not_a_number_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_document(tmp_path / "x.json", {"rate": float("nan")})
    assert not (tmp_path / "x.json").exists()


def test_a_run_directory_is_never_used_twice(tmp_path: Path) -> None:
    new_run_directory(tmp_path, "r1")
    with pytest.raises(UserError, match="File exists"):
        new_run_directory(tmp_path, "r1")


def test_a_place_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="choose --out DIR"):
        new_run_directory(tmp_path / "file", "r1")


def a_run(root: Path, name: str) -> Path:
    run = root / name
    (run / "cases" / "x.t1" / "r1").mkdir(parents=True)
    for raw in ("plan.json", "journal.jsonl", "targets.json", "result.json", "cases/x.t1/r1/record.json"):
        (run / raw).write_text("{}")
    return run


def test_files_directories_and_globs_name_results_once_each(tmp_path: Path) -> None:
    first, second = a_run(tmp_path, "a b"), a_run(tmp_path, "c")
    (tmp_path / "shared.json").write_text("{}")
    found = find_results([str(tmp_path), str(tmp_path / "*" / "result.json"), str(tmp_path / "shared.json")])
    assert found == [tmp_path / "shared.json", first / "result.json", second / "result.json"]


def test_raw_files_of_a_run_are_no_results(tmp_path: Path) -> None:
    run = a_run(tmp_path, "a")
    assert find_results([str(run)]) == [run / "result.json"]


def test_an_existing_name_with_glob_signs_is_taken_as_it_is(tmp_path: Path) -> None:
    odd = tmp_path / "a[1].json"
    odd.write_text("{}")
    assert find_results([str(odd)]) == [odd]


def test_a_name_that_gives_nothing_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        find_results([str(tmp_path / "none*.json")])
