"""The schemas themselves, and their examples: every valid one passes, every invalid one fails for its one change."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from rerig.schema import FORMATS, SCHEMAS, known_versions, validate

EXAMPLES = SCHEMAS / "examples"
SCHEMA_FILES = sorted(SCHEMAS.glob("*.schema.json"))
VALID = sorted((EXAMPLES / "valid").rglob("*.json"))
INVALID = sorted((EXAMPLES / "invalid").rglob("*.json"))

# Their kind decides which keys they take, in definitions of their own that take no others.
SHAPED_BY_KIND = {("common-1.0.schema.json", "/$defs/identity"), ("suite-1.0.schema.json", "/$defs/case")}
RELATIVE_NAME = "^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$(?!\\n)"


def name(path):
    return f"{path.parent.name}/{path.stem}"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def nodes(schema, pointer=""):
    """Every object inside a schema, with its JSON pointer."""
    if isinstance(schema, dict):
        yield pointer, schema
        for key, value in schema.items():
            yield from nodes(value, f"{pointer}/{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from nodes(value, f"{pointer}/{index}")


def rules(schema):
    """Every node that describes a value in full. Conditions and what they add only refine such a node."""
    for pointer, node in nodes(schema):
        if not re.search("/(if|then|else)(/|$)", pointer):
            yield pointer, node


def types(node):
    """The JSON types that a node allows; none for a folder of properties, of which one may be called type."""
    found = node.get("type", [])
    return [found] if isinstance(found, str) else found if isinstance(found, list) else []


def changes(before, after, path=()):
    """Paths at which two JSON values differ; a key that came or went counts as one."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            if key in before and key in after:
                yield from changes(before[key], after[key], (*path, key))
            else:
                yield (*path, key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from changes(*pair, (*path, index))
    elif before != after or type(before) is not type(after):
        yield path


@pytest.mark.parametrize("path", SCHEMA_FILES, ids=lambda path: path.name)
class TestSchema:
    def test_it_is_a_valid_schema_of_draft_2020_12(self, path):
        schema = read(path)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        Draft202012Validator.check_schema(schema)

    def test_its_id_is_its_file_name(self, path):
        assert read(path)["$id"] == path.name

    def test_every_reference_stays_in_the_folder_and_leads_somewhere(self, path):
        schema = read(path)
        for pointer, node in nodes(schema):
            if "$ref" not in node:
                continue
            file, _, target = node["$ref"].partition("#/")
            found = schema if not file else read(SCHEMAS / file)
            for part in target.split("/"):
                assert part in found, f"{pointer}: {node['$ref']}"
                found = found[part]

    def test_no_object_takes_unknown_keys(self, path):
        for pointer, node in rules(read(path)):
            if "properties" in node and (path.name, pointer) not in SHAPED_BY_KIND:
                assert node.get("additionalProperties") is False, pointer

    def test_every_text_is_bounded_in_kind(self, path):
        for pointer, node in rules(read(path)):
            if "string" in types(node):
                assert "pattern" in node, pointer

    def test_every_array_is_bounded_in_length(self, path):
        for pointer, node in rules(read(path)):
            if "array" in types(node):
                assert "maxItems" in node, pointer

    def test_every_number_is_bounded_on_both_sides(self, path):
        for pointer, node in rules(read(path)):
            if {"integer", "number"} & set(types(node)):
                assert {"minimum", "exclusiveMinimum"} & node.keys(), pointer
                assert "maximum" in node, pointer

    def test_every_pattern_is_anchored_and_ends_at_the_true_end(self, path):
        for pointer, node in rules(read(path)):
            if "string" in types(node):
                assert node["pattern"].startswith("^"), pointer
                assert node["pattern"].endswith("$(?!\\n)"), pointer

    def test_every_pattern_takes_linear_time(self, path):
        """One repetition inside another is what can take exponential time; the one there is has a separator in it."""
        for pointer, node in nodes(read(path)):
            pattern = node.get("pattern")
            if isinstance(pattern, str) and pattern != RELATIVE_NAME:
                assert not re.search(r"[*+}][^()]*\)([*+]|\{[0-9]*,)", pattern), pointer


def test_every_format_has_a_schema_and_every_schema_is_of_a_format_or_shared():
    documents = {path.name.rsplit("-", 1)[0] for path in SCHEMA_FILES}
    assert documents == {*FORMATS.values(), "common"}
    assert all(known_versions(name) for name in FORMATS)


def test_the_identity_of_a_case_is_defined_once():
    """Comparisons join on it: a result and a published claim must mean the same by it."""
    definers = [path.name for path in SCHEMA_FILES for _, node in nodes(read(path)) if "dd_identity" in node]
    assert definers == ["common-1.0.schema.json"]
    references = {
        path.name: [node["$ref"] for _, node in nodes(read(path)) if str(node.get("$ref")).endswith("identity")]
        for path in SCHEMA_FILES
    }
    assert references["published-1.0.schema.json"] == ["common-1.0.schema.json#/$defs/identity"]
    assert references["result-1.0.schema.json"] == ["common-1.0.schema.json#/$defs/measured_identity"]


def test_every_document_has_a_valid_and_an_invalid_example():
    for kind in FORMATS.values():
        assert any(path.parent.name == kind for path in VALID)
        assert any(path.parent.name == kind for path in INVALID)


@pytest.mark.parametrize("path", VALID, ids=name)
def test_a_valid_example_is_valid(path):
    assert validate(read(path)) == []


@pytest.mark.parametrize("path", INVALID, ids=name)
def test_an_invalid_example_fails_for_the_one_thing_that_it_changes(path):
    document = read(path)
    changed = min(
        (list(changes(read(valid), document)) for valid in VALID if valid.parent.name == path.parent.name), key=len
    )
    assert len(changed) == 1
    place = "/" + "/".join(str(part) for part in changed[0][:-1])
    errors = validate(document)
    assert errors
    blamed = [error.split(": ")[0] for error in errors]
    assert any(pointer.startswith(place.rstrip("/")) or pointer in ("(root)", "the document") for pointer in blamed)
    assert all(len(error) <= 300 for error in errors)


def test_the_valid_results_hold_every_kind_and_every_status():
    cases = [case for path in VALID if path.parent.name == "result" for case in read(path)["cases"]]
    assert {case["identity"]["kind"] for case in cases} == {"dd_read", "dd_reread", "fio_read", "power_budget"}
    assert {case["status"] for case in cases} == {"measured", "skipped", "failed", "not_run"}
    assert {case["validity"]["verdict"] for case in cases} == {"valid", "doubtful", "invalid", "not_measured"}


def test_no_example_holds_a_path_of_a_machine():
    for path in Path(EXAMPLES / "valid").rglob("*.json"):
        assert not re.search(r'"/|/home/|/mnt/|/root/', path.read_text(encoding="utf-8")), path
