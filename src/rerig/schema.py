"""Which schema a document needs, and what is wrong with the document, in sentences.

A document names itself: ``format`` ("rerig-result") and ``format_version`` ("1.0") pick
``schemas/result-1.0.schema.json``. Which versions exist is what lies in that folder.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.consistency import contradictions
from rerig.errors import UserError
from rerig.text import bounded, printable

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from referencing import Registry

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
FORMATS = {"rerig-result": "result", "rerig-published": "published", "rerig-suite": "suite"}
MAX_DEPTH = 32
MAX_VALUES = 250_000
MAX_ERRORS = 20
MAX_ERROR_CHARACTERS = 300

# What a user can do with a document whose version is not read here; only what really exists.
_WAY_OUT = {
    "rerig-result": "make it anew from its run directory with 'inv results.rebuild'",
    "rerig-published": "use the published figures that come with this rerig",
    "rerig-suite": "rewrite it by this rerig's suite schema",
}
_VERSION = re.compile(r"(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")
# Keywords whose message in jsonschema shows the rule's source; our schemas describe the rule beside it.
_DESCRIBED = frozenset({"anyOf", "oneOf", "not", "pattern"})


def known_versions(format_name: str) -> list[tuple[int, int]]:
    """The versions of ``format_name`` that this rerig holds a schema for, oldest first."""
    kind = FORMATS[format_name]
    found = []
    for path in SCHEMAS.glob(f"{kind}-*.schema.json"):
        version = _VERSION.fullmatch(path.name[len(kind) + 1 : -len(".schema.json")])
        if version:
            found.append((int(version[1]), int(version[2])))
    return sorted(found)


def version_problem(document: dict[str, Any]) -> str | None:
    """Why this rerig can't read the document's format and version (starts with a verb), or None.

    A minor step only adds, a major step breaks: the advice differs (schemas/README.md).
    """
    name = document.get("format")
    if not isinstance(name, str) or name not in FORMATS:
        return f'is not one of rerig\'s documents: its "format" is none of {", ".join(FORMATS)}'
    version = document.get("format_version")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        return f'is a {name} without a "format_version" such as "1.0"'
    asked = (int(match[1]), int(match[2]))
    known = known_versions(name)
    if asked in known:
        return None
    newest = known[-1]
    reads = f"this one reads up to {newest[0]}.{newest[1]}"
    if asked[0] > newest[0]:
        return f"is a {name} {version}, made by a newer rerig: update rerig ({reads})"
    if asked[0] == newest[0] and asked[1] > newest[1]:
        return (
            f"is a {name} {version} and may hold fields that this rerig does not know ({reads}): "
            f"update rerig, or {_WAY_OUT[name]}"
        )
    return f"is a {name} {version}, too old for this rerig, which has no migration from it: {_WAY_OUT[name]}"


def structure_problem(document: object) -> str | None:
    """Where ``document`` is no plain, finite, reasonably deep JSON (pointer and reason), or None.

    Also for documents that were not read from JSON: YAML knows dates, sets and number keys.
    """
    waiting: list[tuple[object, tuple[str | int, ...]]] = [(document, ())]
    seen = 0
    while waiting:
        value, path = waiting.pop()
        seen += 1
        if seen > MAX_VALUES:
            return f"holds more than {MAX_VALUES:,} values"
        if len(path) > MAX_DEPTH:
            return f"is nested more than {MAX_DEPTH} levels deep"
        problem = _value_problem(value)
        if problem:
            return f"{_pointer(path)}: {problem}"
        if isinstance(value, dict):
            waiting.extend((inner, (*path, key)) for key, inner in value.items())
        elif isinstance(value, list):
            waiting.extend((inner, (*path, index)) for index, inner in enumerate(value))
    return None


def _value_problem(value: object) -> str | None:
    if value is None or isinstance(value, (bool, int, list)):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is not a number that JSON can hold"
    if isinstance(value, str):
        return _text_problem(value)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                return f"the key {bounded(repr(key), 40)} is not text"
            if _text_problem(key):
                return "a key is not valid Unicode"
        return None
    return f"{bounded(repr(value), 60)} ({type(value).__name__}) is not a JSON value"


def _text_problem(text: str) -> str | None:
    # A lone surrogate ("\ud800" is valid JSON) can't be written as UTF-8 again.
    return None if text.isascii() or not re.search("[\ud800-\udfff]", text) else "text is not valid Unicode"


def validate(document: dict[str, Any]) -> list[str]:
    """What is wrong with ``document``, one line each: a JSON pointer and the reason; empty if it is valid.

    First its format and version, then the schema, then what a schema can't say (rerig.consistency).
    At most MAX_ERRORS lines of MAX_ERROR_CHARACTERS, whatever the document holds.
    """
    structure = structure_problem(document)
    if structure:
        return [bounded(printable(structure), MAX_ERROR_CHARACTERS)]
    version = version_problem(document)
    if version:
        return [f"the document {version}"]
    errors = _schema_errors(document)
    first = list(islice(errors, MAX_ERRORS + 1))
    if not first:
        first = list(islice(contradictions(document), MAX_ERRORS + 1))
    lines = [
        bounded(f"{printable(_pointer(path))}: {printable(reason)}", MAX_ERROR_CHARACTERS)
        for path, reason in first[:MAX_ERRORS]
    ]
    return [*lines, "and more"] if len(first) > MAX_ERRORS else lines


def validate_or_raise(document: dict[str, Any], name: str = "the document") -> None:
    """Raise UserError with one sentence (the first error and how many follow) unless it is valid."""
    errors = validate(document)
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise UserError(f"{name} is not valid: {errors[0]}{more}.")


def fits(value: object, definition: str) -> bool:
    """Whether ``value`` is what ``definition`` describes, such as ``common-1.0.schema.json#/$defs/sentence``.

    For a builder that has to leave out what a document may not hold.
    """
    return _value_problem(value) is None and _definition(definition).is_valid(value)


def _schema_errors(document: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    kind = FORMATS[document["format"]]
    validator = _validator(f"{kind}-{document['format_version']}.schema.json")
    for error in validator.iter_errors(document):
        yield tuple(error.absolute_path), _reason(error)


def _reason(error: ValidationError) -> str:
    described = isinstance(error.schema, dict) and error.schema.get("description")
    if described and error.validator in _DESCRIBED:
        return f"{_shown(error.instance)} is not {described}"
    # jsonschema shows the whole value in Python's words: shorten a long one, and null, true and false are JSON's.
    if len(error.message) > MAX_ERROR_CHARACTERS // 2 or error.instance is None or isinstance(error.instance, bool):
        return error.message.replace(repr(error.instance), _shown(error.instance), 1)
    return error.message


def _shown(value: object) -> str:
    in_json = value is None or isinstance(value, bool)
    return json.dumps(value) if in_json else bounded(repr(value), 80)


def _pointer(path: tuple[str | int, ...]) -> str:
    """RFC 6901; the root, whose pointer is empty, is spelled out."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path) or "(root)"


@cache
def _validator(file_name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    schemas, registry = _schemas()
    return Draft202012Validator(schemas[file_name], registry=registry)


@cache
def _definition(reference: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({"$ref": reference}, registry=_schemas()[1])


def _schemas() -> tuple[dict[str, Any], Registry[Any]]:
    from referencing import Registry, Resource

    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(SCHEMAS.glob("*.schema.json"))]
    # A registry without a retriever: an unknown reference is an error, never a download.
    resources: list[tuple[str, Resource[Any]]] = [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
    registry: Registry[Any] = Registry().with_resources(resources)
    return {schema["$id"]: schema for schema in schemas}, registry
