from __future__ import annotations

from pathlib import Path

from rerig_agent.facts.sysfs import absolute, names_in, read_number, read_text, read_word, real_directory


def test_texts_come_as_they_are_and_words_without_white_space(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b" one\r\ntwo\xff \n")

    assert read_text(tmp_path / "a") == " one\r\ntwo\udcff \n"
    assert read_word(tmp_path / "a") == "one\r\ntwo\udcff"


def test_what_is_missing_empty_or_no_number_is_none(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "word").write_text("unknown\n")
    (tmp_path / "number").write_text("-1\n")

    assert read_text(tmp_path / "none") is None
    assert read_text(tmp_path) is None
    assert read_word(tmp_path / "empty") is None
    assert [read_number(tmp_path / name) for name in ("none", "empty", "word", "number")] == [None, None, None, -1]


def test_names_are_sorted_and_none_where_there_is_no_folder(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).touch()

    assert names_in(tmp_path) == ["a", "b"]
    assert names_in(tmp_path / "a") == []


def test_a_root_is_put_before_an_absolute_path() -> None:
    assert absolute(Path("/tmp/x"), "/sys/class") == Path("/tmp/x/sys/class")  # noqa: S108 - nothing is written
    assert absolute(Path("/"), "/sys/class") == Path("/sys/class")


def test_links_are_followed_to_folders_only(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "broken").symlink_to("gone")

    assert real_directory(tmp_path / "link") == (tmp_path / "real").resolve()
    assert real_directory(tmp_path / "broken") is None
