"""``jetson_clocks --show``: the clocks of processors, GPU and memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.jetson_clocks import parse_show

RECORDED = (Path(__file__).resolve().parents[3] / "fixtures" / "l4t" / "jetson_clocks_25w.txt").read_text("utf-8")
GPU = "GPU MinFreq=306000000 MaxFreq=918000000 CurrentFreq=306000000"
CORE = "cpu0:  Online=1 Governor=schedutil MinFreq=729600 MaxFreq=1344000 CurrentFreq=729600 IdleStates: WFI=1 c7=1"


def test_the_recorded_clocks_are_read() -> None:
    found = parse_show(RECORDED)
    assert found["family"] == "tegra234"
    assert found["machine"] == "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super"
    assert found["online"] == "0-5"
    assert [core["number"] for core in found["cpus"]] == [0, 1, 2, 3, 4, 5]
    assert found["cpus"][2] == {
        "number": 2,
        "online": True,
        "governor": "schedutil",
        "min_khz": 729600,
        "max_khz": 1344000,
        "now_khz": 1190400,
    }
    assert found["gpu"] == {"min_hz": 306000000, "max_hz": 918000000, "now_hz": 306000000}
    emc = {"min_hz": 204000000, "max_hz": 3199000000, "now_hz": 2133000000, "override": False}
    assert found["emc"] == emc
    assert (found["tpcs"], found["mode"]) == (4, "25W")
    assert found["fan"] == {"control": "nvfancontrol", "pwm": 69}


def test_a_recording_with_its_command_and_carriage_returns_is_the_same() -> None:
    assert parse_show("$ sudo jetson_clocks --show\r\n" + RECORDED.replace("\n", "\r\n")) == parse_show(RECORDED)


def test_what_a_user_may_not_read_and_cores_that_are_off_have_no_clocks() -> None:
    off = "cpu1:  Online=0 Governor= MinFreq= MaxFreq= CurrentFreq= IdleStates:"
    found = parse_show("\n".join([CORE, off, GPU, "EMC MinFreq= MaxFreq= CurrentFreq= FreqOverride="]))
    clocks = {"min_khz": None, "max_khz": None, "now_khz": None}
    assert found["cpus"][1] == {"number": 1, "online": False, "governor": None, **clocks}
    assert found["emc"] == {"min_hz": None, "max_hz": None, "now_hz": None, "override": None}
    assert (found["fan"], found["mode"], found["machine"]) == (None, None, None)


def test_newer_releases_say_once_who_is_online_and_have_two_lines_about_the_fan() -> None:
    cores = [CORE.replace("cpu0", f"cpu{number}").replace("Online=1 ", "") for number in range(4)]
    fan = "FAN Dynamic Speed Control=nvfancontrol hwmon0_pwm1=62\nFAN Dynamic Speed Control=nvfancontrol "
    engine = "PVA0_VPS0: Online=1 MinFreq=0 MaxFreq=1152000000 CurrentFreq=1152000000"
    emc = "EMC MinFreq=204000000 MaxFreq=2133000000 CurrentFreq=665600000"
    text = "\n".join(["Online CPUs: 0-1,3, Offline CPUs: 2", *cores, GPU, emc, engine, fan + "hwmon0_pwm1_enable=1"])
    found = parse_show(text)
    assert [core["online"] for core in found["cpus"]] == [True, True, False, True]
    assert found["online"] == "0-1,3"
    assert found["fan"] == {"control": "nvfancontrol", "pwm": 62}
    assert (found["emc"]["max_hz"], found["emc"]["override"]) == (2133000000, None)
    assert parse_show(text.replace("3, Offline CPUs: 2", "3, Offline CPUs:"))["online"] == "0-1,3"


def test_a_memory_that_jetson_clocks_holds_says_so_and_what_is_torn_elsewhere_is_not_there() -> None:
    emc = "EMC MinFreq=3199000000 MaxFreq=3199000000 CurrentFreq=3199000000 FreqOverride=1"
    names = "SOC family:tegra234  Machine:A board of \u00e9\nNV Power Mode: 25W and more\nOnline CPUs: 0-1-2"
    found = parse_show("\n".join([names, CORE.replace("Online=1 ", ""), GPU, emc]))
    assert found["emc"]["override"] is True
    assert (found["machine"], found["mode"], found["cpus"][0]["online"]) == (None, None, False)


def test_older_releases_sort_by_name_and_a_thor_names_its_gpu_otherwise() -> None:
    cores = [CORE.replace("cpu0", f"cpu{number}") for number in (0, 1, 10, 2)]
    thor = "gpu-gpc-0 MinFreq=1 MaxFreq=1575000000 CurrentFreq=2\ngpu-nvd-0 MinFreq=3 MaxFreq=4 CurrentFreq=5"
    found = parse_show("\n".join([*cores, thor, "FAN Dynamic Speed control=active hwmon2_pwm1=55"]))
    assert [core["number"] for core in found["cpus"]] == [0, 1, 2, 10]
    assert found["gpu"] == {"min_hz": 1, "max_hz": 1575000000, "now_hz": 2}
    assert found["fan"] == {"control": "active", "pwm": 55}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        CORE,
        GPU,
        f"{CORE}\n{GPU[:45]}",
        f"{CORE}\nGPU MinFreq=306000000 MaxFreq=-1 CurrentFreq=1",
        f"{CORE}\nGPU MinFreq=306000000 MaxFreq=\u0661 CurrentFreq=1",
        f"{CORE[:70]}\n{GPU}",
        f"cpu0:  Onl\n{CORE}\n{GPU}",
        f"{CORE.replace('schedutil', 'schedutil9')}\n{GPU}",
        f"{CORE}{' x=1' * 300}\n{GPU}",
        f"{CORE}\n{CORE}\n{GPU}",
        f"{CORE.replace('Online=1', 'Online=2')}\n{GPU}",
        "Error: jetson_clocks must be run as root",
        f"{CORE}\n{GPU}\n" + "7" * 10_000_000,
    ],
    ids=lambda text: str(len(text)),
)
def test_torn_and_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_show(text)


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7)), min_size=1, max_size=14)
)
def test_what_is_written_is_read_back(clocks: list[tuple[int, int, int]]) -> None:
    lines = [
        f"cpu{number}:  Online=1 Governor=performance MinFreq={low} MaxFreq={high} CurrentFreq={now} IdleStates: WFI=0"
        for number, (low, high, now) in enumerate(clocks)
    ]
    found = parse_show("\n".join([*lines, GPU]))
    assert [(core["min_khz"], core["max_khz"], core["now_khz"]) for core in found["cpus"]] == clocks
