"""Lines of tegrastats from boards of five kinds and releases R35 to R39, and what is no such line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.tegrastats import parse_line, parse_lines

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "l4t"
Agree = Callable[[Any, Any], None]


def recorded(name: str, number: int = 0) -> str:
    return (RECORDED / f"tegrastats_{name}.txt").read_text("utf-8").splitlines()[number]


def core(load: int, mhz: int) -> dict[str, int]:
    return {"load": load, "mhz": mhz}


def rail(now: int, average: int | None) -> dict[str, int | None]:
    return {"now_mw": now, "average_mw": average}


FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "a user on R36": (
        recorded("nano_user"),
        {
            "time": "09-17-2026 02:10:03",
            "ram_used_mb": 1488,
            "ram_total_mb": 7620,
            "largest_free_blocks": 105,
            "largest_free_block_kb": 4096,
            "swap_used_mb": 253,
            "swap_total_mb": 12002,
            "swap_cached_mb": 2,
            "cpus": [core(0, 1036), core(0, 1036), core(1, 1036), core(1, 1036), core(0, 729), core(0, 729)],
            "cpus_complete": True,
            "gpu": {"load": 0, "mhz": []},
            "emc": None,
            "engines": {},
            "temperatures": {
                "cpu": 47.875,
                "soc2": 46.75,
                "soc0": 47.281,
                "gpu": 50.218,
                "tj": 50.218,
                "soc1": 48.281,
            },
            "rails": {
                "VDD_IN": rail(4654, 4654),
                "VDD_CPU_GPU_CV": rail(560, 560),
                "VDD_SOC": rail(1484, 1484),
            },
        },
    ),
    "a busy GPU": (
        recorded("nano_user", 1),
        {
            "gpu": {"load": 62, "mhz": [612]},
            "temperatures": {"gpu": 50.0, "tj": 50.0, "cpu": 47.75},
            "rails": {"VDD_SOC": rail(1446, 1473), "VDD_IN": rail(4541, 4541)},
        },
    ),
    "root on R36": (
        recorded("nano_root"),
        {
            "swap_total_mb": 3810,
            "cpus": [core(1, 729), core(1, 729), core(4, 729), core(1, 729), core(0, 729), core(0, 729)],
            "emc": {"load": 0, "mhz": 204},
            "gpu": {"load": 0, "mhz": [305]},
            "engines": {
                **dict.fromkeys(("NVDEC", "NVJPG", "NVJPG1", "VIC", "OFA")),
                "APE": {"load": None, "mhz": [200]},
            },
            "rails": {"VDD_IN": rail(2957, 2957), "VDD_CPU_GPU_CV": rail(486, 486), "VDD_SOC": rail(1012, 1012)},
        },
    ),
    "a whole degree": (
        recorded("nano_user", 2),
        {"swap_cached_mb": 20, "temperatures": {"soc1": 46.0, "tj": 46.125}, "rails": {"VDD_IN": rail(4742, 4742)}},
    ),
    "two temperatures and three powers on R39": (
        recorded("nano_r39"),
        {
            "ram_used_mb": 5739,
            "largest_free_blocks": 1,
            "swap_used_mb": 2047,
            "swap_cached_mb": 209,
            "cpus": [core(72, 1728), core(75, 1728), core(88, 1728), core(79, 1728), core(87, 1728), core(78, 1728)],
            "gpu": {"load": 33, "mhz": []},
            "temperatures": {"cpu": 50.0, "soc2": 47.937, "tj": 50.0},
            "rails": {
                "VDD_IN": rail(9761, 9761),
                "VDD_CPU_GPU_CV": rail(4238, 4238),
                "VDD_SOC": rail(1825, 1825),
            },
        },
    ),
    "R35 in capitals, with cores that are off": (
        recorded("nano_r35"),
        {
            "cpus": [core(11, 729), core(13, 729), core(9, 729), core(18, 729), None, None],
            "emc": {"load": 0, "mhz": 2133},
            "gpu": {"load": 0, "mhz": [305]},
            "engines": {
                "GR3D2": {"load": 0, "mhz": [0]},
                "VIC": {"load": None, "mhz": [115]},
                "APE": {"load": None, "mhz": [174]},
            },
            "temperatures": {"cv0": 42.718, "cpu": 44.093, "gpu": 41.343, "tj": 46.968, "soc1": 46.968, "cv2": 42.875},
            "rails": {"VDD_IN": rail(4915, 4915), "VDD_CPU_GPU_CV": rail(449, 449), "VDD_SOC": rail(1431, 1431)},
        },
    ),
    "an Orin NX": (
        recorded("nx"),
        {
            "ram_total_mb": 15657,
            "cpus": [core(1, 1420), core(2, 1420), core(4, 1420), core(3, 1420), None, None, None, None],
            "temperatures": {"cv0": 43.562, "gpu": 43.0, "tj": 46.937},
            "rails": {"VDD_IN": rail(6120, 6120), "VDD_SOC": rail(2464, 2464)},
        },
    ),
    "an AGX Orin without swap": (
        recorded("agx_r39"),
        {
            "time": "07-25-2026 09:08:28",
            "swap_used_mb": None,
            "swap_total_mb": None,
            "swap_cached_mb": None,
            "emc": {"load": 3, "mhz": 3199},
            "gpu": {"load": 12, "mhz": [1300, 1300]},
            "engines": {"NVENC0": None, "PVA0": None, "APE": {"load": None, "mhz": [174]}},
            "temperatures": {"cpu": 52.968, "gpu": 47.625},
            "rails": {
                "VDD_GPU_SOC": rail(5139, 5139),
                "VDD_CPU_CV": rail(3268, 3268),
                "VIN_SYS_5V0": rail(5500, 5500),
            },
        },
    ),
    "a Thor with three clocks of its GPU and no load": (
        recorded("thor"),
        {
            "ram_total_mb": 125772,
            "emc": {"load": 0, "mhz": 2750},
            "gpu": {"load": None, "mhz": [314, 314, 314]},
            "engines": {"NVENC0": {"load": None, "mhz": [314]}, "OFA": {"load": None, "mhz": [315]}, "PVA0": None},
            "temperatures": {"tj": 38.875, "soc012": 37.468, "soc345": 37.406},
            "rails": {"VIN": rail(19780, 19780), "VDD_GPU": rail(1962, 1962), "VDD_CPU_SOC_MSS": rail(5887, 5887)},
        },
    ),
    "no date and one power a rail": (
        "RAM 4011/8138MB (lfb 8x4MB) SWAP 0/4068MB (cached 0MB) CPU [12%@1190,7%@1190,...] EMC_FREQ 0% GR3D_FREQ 35% "
        "AO@47C CPU@52C GPU@49C tboard@45C tdiode@46C VDD_GPU_SOC 1234mW VDD_CPU_CV 567mW",
        {
            "time": None,
            "ram_used_mb": 4011,
            "cpus": [core(12, 1190), core(7, 1190)],
            "cpus_complete": False,
            "emc": {"load": 0, "mhz": None},
            "gpu": {"load": 35, "mhz": []},
            "temperatures": {"ao": 47.0, "cpu": 52.0, "gpu": 49.0, "tboard": 45.0, "tdiode": 46.0},
            "rails": {"VDD_GPU_SOC": rail(1234, None), "VDD_CPU_CV": rail(567, None)},
        },
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_with_its_values(form: str, agree: Agree) -> None:
    text, right = FORMS[form]
    agree(parse_line(text), right)
    agree(parse_line(text + " \r\n"), right)


AGX_R35 = (
    "01-02-2024 03:04:05 RAM 1300/62795MB (lfb 9x512kB) SWAP 0/31398MB (cached 0MB) CPU [1%@729,off] EMC_FREQ 0% "
    "GR3D_FREQ 0%@0 GR3D2_FREQ 0%@0 NVJPG1 729 VIC_FREQ 729 APE 174 CV0@-256C CPU@42.5C Tboard@32C GPU@-256C "
)


def test_channels_with_nothing_behind_them_are_no_rails_and_what_has_no_power_has_no_temperature() -> None:
    line = AGX_R35 + "VDD_GPU_SOC 2399mW/2400mW NC 0mW/0mW VDDQ_VDD2_1V8AO 301mW/301mW NC 0mW/0mW"
    found = parse_line(line)
    assert found["rails"] == {"VDD_GPU_SOC": rail(2399, 2400), "VDDQ_VDD2_1V8AO": rail(301, 301)}
    assert found["temperatures"] == {"cv0": None, "cpu": 42.5, "tboard": 32.0, "gpu": None}
    assert (found["emc"], found["largest_free_block_kb"]) == ({"load": 0, "mhz": None}, 512)
    assert found["engines"]["NVJPG1"] == {"load": None, "mhz": [729]}


def test_power_without_a_unit_is_read_where_there_are_two_numbers() -> None:
    assert parse_line(AGX_R35 + "VDD_IN 8039/8040")["rails"] == {"VDD_IN": rail(8039, 8040)}
    for torn in ("VDD_IN 8039", "VDD_IN 8039/", "NC 0", "NC"):
        with pytest.raises(ParseError):
            parse_line(AGX_R35 + torn)


@pytest.mark.parametrize("form", FORMS)
def test_only_what_is_printed_is_there(form: str) -> None:
    text, _ = FORMS[form]
    found = parse_line(text)
    assert len(found["temperatures"]) == text.count("@", text.index("]")) - sum(
        text.count(sign, text.index("]")) for sign in ("%@", " @")
    )
    assert len(found["rails"]) == text.count(" VDD_") + text.count(" VIN")


@pytest.mark.parametrize("form", FORMS)
def test_a_line_that_is_torn_in_a_value_is_refused(form: str) -> None:
    """Torn anywhere, it is refused or says nothing that the whole line doesn't say."""
    text, _ = FORMS[form]
    whole = parse_line(text)
    for end in range(len(text)):
        try:
            found = parse_line(text[:end])
        except ParseError:
            continue
        assert found["temperatures"].items() <= whole["temperatures"].items()
        assert (found["cpus"], found["ram_used_mb"]) == (whole["cpus"], whole["ram_used_mb"])
        for name, power in found["rails"].items():
            assert power["now_mw"] == whole["rails"][name]["now_mw"]
            assert power["average_mw"] in (None, whole["rails"][name]["average_mw"])


