"""Which run a word names: an id, a path, a copy, a note about another machine, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.known_runs import KnownRun, find_run, find_runs
from rerig.remote import ledger

RUN = "20260131T081500Z-1a2b3c"
OTHER = "20260131T081500Z-ffffff"
BOX = Host("user@box", "box", user="user", sudo=True)
HERE = Host("here", "here", local=True)
OUT = Path("runs")


def make_run(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "plan.json").write_text("{}")
    return path


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(OUT / RUN)
    ledger.write_entry(OUT, OTHER, ledger.entry_of(BOX, f"/home/user/runs/{OTHER}"))


@pytest.mark.parametrize("word", [RUN, f"runs/{RUN}", f"runs/{RUN}/", f"./runs/{RUN}"])
def test_a_run_here_is_named_by_its_id_or_its_path(word: str) -> None:
    found = find_run(word, OUT)
    assert found == KnownRun(OUT / RUN)
    assert (found.run_id, found.word) == (RUN, RUN)


def test_a_run_in_another_folder_is_named_by_its_path() -> None:
    make_run(Path("my runs") / RUN)
    found = find_run(RUN, Path("my runs"))
    assert found == find_run(f"my runs/{RUN}", OUT)
    assert found.word == f"'my runs/{RUN}'"


def test_a_directory_of_any_name_that_holds_a_run_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_run(Path("실행 하나"))
    assert find_run("실행 하나", OUT) == KnownRun(Path("실행 하나"))
    monkeypatch.chdir("실행 하나")
    assert find_run(".", OUT) == KnownRun(tmp_path / "실행 하나")
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert find_run("..", OUT) == KnownRun(tmp_path / "실행 하나")


@pytest.mark.parametrize("word", [OTHER, f"runs/{OTHER}"])
def test_a_run_that_is_noted_is_on_its_machine_also_when_a_copy_is_here(word: str) -> None:
    assert find_run(word, OUT) == KnownRun(OUT / OTHER, BOX)
    make_run(OUT / OTHER)
    assert find_run(word, OUT) == KnownRun(OUT / OTHER, BOX)


def test_a_machine_that_is_named_counts_more_than_the_note() -> None:
    other = Host("other", "other")
    assert find_run(OTHER, OUT, other) == KnownRun(OUT / OTHER, other)
    assert find_run(RUN, OUT, other) == KnownRun(OUT / RUN, other)
    assert find_run(RUN, OUT, HERE) == KnownRun(OUT / RUN)


def test_a_run_of_root_stays_one_when_its_machine_is_named_again() -> None:
    assert find_run(OTHER, OUT, Host("user@box", "box", user="user")) == KnownRun(OUT / OTHER, BOX)


@pytest.mark.parametrize(("word", "host"), [("nope", None), ("runs/nope", None), (OTHER, HERE)])
def test_a_run_that_nobody_knows_is_one_sentence_that_says_what_to_do(word: str, host: Host | None) -> None:
    with pytest.raises(UserError, match=r"no machine is noted for it: \./inv runs\.list .* --host NAME"):
        find_run(word, OUT, host)


@pytest.mark.parametrize("word", ["", "/", "../x y", "-x", "a\nb", "runs/.remote"])
@pytest.mark.parametrize("host", [None, Host("other", "other")])
def test_what_is_no_run_is_one_sentence(word: str, host: Host | None) -> None:
    with pytest.raises(UserError) as caught:
        find_run(word, OUT, host)
    assert len(str(caught.value).splitlines()) == 1


def test_runs_are_found_each_once_and_on_one_machine_only() -> None:
    assert find_runs([RUN, OTHER, f"runs/{RUN}"], OUT, []) == [KnownRun(OUT / RUN), KnownRun(OUT / OTHER, BOX)]
    with pytest.raises(UserError, match="A run is on one machine, and --host names 2: user@box, here"):
        find_runs([RUN], OUT, [BOX, HERE])
