"""Reading a run directory: whole, cut short, or damaged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.rundir import changed_files, read_run


def a_run(directory: Path) -> Path:
    plan = {
        "format": "rerig-plan",
        "format_number": 1,
        "cases": [{"id": "dd.t1", "repeats": [{"number": 1}, {"number": 2}]}],
    }
    (directory / "plan.json").write_text(json.dumps(plan))
    (directory / "journal.jsonl").write_text('{"event": "run-start"}\n{"event": "torn')
    repeat = directory / "cases" / "dd.t1" / "r1"
    repeat.mkdir(parents=True)
    (repeat / "record.json").write_text('{"argv": ["dd"]}')
    (repeat / "stderr").write_bytes(b"\xff 1+0 records in\n")
    (directory / "cases" / "dd.t1" / "r2").mkdir()
    return directory


def test_a_repeat_without_a_record_was_cut_off_and_is_left_out(tmp_path: Path) -> None:
    run = read_run(a_run(tmp_path))
    assert [repeat.number for repeat in run.repeats["dd.t1"]] == [1]
    (only,) = run.sessions
    assert [event["event"] for event in only.events] == ["run-start"]
    assert only.number == 1
    assert only.conditions_after is None


def test_raw_files_keep_their_relative_name_and_hash(tmp_path: Path) -> None:
    stderr = read_run(a_run(tmp_path)).repeats["dd.t1"][0].files["stderr"]
    assert stderr.name == "cases/dd.t1/r1/stderr"
    assert stderr.sha256 == hashlib.sha256(b"\xff 1+0 records in\n").hexdigest()
    assert "records in" in stderr.text


def test_another_directory_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a run directory"):
        read_run(tmp_path)
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(UserError, match="is no plan"):
        read_run(tmp_path)


@pytest.mark.parametrize("name", ["plan.json", "targets.json", "conditions-before.json", "cases/dd.t1/r1/record.json"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    (a_run(tmp_path) / name).write_text('{"x": ')
    with pytest.raises(UserError, match="damaged"):
        read_run(tmp_path)


def test_a_run_of_another_rerig_is_not_guessed_at(tmp_path: Path) -> None:
    plan = a_run(tmp_path) / "plan.json"
    plan.write_text(plan.read_text().replace('"format_number": 1', '"format_number": 7'))
    with pytest.raises(UserError, match="made by another rerig"):
        read_run(tmp_path)


def test_raw_files_that_changed_or_went_are_named(tmp_path: Path) -> None:
    stderr = read_run(a_run(tmp_path)).repeats["dd.t1"][0].files["stderr"]
    entry = {"name": stderr.name, "sha256": stderr.sha256}
    result = {"raw": {"files": [entry]}, "cases": [{"repeats": [{"raw": {"stderr": {**entry, "name": "gone"}}}]}]}
    assert changed_files(tmp_path, result) == ["gone"]
    (tmp_path / stderr.name).write_text("")
    assert changed_files(tmp_path, result) == [stderr.name, "gone"]


def resumed(directory: Path) -> Path:
    """Two sessions; the first was cut off inside the case, which the second set aside and measured anew."""
    a_run(directory)
    (directory / "journal.jsonl").write_text(
        '{"event": "run-start", "session": 1}\n{"event": "rep\n{"event": "undo-done"}\n'
        '{"event": "run-start", "session": 2}\n{"event": "run-end", "stopped_by": null}\n'
    )
    for name in ("targets", "conditions-before", "conditions-after"):
        (directory / f"{name}-2.json").write_text(json.dumps({"t1": name}))
    (directory / "targets.json").write_text('{"t1": "first"}')
    left = directory / "unfinished" / "1" / "dd.t1" / "r1"
    left.mkdir(parents=True)
    (left / "record.json").write_text('{"argv": ["never read"]')
    (left / "stdout").write_bytes(b"")
    (left / "Of-Someone Else").write_bytes(b"")
    (directory / "unfinished" / "1" / "dd.t1" / "r1" / "stderr").symlink_to("nowhere")
    return directory


def test_every_session_has_its_own_evidence(tmp_path: Path) -> None:
    first, second = read_run(resumed(tmp_path)).sessions
    assert (first.number, first.targets, first.conditions_before, first.end) == (1, {"t1": "first"}, None, None)
    assert (second.number, second.targets) == (2, {"t1": "targets"})
    assert second.conditions_before == {"t1": "conditions-before"}
    assert second.conditions_after == {"t1": "conditions-after"}
    assert [event["event"] for event in second.events] == ["run-start", "run-end"]


def test_what_was_left_unfinished_is_kept_with_its_hash_and_gives_no_figure(tmp_path: Path) -> None:
    run = read_run(resumed(tmp_path))
    files = {file.name: file for file in run.files}
    assert {"targets-2.json", "conditions-after-2.json", "journal.jsonl"} < files.keys()
    unfinished = sorted(name for name in files if name.startswith("unfinished/"))
    assert unfinished == ["unfinished/1/dd.t1/r1/record.json", "unfinished/1/dd.t1/r1/stdout"]
    assert files[unfinished[1]].sha256 == hashlib.sha256(b"").hexdigest()
    assert [repeat.record for repeat in run.repeats["dd.t1"]] == [{"argv": ["dd"]}]


@pytest.mark.parametrize("numbers", [(1, 3), (2, 1), (1, 1), (0, 1)])
def test_sessions_that_are_not_numbered_one_by_one_are_not_guessed_at(tmp_path: Path, numbers: tuple[int, int]) -> None:
    lines = [json.dumps({"event": "run-start", "session": number}) for number in numbers]
    (a_run(tmp_path) / "journal.jsonl").write_text("\n".join(lines))
    with pytest.raises(UserError, match="not numbered one by one"):
        read_run(tmp_path)
