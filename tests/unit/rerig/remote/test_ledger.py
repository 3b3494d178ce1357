"""Where runs are: noted safely, read with mistrust."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.remote import ledger
from rerig.remote.ledger import Entry, check_run_id, entry_of, read_entries, read_entry, remove_entry, write_entry

RUN = "20260131T081500Z-1a2b3c"
ENTRY = Entry(
    "orin", "orin.example.net", "/home/jetson/.local/state/rerig/runs/" + RUN, "jetson", 2222, "~/k", "py", True
)


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_entry(tmp_path, RUN, ENTRY)
    assert read_entry(tmp_path, RUN) == ENTRY
    assert list(read_entries(tmp_path)) == [(RUN, ENTRY)]
    write_entry(tmp_path, RUN, Entry("a", "b", "/c"))
    assert read_entry(tmp_path, RUN) == Entry("a", "b", "/c")


def test_an_entry_leads_back_to_its_host() -> None:
    host = Host("orin", "orin.example.net", user="jetson", port=2222, key_file="~/k", python="py", sudo=True)
    assert entry_of(host, "/there").host() == host


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        write_entry(tmp_path, RUN, ENTRY)
    finally:
        os.umask(mask)
    assert (tmp_path / ".remote").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / ".remote" / f"{RUN}.json").stat().st_mode & 0o777 == 0o600


def test_the_last_entry_takes_the_folder_with_it(tmp_path: Path) -> None:
    write_entry(tmp_path, RUN, ENTRY)
    write_entry(tmp_path, "other", ENTRY)
    remove_entry(tmp_path, RUN)
    assert [name for name, _ in read_entries(tmp_path)] == ["other"]
    remove_entry(tmp_path, "other")
    remove_entry(tmp_path, "other")
    assert list(tmp_path.iterdir()) == []
    assert list(read_entries(tmp_path)) == []


@pytest.mark.parametrize("word", ["", "..", "../x", "a/b", ".hidden", "a\n", "x" * 81, "a b", "-x", "한글"])
def test_what_is_no_run_becomes_no_file(tmp_path: Path, word: str) -> None:
    for act in (
        lambda: check_run_id(word),
        lambda: write_entry(tmp_path / "out", word, ENTRY),
        lambda: read_entry(tmp_path / "out", word),
        lambda: remove_entry(tmp_path / "out", word),
    ):
        with pytest.raises(UserError) as caught:
            act()
        assert caught.value.exit_status == 2
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


GOOD: dict[str, Any] = {"name": "orin", "destination": "orin", "run_dir": "/there"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        "{}",
        "[" * 100_000,
        *(
            json.dumps({**GOOD, **odd})
            for odd in (
                {"run_dir": None},
                {"name": 7},
                {"port": "22"},
                {"user": 7},
                {"key_file": []},
                {"python": None},
                {"sudo": "no"},
            )
        ),
    ],
)
def test_what_is_no_entry_is_none(tmp_path: Path, text: str) -> None:
    write_entry(tmp_path, "sound", ENTRY)
    (tmp_path / ".remote" / f"{RUN}.json").write_text(text)
    assert read_entry(tmp_path, RUN) is None
    assert [name for name, _ in read_entries(tmp_path)] == ["sound"]


def test_an_entry_of_a_later_version_is_read(tmp_path: Path) -> None:
    write_entry(tmp_path, "sound", ENTRY)
    (tmp_path / ".remote" / f"{RUN}.json").write_text(json.dumps({**GOOD, "colour": "red"}))
    assert read_entry(tmp_path, RUN) == Entry(**GOOD)


def test_a_folder_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UserError, match=r"^Nothing can be written in .*: .*; choose --out DIR\.$"):
        write_entry(tmp_path / "out", RUN, ENTRY)


def test_a_failed_write_leaves_the_earlier_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(tmp_path, RUN, ENTRY)

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger.os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        write_entry(tmp_path, RUN, Entry("a", "b", "/c"))
    assert read_entry(tmp_path, RUN) == ENTRY
    assert [path.name for path in (tmp_path / ".remote").iterdir()] == [f"{RUN}.json"]


def test_threads_that_write_and_forget_at_once_lose_nothing(tmp_path: Path) -> None:
    """Whoever forgets the last entry removes the folder from under the others."""
    errors: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for _ in range(50):
                write_entry(tmp_path, name, ENTRY)
                assert read_entry(tmp_path, name) == ENTRY
                remove_entry(tmp_path, name)
            write_entry(tmp_path, name, ENTRY)
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=work, args=[f"run{number}"]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(list(read_entries(tmp_path))) == 8
