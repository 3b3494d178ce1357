"""nvpmodel: its configuration, its answers, what it keeps, and what became of a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.nvpmodel import (
    NO_CAP,
    SENTENCES,
    parse_change,
    parse_listing,
    parse_query,
    parse_query_verbose,
    parse_status,
)
from rerig_agent.parse.nvpmodel_conf import parse_conf, path_candidates

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "l4t"
NAMES = st.from_regex(r"[A-Z0-9][A-Z0-9_]{0,20}", fullmatch=True)


def recorded(name: str) -> str:
    return (RECORDED / f"nvpmodel_{name}.txt").read_text("utf-8")


# nvpmodel -q


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (recorded("query"), []),
        (recorded("query_fan_not_set"), ["fan mode is not set!"]),
        (
            "NVPM WARN: fan mode is not set to cool\r\nNV Power Mode: MAXN_SUPER\r\n2\r\n",
            ["fan mode is not set to cool"],
        ),
        ("$ sudo nvpmodel -q\nNV Power Mode: MAXN_SUPER  \n2", []),
        ("NV Fan Mode:quiet\nNV Power Mode: MAXN_SUPER\n2\n", []),
        (
            "NVPM ERROR: Error opening /sys/x: 13\nNVPM WARN: a\nNVPM WARN: b\nNV Power Mode: MAXN_SUPER\n2\n",
            ["a", "b"],
        ),
        ("NVPM WARN: \nNV Power Mode: MAXN_SUPER\n2\n", []),
        (recorded("query_verbose_maxn"), []),
    ],
)
def test_the_mode_s_id_stands_in_the_line_after_its_name(text: str, warnings: list[str]) -> None:
    assert parse_query(text) == {"name": "MAXN_SUPER", "id": 2, "warnings": warnings}


@pytest.mark.parametrize("name", ["15W", "7W_AI", "MODE_15W_6CORE", "10W(MAXN)", "Custom-1"])
def test_a_mode_has_the_name_that_its_maker_gave_it(name: str) -> None:
    assert parse_query(f"NV Power Mode: {name}\n0\n")["name"] == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NV Power Mode: MAXN_SUPER",
        "NV Power Mode: MAXN_SUPER\n",
        "NV Power Mode: MAXN_SUPER\n\n2\n",
        "NV Power Mode: MAXN_SUPER\n-2\n",
        "NV Power Mode: MAXN_SUPER\n\u0662\n",
        "NV Power Mode: MAXN_SUPER\n2 3\n",
        "NV Power Mode: MAXN_SUPER\n20000\n",
        "NV Power Mode: \n2\n",
        "NV Power Mode: MAXN SUPER\n2\n",
        "NV Power Mode: MAXN_SUPER\n2\nNV Power Mode: 15W\n0\n",
        "NVPM ERROR: Error opening /var/lib/nvpmodel/status: 2\n",
    ],
)
def test_a_mode_without_its_id_or_two_modes_are_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_query(text)


@given(NAMES, st.integers(0, 9999), st.lists(st.from_regex(r"[a-z][a-z !]{0,20}[a-z!]", fullmatch=True), max_size=3))
def test_a_written_answer_reads_back(name: str, number: int, warnings: list[str]) -> None:
    text = "".join(f"NVPM WARN: {one}\n" for one in warnings) + f"NV Power Mode: {name}\n{number}\n"
    assert parse_query(text) == {"name": name, "id": number, "warnings": warnings}


# nvpmodel -q --verbose

GPU = "NVPM VERB: PARAM GPU: ARG MAX_FREQ: PATH /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq: "


def test_real_and_wanted_values_are_read_word_by_word() -> None:
    values = {(one["param"], one["arg"]): one for one in parse_query_verbose(recorded("query_verbose_25w"))}
    assert len(values) == 11
    assert values["GPU", "MAX_FREQ"] == {
        "param": "GPU",
        "arg": "MAX_FREQ",
        "path": "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq",
        "real": 918_000_000,
        "conf": 918_000_000,
    }
    power = values["GPU_POWER_CONTROL_ENABLE", "GPU_PWR_CNTL_EN"]
    assert (power["real"], power["conf"]) == ("auto", "on")
    assert values["EMC", "MAX_FREQ"]["path"] == "/sys/kernel/nvpmodel_clk_cap/emc"
    assert (values["GPU", "MIN_FREQ"]["real"], values["GPU", "MIN_FREQ"]["conf"]) == (306_000_000, 0)


@pytest.mark.parametrize("real", [1_020_000_000, 624_750_000])
@pytest.mark.parametrize("most", [*NO_CAP, -1])
def test_the_tool_s_largest_number_is_no_cap(real: int, most: int) -> None:
    (value,) = parse_query_verbose(f"{GPU}REAL_VAL: {real} CONF_VAL: {most}\r\n")
    assert (value["real"], value["conf"]) == (real, -1)


def test_what_can_not_be_read_is_left_out() -> None:
    text = (
        "NVPM ERROR: Error opening /sys/kernel/nvpmodel_clk_cap/emc: 13\n"
        "NVPM ERROR: failed to read PARAM EMC: ARG MAX_FREQ: PATH /sys/kernel/nvpmodel_clk_cap/emc\n"
        f"{GPU}REAL_VAL: 5 CONF_VAL: 5\n"
    )
    assert [value["param"] for value in parse_query_verbose(text)] == ["GPU"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        recorded("query"),
        GPU,
        f"{GPU}REAL_VAL: 5",
        f"{GPU}REAL_VAL: 5 CONF_VAL:",
        f"{GPU}REAL_VAL: 5 CONF_VAL: {'9' * 40}",
        f"{GPU}REAL_VAL: 5 CONF_VAL: 5_0",
        f"{GPU}REAL_VAL: \u0665 CONF_VAL: 5",
        f"{GPU}REAL_VAL: -- CONF_VAL: 5",
        f"{GPU}REAL_VAL: 5 CONF_VAL: 5\n{GPU}REAL_V",
    ],
)
def test_a_torn_value_makes_the_whole_answer_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_query_verbose(text)


# nvpmodel -p --verbose


def test_the_listing_reads_as_the_configuration_that_it_lists() -> None:
    found = parse_listing(recorded("parse_verbose"))
    assert found["default"] == 2
    assert [(model["id"], model["name"]) for model in found["models"]] == [(0, "MAXN"), (2, "MODE_30W")]
    assert found["models"][0]["settings"] == {"TPC_POWER_GATING TPC_PG_MASK": 0, "GPU MAX_FREQ": -1, "EMC MAX_FREQ": 0}
    assert found["models"][1]["settings"]["GPU MAX_FREQ"] == 624_750_000
    assert found["params"]["GPU"] == {
        "type": "CLOCK",
        "paths": {"MAX_FREQ": "/sys/devices/17000000.ga10b/devfreq_dev/max_freq"},
    }


def test_a_listing_of_some_lines_is_read_as_far_as_it_goes() -> None:
    text = (
        "NVPM VERB: PM_CONFIG: DEFAULT=MODE_30W(2)\nNVPM VERB: PARAM TYPE=CLOCK NAME=GPU\n"
        "NVPM VERB: MAX_FREQ /sys/devices/17000000.gv11b/devfreq/17000000.gv11b/max_freq\n"
        "NVPM VERB: POWER_MODEL: ID=0 NAME=MAXN\nNVPM VERB: GPU MAX_FREQ 9223372036854775807\n"
    )
    found = parse_listing(text)
    assert (found["default"], found["models"][0]["settings"]) == (2, {"GPU MAX_FREQ": -1})


@pytest.mark.parametrize("text", ["", "NVPM VERB: PM_CONFIG: DEFAULT=15W(0)\n", "NVPM VERB: POWER_MODEL: ID=0\n"])
def test_a_listing_without_modes_is_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_listing(text)


# What it keeps, and what it answers to a change.


def test_the_kept_mode_is_read_with_and_without_the_fan() -> None:
    assert parse_status(recorded("status")) == {"id": 2, "fan_mode": None}
    assert parse_status(recorded("status_fan")) == {"id": 2, "fan_mode": "fan_mode_quiet"}
    assert parse_status("pmode:0010\r\n") == {"id": 10, "fan_mode": None}


@pytest.mark.parametrize(
    "text",
    ["", "pmode:", "pmode:-1", "pmode:\u0662", "pmode:2 fmode:", "pmode:2 x", "pmode:2\npmode:1\n", "pmode:2\0\0"],
)
def test_what_is_no_kept_mode_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_status(text)


@pytest.mark.parametrize(
    ("text", "status", "outcome"),
    [
        (recorded("reboot_declined"), 0, "reboot_required"),
        (recorded("reboot_at_eof"), 0, "reboot_required"),
        (recorded("reboot_forced"), 0, "rebooting"),
        (recorded("unknown_mode"), 0, "bad_mode"),
        (recorded("unknown_mode"), 255, "bad_mode"),
        (recorded("chroot"), 0, "chroot"),
        (recorded("reboot_at_eof").replace("\n", "\r\n"), 0, "reboot_required"),
        ("", 0, "done"),
        ("NVPM WARN: fan mode is not set!\n", 0, "done"),
        ("NVPM ERROR: Error writing 1020000000 to /sys/x: 22\n", 0, "error"),
        ("", 1, "error"),
    ],
)
def test_a_failure_is_found_behind_exit_status_0(text: str, status: int, outcome: str) -> None:
    found = parse_change(text, status)
    assert found["outcome"] == outcome
    assert outcome == "error" or found["sentence"] == SENTENCES[outcome]


@pytest.mark.parametrize(
    ("text", "status", "sentence"),
    [
        ("NVPM ERROR: Error opening /sys/x: 13\n", 0, "nvpmodel failed: Error opening /sys/x: 13."),
        ("NVPM ERROR: bad input!\n", 0, "nvpmodel failed: bad input."),
        ("NVPM ERROR: \x1b[2J\n", 0, "nvpmodel failed: ?[2J."),
        ("NVPM ERROR: ...\n", 0, "nvpmodel failed: it does not say why."),
        ("", 139, "nvpmodel failed: exit status 139."),
    ],
)
def test_an_error_is_told_in_the_tool_s_words(text: str, status: int, sentence: str) -> None:
    assert parse_change(text, status)["sentence"] == sentence


@given(st.text(), st.integers(-20, 255))
def test_any_answer_to_a_change_has_a_sentence(text: str, status: int) -> None:
    for printed in (text, f"NVPM ERROR: {text}"):
        found = parse_change(printed, status)
        assert found["outcome"] in SENTENCES
        assert found["sentence"].isprintable()
        assert found["sentence"].endswith(".")


# The configuration.

CONF = """# comment
< PARAM TYPE=FILE NAME=CPU_ONLINE >
CORE_0 /sys/devices/system/cpu/cpu0/online

