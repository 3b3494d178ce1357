"""The power monitor's rails, from the small files of hwmon."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.ina3221 import parse_rails

NANO = {
    "name": "ina3221\n",
    "in1_label": "VDD_IN\n",
    "in1_input": "4992\n",
    "curr1_input": "931\n",
    "curr1_crit": "4984\n",
    "in2_label": "VDD_CPU_GPU_CV\n",
    "in2_input": "4984\n",
    "curr2_input": "-8\n",
    "in3_label": "VDD_SOC\n",
    "in3_input": "4984\n",
    "curr3_input": "289\n",
    "in4_input": "5\n",
    "in7_label": "sum of shunt voltages\n",
    "in7_input": "12\n",
    "in1_label_of_another_driver": "VDD_OTHER\n",
}


def test_power_is_voltage_times_current() -> None:
    rails = parse_rails(NANO)
    assert rails["VDD_IN"] == {"channel": 1, "mv": 4992, "ma": 931, "mw": 4648, "critical_ma": 4984}
    assert (rails["VDD_CPU_GPU_CV"]["ma"], rails["VDD_CPU_GPU_CV"]["mw"]) == (-8, -40)
    assert (rails["VDD_SOC"]["mw"], rails["VDD_SOC"]["critical_ma"]) == (1440, None)


def test_the_sum_of_the_shunts_is_no_rail() -> None:
    assert list(parse_rails(NANO)) == ["VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"]


@pytest.mark.parametrize(
    "change",
    [
        {"in1_label": "VDD IN"},
        {"in1_label": ""},
        {"in1_label": "VDD_\0"},
        {"in1_label": "VDD_SOC"},
        {"in1_input": "-4992"},
        {"in1_input": ""},
        {"in1_input": "\u0664"},
        {"curr1_input": "1e3"},
        {"curr1_input": "9" * 10_000_000},
        {"curr1_crit": "x"},
    ],
    ids=lambda change: repr(change)[:40],
)
def test_a_rail_that_is_no_rail_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(ParseError):
        parse_rails({**NANO, **change})


def test_a_channel_with_nothing_behind_it_is_left_out() -> None:
    unconnected = {"in2_label": "NC\n", "in3_label": "NC\n"}
    assert list(parse_rails({**NANO, **unconnected})) == ["VDD_IN"]


def test_no_rail_is_refused() -> None:
    for files in ({}, {"in1_label": "VDD_IN", "in1_input": "5000"}, {"curr1_input": "1"}):
        with pytest.raises(ParseError):
            parse_rails(files)


@given(
    st.dictionaries(
        st.sampled_from([*NANO, "in9_label", "curr9_input"]), st.text(max_size=20) | st.sampled_from([*NANO.values()])
    )
)
def test_any_files_give_rails_or_a_parse_error(files: dict[str, str]) -> None:
    try:
        rails = parse_rails(files)
    except ParseError:
        return
    assert all(rail["mw"] == round(rail["mv"] * rail["ma"] / 1000) for rail in rails.values())
