"""What a result shows of a board: everything that the judge says, and no word of anybody else's."""

from __future__ import annotations

import itertools
from typing import Any, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.judge.public_board import CODES, VERDICTS, public_board_state, public_cause
from rerig_agent.judge.super_causes import cause_of

STATES = ("super", "not_super", "unknown")
BOARDS = [
    {"family": "p3767", "name": "Orin Nano 8GB", "sku": "0005"},
    {"family": "p3767", "name": "Orin NX 16GB", "sku": "0000"},
    {"family": "agx_orin", "name": "AGX Orin", "sku": None},
    {"family": "thor", "name": "AGX Thor", "sku": None},
    {"family": "unknown", "name": None, "sku": None},
]
MODES = [
    {"name": name, "applied": applied, "differences": differences}
    for name in (None, "MAXN_SUPER", "15W")
    for applied, differences in (
        (None, []),
        (True, []),
        (False, [{"what": "GPU MAX_FREQ", "real": 612_000_000}]),
        (False, [{"what": "CPU_A78_0 MAX_FREQ", "real": 1_344_000}]),
        (False, [{"what": "TPC_POWER_GATING TPC_PG_MASK", "real": 252}]),
        (False, [{"what": "EMC MAX_FREQ", "real": 2_133_000_000}]),
    )
]


def clocks() -> Iterator[dict[str, Any]]:
    """Clocks that lag behind what is expected in each way."""
    for last, cap, emc in itertools.product(
        (None, 624_750_000, 765_000_000, 1_020_000_000), (None, 612_000_000, 1_020_000_000), (None, 2_133_000_000)
    ):
        yield {
            **{"gpu_last_hz": last, "gpu_max_hz": cap, "cpu_max_khz": emc and 1_510_400, "emc_max_hz": emc},
            **{"emc_cap_hz": emc, "emc_rate_hz": emc, "emc_locked": emc is not None, "pinned": None},
            **{"gpu_expected_hz": 1_020_000_000, "gpu_plain_hz": 624_750_000},
            **{"cpu_expected_khz": 1_728_000, "emc_expected_hz": 3_199_000_000},
        }


def every_answer() -> Iterator[tuple[str, str, str]]:
    """What the judge answers to each board, state of the layers, mode and clock."""
    for board, layers, mode, clock, error in itertools.product(
        BOARDS, itertools.product(STATES, repeat=3), MODES, clocks(), (None, "denied", "missing")
    ):
        states = dict(zip(("device_tree", "nvpmodel", "firmware"), layers))
        no_clock_is_behind = clock["gpu_last_hz"] == 1_020_000_000 and clock["emc_max_hz"] is None
        if (error is None or clock["gpu_last_hz"] is None) and not (layers[2] != "super" and no_clock_is_behind):
            yield cause_of(board, states, mode, clock, error)


def test_every_answer_of_the_judge_can_stand_in_a_result() -> None:
    answers = set(every_answer())
    assert {code for _, code, _ in answers} == CODES.keys() - {"other"}
    assert {verdict for verdict, _, _ in answers} <= {*VERDICTS}
    assert [cause for _, code, cause in answers if public_cause(code, cause) != cause] == []


@pytest.mark.parametrize("code", CODES)
def test_the_sentence_in_the_place_of_another_is_of_the_judges_words(code: str) -> None:
    assert public_cause(code, CODES[code]) == CODES[code]
    assert public_cause(code, "The mode is Workshop.") == CODES[code]


@pytest.mark.parametrize(
    "word", ["workshop", "WORKSHOP", "MAXN_WORKSHOP", "192.168.1.20", "fe80::1", "orin.example.net", "CPU_WORKSHOP"]
)
def test_a_word_that_is_not_the_judges_replaces_the_sentence(word: str) -> None:
    assert word not in public_cause("mode_not_maxn", f"All three layers are Super, but the mode is {word}.")
    assert public_cause("of_a_person", f"The mode is {word}.") == CODES["other"]


def test_a_machine_without_a_tegra_has_no_board_state() -> None:
    assert public_board_state({"jetson": None}) is None
    assert public_board_state(None) is None


def text(value: str) -> dict[str, str]:
    return {"text": value}


def test_a_board_is_told_with_its_mode_its_layers_and_its_clocks() -> None:
    conf = "< PARAM TYPE=CLOCK NAME=GPU >\nMAX_FREQ /sys/x/max_freq\n< POWER_MODEL ID=0 NAME={} >\nGPU MAX_FREQ -1\n"
    jetson = {
        "device_tree": {"compatible": text("nvidia,p3768-0000+p3767-0005\0nvidia,tegra234\0"), "ids": text("")},
        "files": {
            "nv_tegra_release": text("# R36 (release), REVISION: 4.7, GCID: 1, BOARD: generic, EABI: aarch64"),
            "nvpmodel_status": text("pmode:0000"),
        },
        "conf": text(conf.format("15W") + "< PM_CONFIG DEFAULT=0 >\n"),
        "gpu": {"available_frequencies": text("306000000 624750000"), "max_freq": text("624750000")},
        "cpus": {"cpu0": {"highest_khz": text("1510400")}},
        "clocks": {"emc_max_rate": {"error": "denied"}},
    }
    assert public_board_state({"jetson": jetson}) == {
        "verdict": "not_super",
        "code": "nothing_super",
        "cause": "Nothing here is Super, and the GPU's table ends at 624.75 MHz.",
        "name": "Orin Nano 8GB",
        "release": "36.4.7",
        "mode": "15W",
        "layers": {"device_tree": "not_super", "nvpmodel": "not_super", "firmware": "not_super"},
        "gpu_last_hz": 624_750_000,
        "gpu_max_hz": 624_750_000,
        "cpu_max_khz": 1_510_400,
        "emc_max_hz": None,
    }
    jetson["conf"] = text(conf.format("Workshop") + "< PM_CONFIG DEFAULT=0 >\n")
    found = public_board_state({"jetson": jetson})
    assert found is not None
    assert found["mode"] == "other"


@given(st.dictionaries(st.sampled_from(["device_tree", "files", "conf", "gpu", "cpus", "clocks"]), st.integers()))
def test_torn_evidence_gives_a_state_all_the_same(jetson: dict[str, Any]) -> None:
    found = public_board_state({"jetson": jetson})
    assert found is not None
    assert found["verdict"] == "unknown"
