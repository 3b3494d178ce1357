"""What a board says of itself in small files; and that any other text is refused, whichever parser gets it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.devfreq import parse_available_frequencies, parse_frequency
from rerig_agent.parse.device_tree import parse_ids, parse_strings
from rerig_agent.parse.dpkg_status import parse_packages
from rerig_agent.parse.efivar import parse_variable
from rerig_agent.parse.lines import split_lines
from rerig_agent.parse.nv_boot_control import parse_boot_control, parse_spec
from rerig_agent.parse.nv_tegra_release import parse_release
from rerig_agent.parse.nvbootctrl import parse_slots
from rerig_agent.parse.nvfancontrol import parse_default_profile, parse_profile
from rerig_agent.parse.nvpmodel import parse_listing, parse_query, parse_query_verbose, parse_status
from rerig_agent.parse.nvpmodel_conf import parse_conf

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "l4t"
STRINGS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=80)


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text("utf-8")


TREES = [tuple(recorded("device_tree").splitlines()[number : number + 2]) for number in (0, 2)]


# Of a text: what every reader of lines does.


def test_prompts_carriage_returns_and_blanks_are_no_part_of_an_answer() -> None:
    text = "$ sudo nvpmodel -q\r\nuser@board:~$ nvpmodel -q\nroot@board:/etc# \n  NV Power Mode: 15W \t\r\n0\n\n"
    assert split_lines(text, "answer") == ["NV Power Mode: 15W", "0", "", ""]


@pytest.mark.parametrize("kept", ["# R36 (release)", "$HOME", "${cbootargs} rw", "user@board", "a@b: c$ d"])
def test_what_only_resembles_a_prompt_is_kept(kept: str) -> None:
    assert split_lines(kept, "answer") == [kept]


@pytest.mark.parametrize("text", ["\0", "15W\n" + "\0" * 4000, "x" * 20_000, "x\n" * 600_000])
def test_what_no_tool_prints_is_refused_whole(text: str) -> None:
    with pytest.raises(ParseError, match="no answer"):
        split_lines(text, "answer")


# The device tree.


@pytest.mark.parametrize(("model", "compatible"), TREES)
def test_strings_of_the_device_tree_are_told_apart_by_nul(model: str, compatible: str) -> None:
    assert parse_strings(model + "\0") == [model]
    assert parse_strings(compatible.replace(" ", "\0") + "\0\n") == compatible.split()


def test_the_model_of_r35_is_a_string_as_well() -> None:
    assert parse_strings("NVIDIA Orin Nano Developer Kit\0") == ["NVIDIA Orin Nano Developer Kit"]


@given(st.lists(STRINGS, min_size=1, max_size=5))
def test_written_strings_read_back(strings: list[str]) -> None:
    assert parse_strings("".join(f"{one}\0" for one in strings)) == strings


@pytest.mark.parametrize("end", range(1, len("nvidia,p3768-0000+p3767-0005-super")))
def test_a_torn_name_of_a_board_is_no_other_board(end: int) -> None:
    with pytest.raises(ParseError):
        parse_strings("nvidia,p3768-0000+p3767-0005-super"[:end])


@pytest.mark.parametrize(
    "text", ["", "\0", "a\0\0b\0", "a\0b", "a\n\0", "\x1b[2J\0", "\u00e9\0", "a" * 1001 + "\0", "a\0" * 40_000]
)
def test_what_is_no_property_of_strings_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_strings(text)


def test_ids_name_the_module_and_the_carrier() -> None:
    ids = {"module": ("3767", "0005", "300"), "carrier": ("3768", "0000", "400")}
    assert parse_ids("3767-0005-300 3768-0000-400\0") == ids
    assert parse_ids("3767-0005-300 3768-0000-400\n") == ids
    assert parse_ids("3767-0005-TS4-R.1\0") == {"module": ("3767", "0005", "TS4")}
    assert parse_ids("3701-0005-500 a-carrier-of-somebody\0") == {"module": ("3701", "0005", "500")}


@pytest.mark.parametrize(
    "text", ["", "3767-0005-30", "3767-0005-300x", "3767-0005", "-3767-0005-300", "\u0663767-0005-300", "x" * 70_000]
)
def test_what_are_no_ids_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_ids(text)


# Frequencies.


def test_a_table_of_frequencies_is_read_as_it_stands() -> None:
    table = parse_available_frequencies(recorded("gpu_table_super"))
    assert table == tuple(mhz * 1_000_000 for mhz in (306, 408, 510, 612, 714, 816, 918, 1020))
    assert parse_available_frequencies("1497600 1574400 1651200 1728000 \n")[-1] == 1_728_000
    assert parse_available_frequencies("624750000\n") == (624_750_000,)


@given(st.sets(st.integers(1, 2**40), min_size=1, max_size=40))
def test_a_written_table_reads_back(steps: set[int]) -> None:
    assert parse_available_frequencies(" ".join(map(str, sorted(steps))) + " \n") == tuple(sorted(steps))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " \n",
            "5 4",
            "4 4",
            "0 1",
            "1e9",
            "-5",
            "5 -6",
            "1_0",
            "\u0661\u0662",
            "1\u20032",
            "306000000\0408000000",
        ),
        "306000000 4080000",  # torn
        " ".join(map(str, range(1, 300))),
    ],
)
def test_what_is_no_rising_row_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_available_frequencies(text)


def test_one_frequency_stands_alone() -> None:
    assert [parse_frequency(text) for text in ("1728000\n", " 9223372036854775807\r\n", "0")] == [1728000, 2**63 - 1, 0]
    for text in ("", "\n", "1 2", "-1", "0x10", "1.5", "max", "\u0661", "9" * 5000):
        with pytest.raises(ParseError):
            parse_frequency(text)


# The fan, packages.


def test_the_fan_s_profile_is_read_where_it_is_kept_and_where_it_is_configured() -> None:
    assert parse_profile(recorded("fan")) == "cool"
    assert parse_profile("NVFAN INFO FAN1:FAN_PROFILE: quiet\n") == "quiet"
    assert parse_profile("FAN1:FAN_PROFILE:cool\r\nFAN1:FAN_GOVERNOR:cont\r\nFAN1:FAN_CONTROL:close_loop\r\n") == "cool"
    assert parse_profile("$ sudo nvfancontrol -q\nFAN_PROFILE:cool\n") == "cool"
    conf = (
        "<FAN 1>\n\tFAN_PROFILE quiet {\n\t\t0\t0\t255\t2900\n\t}\n\t#FAN_DEFAULT_PROFILE cool\n\tFAN_DEFAULT_PROFILE "
    )
    assert parse_default_profile(f"{conf}quiet\n") == "quiet"
    assert parse_default_profile(f"{conf}MLPerf # ours\n") == "MLPerf"


@pytest.mark.parametrize(
    "text", ["", "FAN_PROFILE:", "FAN_PROFILE:c\u00f4\u00f4l", "FAN_PROFILE:a b", "FAN_PROFILE quiet {"]
)
def test_what_names_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_profile(text)
    with pytest.raises(ParseError):
        parse_default_profile(text)


NAMES = r"nvidia-l4t-core|cuda-toolkit-[0-9-]+"
CORE = "Package: nvidia-l4t-core\nStatus: install ok installed\nArchitecture: arm64\nVersion: 36.4.7-20250918154033\n"


@pytest.mark.parametrize("version", recorded("package_versions").splitlines())
def test_an_installed_package_has_its_version(version: str) -> None:
    text = CORE.replace("36.4.7-20250918154033", version) + "Description: x\n\n"
    assert parse_packages(text, NAMES) == {"nvidia-l4t-core": version}


def test_only_installed_packages_of_the_names_are_listed() -> None:
    text = (
        f"{CORE}\nPackage: nvidia-l4t-core-x\nStatus: install ok installed\nVersion: 1\n\n"
        "Package: cuda-toolkit-12-6\nStatus: deinstall ok config-files\nVersion: 12.6.11-1\n\n"
        "Package: cuda-toolkit-13-0\nStatus: install ok half-configured\nVersion: 13.0.1-1\n"
    )
    assert parse_packages(text, NAMES) == {"nvidia-l4t-core": "36.4.7-20250918154033"}


@pytest.mark.parametrize("end", range(len(CORE)))
def test_a_torn_list_of_packages_has_no_torn_version(end: int) -> None:
    assert parse_packages(CORE[:end], NAMES) == {}


# Anything else.

PARSERS: list[Callable[[str], Any]] = [
    *(parse_strings, parse_ids, parse_available_frequencies, parse_frequency, parse_query, parse_query_verbose),
    *(parse_listing, parse_status, parse_conf, parse_boot_control, parse_spec, parse_variable, parse_release),
    *(parse_slots, parse_profile, parse_default_profile),
]
WORDS = (
    "< > PARAM POWER_MODEL ID=1 NAME=A DEFAULT= NV\u00a0Power\u00a0Mode: \n - -- \0 TNSPEC slot: slot: 3767 0005 0 1, "
    "pmode: REAL_VAL: ARG PATH /sys FAN_PROFILE: Current\u00a0bootloader\u00a0slot: A num_slots: # R36 (release), "
    "REVISION: 4.7 07000000"
).split(" ")
ANY_TEXT = st.one_of(
    st.text(),
    st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.lists(
        st.one_of(st.sampled_from([word.replace("\u00a0", " ") for word in WORDS]), st.text(max_size=4)), max_size=20
    ).map(" ".join),
)


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
@given(text=ANY_TEXT)
def test_other_texts_are_refused_and_nothing_else_happens(parser: Callable[[str], Any], text: str) -> None:
    with contextlib.suppress(ParseError):
        parser(text)
    parse_packages(text, "[a-z0-9-]+")


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
@pytest.mark.parametrize(
    "part",
    ["7", " ", "\n", "-", ",", "a b\n", "< ", "<A>\n", "slot: 0, ", "NV Power Mode: ", "PARAM A: ARG ", "\u0667", "\0"],
)
def test_ten_megabytes_are_refused_at_once(parser: Callable[[str], Any], part: str) -> None:
    with pytest.raises(ParseError):
        parser(part * (10_000_000 // len(part)))


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
@pytest.mark.parametrize(
    "text", ["slot: 0,{}", "<A{}", "NV Power Mode:{}", "pmode:1{}", "PARAM A: ARG A: PATH /{}", "# R36{}", "TNSPEC{}"]
)
def test_a_long_line_takes_no_long_time(parser: Callable[[str], Any], text: str) -> None:
    for filling in (" ", ", ", "a=", "\t "):
        with contextlib.suppress(ParseError):
            parser(text.format(filling * (16_000 // len(filling))))
