"""What a Jetson's files and tools say, read right; and whatever else is there is refused in the same way."""

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
from rerig_agent.parse.esrt import version_text
from rerig_agent.parse.nv_boot_control import parse_boot_control, parse_spec
from rerig_agent.parse.nv_tegra_release import parse_release
from rerig_agent.parse.nvbootctrl import parse_slots
from rerig_agent.parse.nvpmodel import parse_change, parse_query, parse_query_verbose, parse_status
from rerig_agent.parse.nvpmodel_conf import parse_conf, path_candidates

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "l4t"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text("utf-8")


def test_strings_of_the_device_tree_are_told_apart_by_nul() -> None:
    text = "nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234\0"
    assert parse_strings(text) == ["nvidia,p3768-0000+p3767-0005-super", "nvidia,p3767-0005", "nvidia,tegra234"]
    ids = parse_ids("3767-0005-300 3768-0000-400\0")
    assert ids == {"module": ("3767", "0005", "300"), "carrier": ("3768", "0000", "400")}


def test_a_table_of_frequencies_is_read_as_it_stands() -> None:
    assert parse_available_frequencies(recorded("gpu_table_super"))[-1] == 1020000000
    assert parse_frequency("1728000\n") == 1728000
    for text in ("", "5 4", "0 1", "1e9", "-5", "\u0661\u0662", "1 " * 300):
        with pytest.raises(ParseError):
            parse_available_frequencies(text)


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("NV Power Mode: MAXN_SUPER\n2\n", []),
        ("NVPM WARN: fan mode is not set!\nNV Power Mode: MAXN_SUPER\n2\n", ["fan mode is not set!"]),
        (
            "NVPM WARN: fan mode is not set to cool\r\nNV Power Mode: MAXN_SUPER\r\n2\r\n",
            ["fan mode is not set to cool"],
        ),
        ("$ sudo nvpmodel -q\nNV Power Mode: MAXN_SUPER  \n2", []),
    ],
)
def test_the_mode_s_id_stands_in_the_line_after_its_name(text: str, warnings: list[str]) -> None:
    assert parse_query(text) == {"name": "MAXN_SUPER", "id": 2, "warnings": warnings}


def test_a_mode_without_its_id_is_none() -> None:
    with pytest.raises(ParseError):
        parse_query("NV Power Mode: MAXN_SUPER\n\n2\n")


def test_real_and_wanted_values_are_read_and_int_max_is_no_cap() -> None:
    (value,) = parse_query_verbose(
        "NVPM VERB: PARAM GPU: ARG MAX_FREQ: PATH /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq: "
        "REAL_VAL: 624750000 CONF_VAL: 9223372036854775807\n"
    )
    assert (value["param"], value["arg"], value["real"], value["conf"]) == ("GPU", "MAX_FREQ", 624750000, -1)
    assert len(parse_query_verbose(recorded("nvpmodel_query_verbose_25w"))) > 1
    assert len(parse_query_verbose(recorded("nvpmodel_query_verbose_maxn"))) >= 1


@pytest.mark.parametrize(
    ("text", "status", "outcome"),
    [
        (recorded("nvpmodel_reboot_declined"), 0, "reboot_required"),
        (recorded("nvpmodel_reboot_at_eof"), 0, "reboot_required"),
        (recorded("nvpmodel_reboot_forced"), 0, "rebooting"),
        (recorded("nvpmodel_unknown_mode"), 0, "bad_mode"),
        (recorded("nvpmodel_chroot"), 0, "chroot"),
        ("", 0, "done"),
        ("NVPM WARN: fan mode is not set!\n", 0, "done"),
        ("NVPM ERROR: Error writing 1020000000 to /sys/x: 22\n", 0, "error"),
        ("", 1, "error"),
    ],
)
def test_a_failure_is_found_behind_exit_status_0(text: str, status: int, outcome: str) -> None:
    found = parse_change(text, status)
    assert found["outcome"] == outcome
    assert found["sentence"].endswith(".")


def test_the_kept_mode_is_read_with_and_without_the_fan() -> None:
    assert parse_status("pmode:0002\n") == {"id": 2, "fan_mode": None}
    assert parse_status("pmode:0002 fmode:fan_mode_quiet") == {"id": 2, "fan_mode": "fan_mode_quiet"}


CONF = """# comment
< PARAM TYPE=CLOCK NAME=GPU >
MAX_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq
MAX_FREQ_KNEXT /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq

<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap

< POWER_MODEL ID=0 NAME=15W >
GPU MAX_FREQ 612000000
EMC MAX_FREQ 0
< POWER_MODEL ID=2 NAME=MAXN_SUPER >
GPU MAX_FREQ -1
GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on

< PM_CONFIG DEFAULT=0 >
"""


def test_a_configuration_gives_modes_by_name_and_both_kernels_paths() -> None:
    conf = parse_conf(CONF)
    assert [(model["id"], model["name"]) for model in conf["models"]] == [(0, "15W"), (2, "MAXN_SUPER")]
    assert conf["default"] == 0
    assert conf["models"][0]["settings"] == {"GPU MAX_FREQ": 612000000, "EMC MAX_FREQ": 0}
    assert conf["models"][1]["settings"]["GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN"] == "on"
    assert path_candidates(conf, "GPU MAX_FREQ")[0] == "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq"
    assert path_candidates(conf, "EMC MAX_FREQ") == ["/sys/kernel/nvpmodel_emc_cap/emc_iso_cap"]
    assert path_candidates(conf, "FAN X") == []


