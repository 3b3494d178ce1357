"""Processor times: what counts as busy, and that nothing else is taken for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.proc_stat import parse_processor_times

STAT = """cpu  500 40 30 2000 70 5 6 90 0 0
cpu0 100 10 20 1000 50 1 2 30 7 0
cpu3 400 30 10 1000 20 4 4 60 0 0
intr 12345 1 2 3
cpufreq 1
"""


def test_idle_waiting_and_stolen_time_is_not_busy() -> None:
    assert parse_processor_times(STAT) == {
        "cpu0": {"busy": 133, "total": 1213},
        "cpu3": {"busy": 448, "total": 1528},
    }


def test_an_old_kernel_has_four_times() -> None:
    assert parse_processor_times("cpu0 1 2 3 4\n") == {"cpu0": {"busy": 6, "total": 10}}


@pytest.mark.parametrize(
    "text", ["", "cpu 1 2 3 4\n", "cpu0 1 2 3\n", "cpu0 1 2 3 x\n", "cpu0 1 2 3 4\ncpu0 1 2 3 4\n"]
)
def test_what_holds_no_times_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_processor_times(text)


@given(st.text(st.sampled_from("cpu0 1239\n-x\x00\u0663"), max_size=60))
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    try:
        found = parse_processor_times(text)
    except ParseError:
        return
    assert all(times["busy"] <= times["total"] for times in found.values())
