"""Validation: readable, bounded, never over the network; what a builder makes is valid and survives JSON."""

import copy
import json
import math
import socket
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rerig.schema
from rerig.documents import load_document
from rerig.errors import UserError
from rerig.schema import MAX_DEPTH, MAX_VALUES, SCHEMAS, structure_problem, validate, validate_or_raise

from .strategies import results

EXAMPLE = json.loads((SCHEMAS / "examples/valid/result/nas-and-a-refused-file.json").read_text("utf-8"))


@pytest.fixture
def result():
    return copy.deepcopy(EXAMPLE)


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    max_examples=settings().max_examples * 6 // 10,
)
@given(results())
def test_what_a_builder_makes_is_valid_and_survives_json(tmp_path_factory, document):
    assert validate(document) == []
    path = tmp_path_factory.mktemp("round") / "result.json"
    path.write_text(json.dumps(document, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    assert load_document(path, "rerig-result") == document


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    max_examples=settings().max_examples * 4 // 10,
)
@given(results(), st.data())
def test_a_builder_that_forgets_or_invents_a_key_is_caught(document, data):
    """Every key of every object is required, and no other is taken; labels are the one free mapping."""
    places = [place for place in objects(document) if place[0] != ("labels",)]
    path, found = data.draw(st.sampled_from(places))
    if found and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(found)))
        # These are what a tool may not have written, or a suite not have set.
        if (path[-1:] == ("raw",) and key != "record") or (key == "read_ahead_kb" and path[-1:] == ("identity",)):
            return
        del found[key]
    else:
        found["invented"] = None
    assert validate(document) != []


def objects(value, path=()):
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, (*path, index))


def test_an_error_names_its_place_and_its_reason(result):
    result["cases"][1]["repeats"][0]["fio"]["ios"] = "many"
    assert validate(result) == ["/cases/1/repeats/0/fio/ios: 'many' is not of type 'integer'"]


def test_a_pointer_escapes_slashes_and_tildes(result):
    result["labels"] = {"nas": "x", "a/b~c": 7}
    assert any(error.startswith("/labels/a~1b~0c: 7 is not") for error in validate(result))


def test_errors_are_bounded_in_number_and_length(result):
    result["targets"] *= 200
    for index in range(100):
        result["x" * 1000 + str(index)] = "y" * 1000
        result["cases"].append({"z" * 1000: "z" * 1000})
    errors = validate(result)
    assert len(errors) == rerig.schema.MAX_ERRORS + 1
    assert errors[-1] == "and more"
    assert max(map(len, errors)) <= rerig.schema.MAX_ERROR_CHARACTERS


def test_an_error_never_shows_control_characters(result):
    result["labels"] = {"nas": "\x1b]0;title\x07", "evil\x1b[2J\n": "x"}
    assert validate(result)
    assert all(error.isprintable() for error in validate(result))


def test_the_first_error_becomes_one_sentence_that_counts_the_others(result):
    del result["run"]
    del result["suite"]
    with pytest.raises(
        UserError, match=r"^'a\.json' is not valid: \(root\): 'run' is a required property \(and 1 more\)\.$"
    ):
        validate_or_raise(result, "'a.json'")


def test_a_valid_document_raises_nothing(result):
    validate_or_raise(result)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "nan is not a number that JSON can hold"),
        (math.inf, "inf is not a number that JSON can hold"),
        ("\ud800", "not valid Unicode"),
        ({1: 2}, "the key 1 is not text"),
        ({"\udfff": 2}, "a key is not valid Unicode"),
        (date(2026, 11, 30), "(date) is not a JSON value"),
        ((1, 2), "(tuple) is not a JSON value"),
        (b"x", "(bytes) is not a JSON value"),
    ],
)
def test_what_json_can_not_hold_is_told_with_its_place(result, value, words):
    result["cases"][0]["repeats"][0]["wall_s"] = value
    (error,) = validate(result)
    assert error.startswith("/cases/0/repeats/0/wall_s: ")
    assert words in error


def test_depth_and_number_of_values_are_bounded():
    deep: list = []
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    assert "nested" in structure_problem(deep)
    assert "values" in structure_problem([0] * MAX_VALUES)
    assert structure_problem([0] * 1000) is None


def test_a_document_that_holds_itself_is_refused_not_followed():
    loop: list = []
    loop.append(loop)
    assert "nested" in structure_problem(loop)


@pytest.mark.parametrize(
    ("value", "definition", "expected"),
    [
        ("The file is empty.", "common-1.0.schema.json#/$defs/sentence", True),
        ("It lies in /data.", "common-1.0.schema.json#/$defs/sentence", False),
        ("\ud800", "common-1.0.schema.json#/$defs/sentence", False),
        (None, "common-1.0.schema.json#/$defs/sentence", False),
        (math.nan, "common-1.0.schema.json#/$defs/seconds", False),
        (None, "result-1.0.schema.json#/$defs/dd_version_or_null", True),
        ("coreutils 9.1", "result-1.0.schema.json#/$defs/dd_version_or_null", True),
        ({"not": "hashable"}, "result-1.0.schema.json#/$defs/dd_version_or_null", False),
    ],
)
def test_a_builder_can_ask_whether_a_value_fits(value, definition, expected):
    assert rerig.schema.fits(value, definition) is expected


def test_nothing_is_fetched_for_an_unknown_reference(monkeypatch, tmp_path, result):
    from referencing.exceptions import Unresolvable

    for path in SCHEMAS.glob("*.schema.json"):
        text = path.read_text("utf-8").replace("common-1.0.schema.json#/$defs/name", "https://schema.example/name")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(rerig.schema, "SCHEMAS", tmp_path)
    monkeypatch.setattr(socket, "socket", lambda *_arguments: pytest.fail("the network was asked"))
    rerig.schema._validator.cache_clear()
    try:
        with pytest.raises(Exception, match=r"schema\.example") as caught:
            validate(result)
        assert isinstance(caught.value, Unresolvable)
    finally:
        rerig.schema._validator.cache_clear()


@pytest.mark.parametrize("module", ["schema", "documents", "suite", "published", "stats", "compare", "compare_results"])
def test_importing_it_imports_no_heavy_package(module):
    """`./inv --list` stays quick only if these wait until they are needed."""
    program = (
        f"import sys, rerig.{module}\n"
        "print(sorted({'jsonschema', 'referencing', 'yaml', 'scipy', 'numpy', 'rich'} & set(sys.modules)))"
    )
    source = str(Path(rerig.schema.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {source!r})\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
