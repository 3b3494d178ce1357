"""Two that bring the same run home at once, and copies that need no replacing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rerig.remote.homecoming import one_at_a_time, put_in_place


def run(folder: Path, **files: str) -> Path:
    for name, text in {"plan": "{}", **files}.items():
        path = folder / "cases" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def test_the_very_same_copy_stays_as_it_is_with_its_result(tmp_path: Path) -> None:
    there = run(tmp_path / "there")
    (there / "result.json").write_text("built", "utf-8")
    before = (there / "cases").stat().st_ino
    put_in_place(run(tmp_path / "part"), there)
    assert (there / "cases").stat().st_ino == before
    assert (there / "result.json").read_text("utf-8") == "built"


@pytest.mark.parametrize("change", [{"plan": "[]"}, {"more": "x"}])
def test_a_copy_that_differs_is_replaced_and_its_result_with_it(tmp_path: Path, change: dict[str, str]) -> None:
    there = run(tmp_path / "there")
    (there / "result.json").write_text("built", "utf-8")
    put_in_place(run(tmp_path / "part", **change), there)
    assert not (there / "result.json").exists()
    assert {path.name: path.read_text("utf-8") for path in (there / "cases").iterdir()} == {"plan": "{}", **change}
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_copy_with_a_file_too_many_is_replaced(tmp_path: Path) -> None:
    put_in_place(run(tmp_path / "part"), run(tmp_path / "there", stray="x"))
    assert [path.name for path in (tmp_path / "there" / "cases").iterdir()] == ["plan"]


def test_one_waits_for_the_other(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with one_at_a_time(tmp_path / "runs"):
            order.append("second")

    with one_at_a_time(tmp_path / "runs"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert list((tmp_path / "runs").iterdir()) == []