def test_a_sensor_without_power_has_no_temperature() -> None:
    line = recorded("nx").replace("cv0@43.562C", "cv0@-256C").replace("cv1@43.312C", "cv1@-5.5C")
    found = parse_line(line)["temperatures"]
    assert (found["cv0"], found["cv1"]) == (None, -5.5)


BEFORE, AFTER = "RAM 1/2MB (lfb 1x4MB) CPU [", "] GR3D_FREQ 0% cpu@40C VDD_IN 1mW/1mW"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\0",
        "RAM",
        BEFORE + AFTER,
        BEFORE + "1%@729,,2%@729" + AFTER,
        BEFORE + "101%@729" + AFTER,
        BEFORE + "-1%@729" + AFTER,
        BEFORE + "\u0661%@729" + AFTER,
        BEFORE + "off,...,off" + AFTER,
        BEFORE + "1%@729x" + AFTER,
        BEFORE + "off" + AFTER + " tj@50Cx",
        BEFORE + "off" + AFTER + " tj@50C/",
        BEFORE + "off" + AFTER + " VDD-SOC 12mW/12mW",
        BEFORE + "off" + AFTER + " VDD_soc 12mW/12mW",
        BEFORE + "off" + AFTER + " NCX 12mW/12mW",
        BEFORE + "off" + AFTER + "\nRAM 1/2MB",
        BEFORE + "off" + AFTER + " cpu@41C",
        BEFORE + "off" + AFTER + " VDD_IN 5mW",
        BEFORE + "off" + AFTER + " VDD_SOC",
        BEFORE + "off" + AFTER + " VDD_SOC 12",
        BEFORE + "off" + AFTER + " VDD_SOC 12mW/",
        BEFORE + "off" + AFTER + " VDD_SOC -12mW/1mW",
        BEFORE + "off" + AFTER + " tj@50",
        BEFORE + "off" + AFTER + " tj@\u0665C",
        BEFORE + "off" + AFTER + " GR3D2_FREQ @[1,",
        BEFORE + "off" + AFTER + " NVDEC on",
        "RAM 3/2MB (lfb 1x4MB) CPU [off" + AFTER,
        "RAM 1/2MB (lfb 1x4MB) SWAP 3/2MB (cached 0MB) CPU [off" + AFTER,
        BEFORE + "off" + AFTER + "7" * 10_000_000,
        BEFORE + "off," * 2_000_000 + AFTER,
        BEFORE + "off" + AFTER + " A@1C" * 2_000_000,
    ],
    ids=lambda line: str(len(line)),
)
def test_what_is_no_whole_line_is_refused(line: str) -> None:
    with pytest.raises(ParseError):
        parse_line(line)


