"""The comparison that the kill tests rest on overlooks nothing but what it names."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from same_document import COUNTED, OF_THE_DISK, OF_THE_MOMENT, OF_THE_SESSIONS, assert_same, timeless

RESULTS = sorted((Path(__file__).parents[2] / "schemas" / "examples" / "valid" / "result").glob("*.json"))
Place = list[str | int]


def leaves(value: Any, place: Place) -> Iterator[Place]:
    """The place of every value that holds no other."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from leaves(below, [*place, key])
    if not isinstance(value, dict | list):
        yield place


def changed(document: dict[str, Any], place: Place) -> dict[str, Any]:
    """The document with one other value, of the same kind."""
    other = copy.deepcopy(document)
    holder: Any = other
    for key in place[:-1]:
        holder = holder[key]
    value = holder[place[-1]]
    holder[place[-1]] = not value if isinstance(value, bool) else f"{value}x" if isinstance(value, str) else 12345.5
    return other


def is_named(place: Place) -> bool:
    path = ".".join("*" if isinstance(key, int) else key for key in place)
    return path in OF_THE_MOMENT or any(path.startswith(name) for name in OF_THE_SESSIONS)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_other_value_that_is_not_named_is_noticed(path: Path) -> None:
    document = json.loads(path.read_text("utf-8"))
    plain = timeless(document)
    places = [place for place in leaves(document, []) if not is_named(place)]
    assert len(places) > 50
    for place in places:
        assert is_of_the_disk(document, place) or timeless(changed(document, place)) != plain, place


def is_of_the_disk(document: Any, place: Place) -> bool:
    """Whether the place is within a doubt that a busy disk raises."""
    if "issues" not in place[:-1]:
        return False
    for key in place[: place.index("issues") + 2]:
        document = document[key]
    return document["code"] in OF_THE_DISK


def a_document(name: str = "plan.json", **changes: Any) -> dict[str, Any]:
    return {
        "run": {"id": "a", "sessions": []},
        "cases": [{"repeats": [{"seed": 1, "proof": {"verdict": "delivered"}}], "validity": {"issues": []}}],
        "raw": {"files": [{"name": name, "sha256": "a"}]},
        **changes,
    }


def test_a_value_of_the_moment_may_differ_and_its_kind_may_not() -> None:
    one, other, none = (a_document(run={"id": word, "sessions": []}) for word in ("a", "b", None))
    assert_same(one, other)
    with pytest.raises(AssertionError, match=r"run\.id: 'NoneType' instead of 'str'"):
        assert_same(none, one)


@pytest.mark.parametrize("verdict", COUNTED)
def test_what_others_read_from_the_disk_is_no_difference(verdict: str) -> None:
    issues = [{"code": code} for code in ("few_repeats", "extra_traffic")]
    case = {"repeats": [{"seed": 2, "proof": {"verdict": verdict}}], "validity": {"issues": issues}}
    with pytest.raises(AssertionError, match=r"cases\.0\.validity\.issues"):
        assert_same(a_document(cases=[case]), a_document())
    del issues[0]
    assert_same(a_document(cases=[case]), a_document())


def test_files_of_later_sessions_stand_for_those_of_the_first() -> None:
    assert_same(a_document("conditions-after-2.json"), a_document("conditions-after.json"))
    with pytest.raises(AssertionError, match=r"raw\.files\.0"):
        assert_same(a_document("conditions-after.json"), a_document("conditions-before.json"))
