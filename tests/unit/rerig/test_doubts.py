"""Doubts and faults, and the verdict that follows from them."""

from __future__ import annotations

import pytest

from rerig.doubts import KINDS, issue, judge


def test_no_issue_is_valid_a_doubt_doubtful_a_fault_invalid() -> None:
    doubt, fault = issue("short_run", "it took 1 s"), issue("tool_failed", "it failed")
    assert judge([])["verdict"] == "valid"
    assert judge([doubt])["verdict"] == "doubtful"
    assert judge([doubt, fault])["verdict"] == "invalid"
    assert judge([], measured=False)["verdict"] == "not_measured"


def test_an_unknown_code_never_reaches_a_document() -> None:
    with pytest.raises(KeyError):
        issue("shortrun", "a typo")


def test_every_kind_has_advice_that_is_a_sentence() -> None:
    for kind in KINDS.values():
        assert kind.advice.endswith(".")