def test_a_recording_is_its_lines() -> None:
    text = "$ sudo tegrastats --interval 500\r\n" + recorded("nano_user") + "\r\n\r\n" + recorded("nano_r39") + "\n"
    assert [found["ram_used_mb"] for found in parse_lines(text)] == [1488, 5739]
    assert len(parse_lines(text + recorded("nano_root")[:250])) == 2
    with pytest.raises(ParseError):
        parse_lines(recorded("nano_root")[:250] + "\n" + text)
    with pytest.raises(ParseError):
        parse_lines(recorded("nano_root")[:250] + "\n")
    with pytest.raises(ParseError):
        parse_lines(text + recorded("nano_root")[:250] + "\n")
    with pytest.raises(ParseError):
        parse_lines(recorded("nano_root")[:250])
    with pytest.raises(ParseError):
        parse_lines("$ tegrastats\n")


def test_memory_may_be_full() -> None:
    found = parse_line("RAM 2/2MB (lfb 1x4MB) SWAP 3/3MB (cached 0MB) CPU [off" + AFTER)
    assert (found["ram_used_mb"], found["swap_used_mb"]) == (2, 3)


NUMBERS = st.integers(0, 99_999)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


@given(
    cores=st.lists(st.none() | st.tuples(st.integers(0, 100), NUMBERS), min_size=1, max_size=14),
    heat=st.dictionaries(NAMES, st.integers(-40_000, 120_000), max_size=6),
    power=st.dictionaries(
        st.from_regex(r"(?:VDD|VIN)_[A-Z0-9_]{1,12}", fullmatch=True), st.tuples(NUMBERS, NUMBERS), max_size=4
    ),
    gpu=st.tuples(st.integers(0, 100), st.lists(NUMBERS, min_size=1, max_size=3)),
)
def test_what_is_written_is_read_back(
    cores: list[tuple[int, int] | None],
    heat: dict[str, int],
    power: dict[str, tuple[int, int]],
    gpu: tuple[int, list[int]],
) -> None:
    line = " ".join(
        [
            "01-02-2030 03:04:05 RAM 10/20MB (lfb 1x4MB)",
            "CPU [" + ",".join("off" if one is None else f"{one[0]}%@{one[1]}" for one in cores) + "]",
            f"GR3D_FREQ {gpu[0]}%@[{','.join(map(str, gpu[1]))}]",
            *(f"{name}@{value / 1000:.3f}C" for name, value in heat.items()),
            *(f"{name} {now}mW/{average}mW" for name, (now, average) in power.items()),
        ]
    )
    found = parse_line(line)
    assert found["cpus"] == [None if one is None else core(*one) for one in cores]
    assert found["gpu"] == {"load": gpu[0], "mhz": gpu[1]}
    assert found["temperatures"] == {name: value / 1000 for name, value in heat.items()}
    assert found["rails"] == {name: rail(*both) for name, both in power.items()}
