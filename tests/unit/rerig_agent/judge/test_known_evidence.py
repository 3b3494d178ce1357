from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.judge.known_evidence import read_evidence, shown_name


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/a/model.bin", '"model.bin"'),
        ("/a/folder/", '"folder"'),
        ("/", '"/"'),
        ("", '""'),
        ("-rf", '"-rf"'),
        ("/a/모델.bin", '"모델.bin"'),
        ('/a/it\'s "x"', '"it\'s \\"x\\""'),
        ("/a/new\nline\x07", '"new\\x0aline\\x07"'),
        ("/a/back\\slash", '"back\\\\slash"'),
        ("/a/\udcff", '"\\xff"'),
        ("/a/\u202egnp.exe", '"\\u202egnp.exe"'),
    ],
)
def test_a_name_is_shown_in_quotes_with_escapes(path: str, shown: str) -> None:
    assert shown_name(path) == shown


@given(st.text())
def test_a_shown_name_is_always_one_printable_line_of_utf8(path: str) -> None:
    shown = shown_name(path)

    assert shown.isprintable()
    shown.encode("utf-8")


def test_values_of_other_types_count_as_missing() -> None:
    known = read_evidence({"size_bytes": True, "hole_bytes": "3", "encoded": 1, "mount": [], "unresolved": [1, "x"]})

    assert (known.size_bytes, known.hole_bytes, known.encoded) == (None, None, False)
    assert (known.mount, known.unresolved) == (None, ["x"])


def test_a_chain_is_no_longer_than_a_result_holds() -> None:
    known = read_evidence({"block_chain": [{"name": f"sda{number}"} for number in range(1000)]})

    assert len(known.chain) == 64
