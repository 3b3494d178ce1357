"""Built things: one builder at a time, built again when the recipe changes, nothing half made."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from twin.cache import KEPT_S, built, cache_folder, recipe_hash
from twin.errors import TwinError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RERIG_TWIN_CACHE", str(tmp_path / "a cache"))
    return tmp_path / "a cache"


def test_the_cache_is_where_users_expect_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("RERIG_TWIN_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path("/home/me/.cache/rerig/twin")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_folder() == Path("/caches/rerig/twin")


def test_a_recipe_is_its_texts_and_files_and_where_they_end(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file").write_text("x")
    before = recipe_hash([tmp_path, "a", "b"])
    assert before == recipe_hash([tmp_path, "a", "b"]) != recipe_hash([tmp_path, "ab", ""])
    (tmp_path / "sub" / "file").write_text("y")
    assert recipe_hash([tmp_path, "a", "b"]) != before
    (tmp_path / "sub" / "file").write_text("x")
    (tmp_path / "sub" / "file").rename(tmp_path / "sub" / "another")
    assert recipe_hash([tmp_path, "a", "b"]) != before


def test_what_is_there_is_not_built_again(cache: Path) -> None:
    calls: list[Path] = []

    def build(folder: Path) -> None:
        calls.append(folder)
        (folder / "disk").write_text("made")

    folder = built("image", "1", build)
    assert folder == built("image", "1", build) == cache / "image-1"
    assert (folder / "disk").read_text() == "made"
    assert len(calls) == 1
    built("image", "2", build)
    assert len(calls) == 2


def test_a_build_that_fails_leaves_nothing(cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise TwinError("No network.")

    with pytest.raises(TwinError, match="No network"):
        built("image", "1", fail)
    assert [path.name for path in cache.iterdir()] == [".image.lock"]


def test_two_that_want_the_same_build_it_once() -> None:
    calls: list[int] = []
    begun = threading.Event()

    def build(folder: Path) -> None:
        begun.set()
        time.sleep(0.1)  # so that the other arrives; without its waiting there would be two calls
        calls.append(1)

    threads = [threading.Thread(target=built, args=("image", "1", build)) for _ in range(2)]
    threads[0].start()
    begun.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert calls == [1]


def test_older_ones_go_after_a_day_without_use(cache: Path) -> None:
    old, used = built("image", "1", lambda _: None), built("image", "2", lambda _: None)
    other = built("tree", "1", lambda _: None)
    long_ago = time.time() - KEPT_S - 60
    for folder in (old, other):
        os.utime(folder, (long_ago, long_ago))
    built("image", "3", lambda _: None)
    assert not old.exists()
    assert used.exists()
    assert other.exists()


def test_a_cache_that_cannot_be_written_is_one_sentence(cache: Path) -> None:
    cache.write_text("a file is in the way")
    with pytest.raises(
        TwinError, match=r"^The twin's cache can't be written: .*a cache: (Not a directory|File exists)\.$"
    ):
        built("image", "1", lambda _: None)