< PARAM TYPE=CLOCK NAME=GPU >
FREQ_TABLE /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/available_frequencies
MAX_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq
MAX_FREQ_KNEXT /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq

<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap

< PARAM TYPE=HWMON NAME=VDDIN_OC_LIMIT >
WARN /sys/devices/platform/c240000.i2c/i2c-1/1-0040/hwmon curr1_max

< POWER_MODEL ID=0 NAME=15W >
CPU_ONLINE CORE_0 1
VDDIN_OC_LIMIT WARN 3000
GPU MAX_FREQ 612000000
EMC MAX_FREQ 0

< POWER_MODEL NAME=MAXN_SUPER ID=2 > # mandatory
GPU MAX_FREQ -1
GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on

< PM_CONFIG DEFAULT=0 >
< FAN_CONFIG DEFAULT=quiet >
"""


@pytest.mark.parametrize("text", [CONF, CONF.replace("\n", " \r\n"), f"$ cat /etc/nvpmodel.conf\n{CONF}"])
def test_a_configuration_gives_modes_by_name_and_both_kernels_paths(text: str) -> None:
    conf = parse_conf(text)
    assert [(model["id"], model["name"]) for model in conf["models"]] == [(0, "15W"), (2, "MAXN_SUPER")]
    assert conf["default"] == 0
    assert conf["models"][0]["settings"] == {
        "CPU_ONLINE CORE_0": 1,
        "VDDIN_OC_LIMIT WARN": 3000,
        "GPU MAX_FREQ": 612000000,
        "EMC MAX_FREQ": 0,
    }
    assert conf["params"]["VDDIN_OC_LIMIT"] == {"type": "HWMON", "paths": {}}
    assert conf["models"][1]["settings"] == {"GPU MAX_FREQ": -1, "GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN": "on"}
    assert conf["params"]["CPU_ONLINE"]["type"] == "FILE"
    assert conf["params"]["GPU"]["paths"]["MAX_FREQ_KNEXT"].startswith("/sys/devices/platform/17000000.gpu/")
    assert path_candidates(conf, "GPU MAX_FREQ")[0] == "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq"
    assert path_candidates(conf, "EMC MAX_FREQ") == ["/sys/kernel/nvpmodel_emc_cap/emc_iso_cap"]
    assert path_candidates(conf, "FAN X") == []


def test_a_configuration_need_not_name_a_default() -> None:
    assert parse_conf("< POWER_MODEL ID=0 NAME=15W >\n") == {
        "params": {},
        "models": [{"id": 0, "name": "15W", "settings": {}}],
        "default": None,
    }


@pytest.mark.parametrize(
    "torn",
    [
        "",
        "# only a comment\n",
        "< POWER_MODEL ID=0 NAME=15W",
        "< POWER_MODEL NAME=15W >",
        "< POWER_MODEL ID=-1 NAME=15W >",
        "< POWER_MODEL ID=\u0661 NAME=15W >",
        "< POWER_MODEL ID=0 NAME= >",
        "< POWER_MODEL ID=0 NAME=15W! >",
        "< POWER_MODEL ID=0 < NAME=15W >",
        "< POWER_MODEL ID=0 NAME=15W >>",
        "< POWER_MODEL ID=0 NAME=15W > < POWER_MODEL ID=1 NAME=7W >",
        "< >",
        "<",
        CONF + "< POWER_MODEL ID=2 NAME=MAXN >",
        CONF + "< POWER_MODEL ID=3 NAME=15W >",
        CONF + "< PM_CONFIG DEFAULT=2 >",
        CONF.replace("DEFAULT=0", "DEFAULT=5"),
        CONF.replace("DEFAULT=0", "DEFAULT=x"),
        CONF.replace("GPU MAX_FREQ -1", "GPU MAX_FREQ"),
        CONF.replace("hwmon curr1_max", "hwmon"),
        CONF.replace("/cpu0/online", "/cpu0/on line"),
        CONF.replace("CORE_0 /sys/devices/system/cpu/cpu0/online", "CORE_0"),
        "GPU MAX_FREQ -1\n" + CONF,
        CONF + "\0",
    ],
)
def test_a_torn_configuration_is_refused(torn: str) -> None:
    with pytest.raises(ParseError):
        parse_conf(torn)


SETTINGS = st.dictionaries(
    st.sampled_from(["GPU MAX_FREQ", "CPU_ONLINE CORE_0", "TPC_POWER_GATING TPC_PG_MASK", "EMC MAX_FREQ"]),
    st.one_of(st.integers(-1, 2**63 - 1), st.sampled_from(["on", "auto"])),
)
MODES = st.sampled_from(["15W", "25W", "MAXN_SUPER", "7W_AI", "MODE_50W"])
MODELS = st.lists(st.tuples(st.integers(0, 99), MODES, SETTINGS), min_size=1, max_size=4).filter(
    lambda models: all(len({model[part] for model in models}) == len(models) for part in (0, 1))
)
PARAMS = st.dictionaries(st.sampled_from(["GPU", "EMC", "CPU_ONLINE"]), st.sampled_from(["FILE", "CLOCK"]))


@given(MODELS, PARAMS, st.integers(0, 3))
def test_a_written_configuration_reads_back(
    models: list[tuple[int, str, dict[str, Any]]], params: dict[str, str], which: int
) -> None:
    default = models[which % len(models)][0]
    lines = [f"< PARAM TYPE={kind} NAME={name} >\nMAX_FREQ /sys/{name}\n" for name, kind in params.items()]
    for number, name, settings in models:
        lines += [f"< POWER_MODEL ID={number} NAME={name} >", *(f"{key} {value}" for key, value in settings.items())]
    assert parse_conf("\n".join([*lines, f"< PM_CONFIG DEFAULT={default} >"])) == {
        "default": default,
        "params": {name: {"type": kind, "paths": {"MAX_FREQ": f"/sys/{name}"}} for name, kind in params.items()},
        "models": [{"id": number, "name": name, "settings": settings} for number, name, settings in models],
    }
