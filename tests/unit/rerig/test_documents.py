"""Whatever lies in a file, reading it as a document gives a dict or one sentence."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.documents import MAX_BYTES, load_document, load_valid_document
from rerig.errors import UserError
from rerig.published import PUBLISHED

PUBLISHED_TEXT = (PUBLISHED / "nas-vs-local-2026.json").read_text(encoding="utf-8")


@pytest.fixture
def refused(tmp_path):
    """Writes content into a file and gives the one sentence that it is refused with."""

    def load(content, **arguments):
        path = tmp_path / "document.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(UserError) as caught:
            load_document(path, **arguments)
        return one_sentence(caught.value)

    return load


def one_sentence(error):
    message = str(error)
    assert message.endswith(".")
    assert message.isprintable()
    assert len(message) < 700
    return message


def document(**changes):
    return json.dumps({"format": "rerig-result", "format_version": "1.0", **changes})


def test_a_document_is_read_as_it_is():
    assert load_document(PUBLISHED / "nas-vs-local-2026.json") == json.loads(PUBLISHED_TEXT)


def test_an_editors_byte_order_mark_is_harmless(tmp_path):
    path = tmp_path / "document.json"
    path.write_text("\ufeff" + PUBLISHED_TEXT, encoding="utf-8")
    assert load_document(path) == json.loads(PUBLISHED_TEXT)


def test_a_file_of_200_mb_is_refused_without_being_opened(tmp_path, monkeypatch):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    monkeypatch.setattr(Path, "open", lambda *_arguments, **_more: pytest.fail("the file was opened"))
    with pytest.raises(UserError, match=r"too large \(200\.0 MB\): at most 64 MB"):
        load_document(path)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "grows.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    small = (PUBLISHED / "nas-vs-local-2026.json").stat()
    monkeypatch.setattr(Path, "stat", lambda _path, **_more: small)
    with pytest.raises(UserError, match="too large"):
        load_document(path)


def test_millions_of_values_are_refused_before_they_are_parsed(refused, monkeypatch):
    monkeypatch.setattr(json, "loads", lambda *_arguments, **_more: pytest.fail("it was parsed"))
    assert "more values than" in refused("[" + "[]," * 2_000_000 + "1]")


@pytest.mark.parametrize("depth", [40, 500, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused_whatever_pythons_own_limit(refused, depth, opening):
    closing = {"[": "]", '{"a":': "}"}[opening]
    content = document(deep="@").replace('"@"', opening * depth + "1" + closing * depth)
    assert "nested" in refused(content)


REFUSED = {
    "is empty": ["", "  \n"],
    "is not JSON": ["{", "nonsense", "{'a': 1}", document() + "x", '{"a": "\n"}'],
    "is not UTF-8": [b'{"a": "\xff"}', "{}".encode("utf-16")],
    "holds a list": ["[]"],
    "holds a single value": ["1", "null", '"text"'],
    "which is not JSON": [document(a="@").replace('"@"', word) for word in ("NaN", "Infinity", "-Infinity")],
    "which is too large": [document(a="@").replace('"@"', number) for number in ("1e999", "-1e999", "9" * 5000)],
    "twice in one object": ['{"a": 1, "a": 1}', '{"a": {"b": 1, "b": 2}}'],
    "not valid Unicode": [document(a="\ud800"), json.dumps({"\udfff": 1})],
    'its "format" is none of': ["{}", '{"format": null}', '{"format": ["rerig-result"]}', '{"format": "rerig-plan"}'],
    'without a "format_version"': [
        '{"format": "rerig-result"}',
        document(format_version=1.0),
        document(format_version="1"),
    ],
}


@pytest.mark.parametrize(
    ("words", "content"), [(words, content) for words, contents in REFUSED.items() for content in contents]
)
def test_what_is_no_document_is_refused_with_its_reason(refused, words, content):
    assert words in refused(content)


def test_the_place_of_a_json_error_is_told(refused):
    assert "at line 2, column 9" in refused('{\n "a": 1 "b"}')


def test_the_position_of_a_bad_byte_is_told(refused):
    assert "(at byte 7)" in refused(b'{"a": "\xff"}')


@pytest.mark.parametrize("kind", ["rerig-result", "rerig-published", "rerig-suite"])
def test_newer_and_older_versions_get_different_advice(refused, kind):
    newer_major, newer_minor, older = (
        refused(document(format=kind, format_version=version)) for version in ("2.0", "1.7", "0.9")
    )
    assert "made by a newer rerig: update rerig" in newer_major
    assert "fields that this rerig does not know" in newer_minor
    assert "too old" in older
    assert "no migration" in older
    assert "update" not in older


def test_an_old_result_can_be_rebuilt_from_its_raw_run(refused):
    assert "inv results.rebuild" in refused(document(format_version="0.9"))


def test_another_kind_of_document_than_expected_is_named(refused):
    assert "is a rerig-result, but a rerig-published is needed" in refused(document(), expected="rerig-published")


@pytest.mark.parametrize("name", ["no-such-file", "a\nb\x1b[31m", "x" * 300, "with\0nul"])
def test_a_file_that_can_not_be_opened_is_named_printably(tmp_path, name):
    with pytest.raises(UserError) as caught:
        load_document(tmp_path / name)
    one_sentence(caught.value)


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(UserError, match="is a directory"):
        load_document(tmp_path)


def test_a_fifo_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UserError, match="not a regular file"):
        load_document(tmp_path / "fifo")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path):
    path = tmp_path / "secret.json"
    path.write_text(PUBLISHED_TEXT, encoding="utf-8")
    path.chmod(0)
    with pytest.raises(UserError, match="Permission denied"):
        load_document(path)


def test_a_document_that_its_schema_refuses_is_named_with_its_first_error(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(document(extra=1), encoding="utf-8")
    with pytest.raises(UserError, match=r"result\.json' is not valid: .*'extra' was unexpected.*more\)\.$"):
        load_valid_document(path, "rerig-result")


@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_file_gives_anything_but_a_user_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "document.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        load_document(path)
    one_sentence(caught.value)