@pytest.mark.parametrize(
    "torn",
    [
        "",
        "< POWER_MODEL ID=0 NAME=15W",
        "< POWER_MODEL NAME=15W >",
        CONF + "< POWER_MODEL ID=2 NAME=MAXN >",
        CONF.replace("DEFAULT=0", "DEFAULT=5"),
        CONF.replace("GPU MAX_FREQ -1", "GPU MAX_FREQ"),
        "GPU MAX_FREQ -1\n",
    ],
)
def test_a_torn_configuration_is_refused(torn: str) -> None:
    with pytest.raises(ParseError):
        parse_conf(torn)


@pytest.mark.parametrize("line", recorded("tnspecs").splitlines())
def test_every_recorded_spec_says_whether_it_is_super(line: str) -> None:
    spec = parse_spec(line.split()[-1])
    assert (spec["fields"]["id"], spec["fields"]["sku"]) == ("3767", "0005")
    assert spec["super"] is ("-super-" in line)
    assert spec["root_device"] == ""


def test_specs_with_empty_places_and_other_endings_are_read() -> None:
    control = parse_boot_control(recorded("boot_control_super"))
    spec = parse_spec(control["COMPATIBLE_SPEC"])
    assert (spec["fields"]["fab"], spec["fields"]["revision"], spec["board"]) == (
        "",
        "",
        "jetson-orin-nano-devkit-super",
    )
    assert parse_spec("3767--0005--1--jetson-orin-nano-devkit-super-maxn-")["super"] is True
    assert parse_spec("3767-300-0005-R.1-1-1-jetson-orin-nano-devkit-superb-nvme0n1p1")["super"] is False


def test_a_variable_is_its_attributes_and_its_value() -> None:
    whole = (b"\7\0\0\0" + b"3767--0005--1--jetson-orin-nano-devkit-").hex()
    assert parse_variable(whole)["text"] == "3767--0005--1--jetson-orin-nano-devkit-"
    number = parse_variable("0700000001000000")
    assert (number["attributes"], number["number"], number["text"]) == (7, 1, None)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64, DATE: x", "35.4.1"),
        ("# R36 (release), REVISION: 5.2, GCID: 46426093, BOARD: generic, EABI: aarch64", "36.5.2"),
        ("# R39 (release), REVISION: 2.1, GCID: 46758480, BOARD: generic, EABI: aarch64, DATE: x", "39.2.1"),
        ("# R36 (release), REVISION: 4.4.1, GCID: 1, BOARD: generic", "36.4.4.1"),
    ],
)
def test_releases_come_out_as_they_are(line: str, version: str) -> None:
    assert parse_release(line + "\n# KERNEL_VARIANT: oot\n")["version"] == version


def test_esrt_s_numbers_are_versions() -> None:
    versions = {2360324: "36.4.4", 2360327: "36.4.7", 2360578: "36.5.2", 2556417: "39.2.1"}
    assert {number: version_text(number) for number in versions} == versions


def test_slots_are_read() -> None:
    slots = parse_slots(recorded("slots"))
    assert (slots["version"], slots["capsule_status"], slots["current"], slots["active"]) == ("36.4.7", 0, "B", "B")
    assert [slot["status"] for slot in slots["slots"]] == ["normal", "normal"]
    assert parse_slots("Current bootloader slot: A\n")["version"] is None


def test_only_installed_packages_of_the_names_are_listed() -> None:
    text = (
        "Package: nvidia-l4t-core\nStatus: install ok installed\nVersion: 36.4.7-20250918154033\n\n"
        "Package: nvidia-l4t-core-x\nStatus: install ok installed\nVersion: 1\n\n"
        "Package: cuda-toolkit-12-6\nStatus: deinstall ok config-files\nVersion: 12.6.11-1\n"
    )
    assert parse_packages(text, r"nvidia-l4t-core|cuda-toolkit-[0-9-]+") == {"nvidia-l4t-core": "36.4.7-20250918154033"}


PARSERS: list[Callable[[str], Any]] = [
    *(parse_strings, parse_ids, parse_available_frequencies, parse_frequency, parse_query, parse_query_verbose),
    *(parse_status, parse_conf, parse_boot_control, parse_spec, parse_variable, parse_release, parse_slots),
]
WORDS = [
    "<",
    ">",
    "PARAM",
    "POWER_MODEL ID=1 NAME=A",
    "NV Power Mode: X",
    "\n",
    "-",
    "\0",
    "TNSPEC",
    "slot:",
    "3767",
    "0",
]
ANY_TEXT = st.one_of(
    st.text(),
    st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), max_size=20).map(" ".join),
)


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
@given(text=ANY_TEXT)
def test_other_texts_are_refused_and_nothing_else_happens(parser: Callable[[str], Any], text: str) -> None:
    with contextlib.suppress(ParseError):
        parser(text)
    parse_packages(text, "[a-z0-9-]+")
    assert parse_change(text, 0)["sentence"].endswith(".")


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
def test_a_huge_line_is_refused(parser: Callable[[str], Any]) -> None:
    for text in ("7" * 1_000_000, "a b\n" * 200_000):
        try:
            parser(text)
        except ParseError:
            continue
        assert parser is parse_strings
