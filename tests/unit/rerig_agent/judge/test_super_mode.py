"""The verdict on whether a board is in Super mode: pure, so any evidence can be thought up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.judge.known_state import judge_links
from rerig_agent.judge.super_mode import EXPECTED, judge_super

CONF = """
< PARAM TYPE=CLOCK NAME=GPU >
MAX_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq
MAX_FREQ_KNEXT /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq
<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ_KNEXT /sys/kernel/nvpmodel_clk_cap/emc
< POWER_MODEL ID=0 NAME=15W >
GPU MAX_FREQ 612000000
EMC MAX_FREQ 2133000000
< POWER_MODEL ID=2 NAME=MAXN_SUPER >
GPU MAX_FREQ -1
EMC MAX_FREQ -1
< PM_CONFIG DEFAULT=0 >
"""
TABLE = "306000000 612000000 918000000 1020000000\n"
GPU_PATH = "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq"
EMC_PATH = "/sys/kernel/nvpmodel_clk_cap/emc"


def text(value: object) -> dict[str, str]:
    return {"text": f"{value}\n"}


def board(**changes: Any) -> dict[str, Any]:
    """Evidence of an Orin Nano 8GB that is Super in every layer."""
    values: dict[str, Any] = {
        "compatible": "nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234\0",
        "ids": "3767-0005-300 3768-0000-400",
        "conf": CONF,
        "mode": 2,
        "table": TABLE,
        "gpu_max": 1020000000,
        "cpu": 1728000,
        "emc": 3199000000,
        "emc_cap": 3199000000,
        "emc_rate": 204000000,
        "emc_locked": 0,
        "gpu_min": 306000000,
        "release": "REVISION: 4.7",
        **changes,
    }
    missing = {"error": "missing"}
    jetson = {
        "device_tree": {
            "compatible": {"text": values["compatible"]},
            "ids": missing if values["ids"] is None else {"text": values["ids"]},
        },
        "files": {
            "nv_tegra_release": text(f"# R36 (release), {values['release']}, GCID: 42132812, BOARD: generic"),
            "nvpmodel_status": missing if values["mode"] is None else text(f"pmode:{values['mode']:04}"),
        },
        "conf": {"link": "/etc/nvpmodel/nvpmodel_p3767_0003_super.conf", "text": values["conf"]},
        "caps": {
            path: text(values[name])
            for path, name in ((GPU_PATH, "gpu_max"), (EMC_PATH, "emc_cap"))
            if values[name] is not None
        },
        "gpu": {
            "name": "17000000.gpu",
            "available_frequencies": {"text": values["table"]},
            "max_freq": missing if values["gpu_max"] is None else text(values["gpu_max"]),
            "min_freq": text(values["gpu_min"]),
        },
        "cpus": {"cpu0": {"highest_khz": text(values["cpu"])}},
        "clocks": {
            "emc_max_rate": {"error": "denied"} if values["emc"] is None else text(values["emc"]),
            "emc_cap": missing if values["emc_cap"] is None else text(values["emc_cap"]),
            "emc_rate": text(values["emc_rate"]),
            "emc_locked": text(values["emc_locked"]),
        },
        "variables": {"BootChainFwStatus": missing},
        "esrt": {},
        "packages": {},
        "nvbootctrl": {"error": "not_run"},
    }
    return {"jetson": jetson}


PLAIN = {
    "table": "306000000 624750000\n",
    "gpu_max": 624750000,
    "cpu": 1510400,
    "emc": 2133000000,
    "emc_cap": 2133000000,
}
PLAIN_TREE = {"compatible": "nvidia,p3768-0000+p3767-0005\0nvidia,p3767-0005\0nvidia,tegra234\0"}
AGX_TREE = {"compatible": "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0"}
PLAIN_CONF = {"conf": CONF.replace("MAXN_SUPER", "7W")}


@pytest.mark.parametrize(
    ("changes", "verdict", "code", "states"),
    [
        ({}, "super", "all_super", "super super super"),
        (PLAIN, "not_super", "firmware_behind", "super super not_super"),
        ({**PLAIN, "mode": 0, "gpu_max": 612000000}, "not_super", "firmware_behind", "super super not_super"),
        ({**PLAIN, **PLAIN_CONF}, "not_super", "firmware_behind", "super not_super not_super"),
        ({**PLAIN, **PLAIN_CONF, **PLAIN_TREE}, "not_super", "nothing_super", "not_super not_super not_super"),
        (PLAIN_CONF, "partly", "conf_behind", "super not_super super"),
        (PLAIN_TREE, "partly", "device_tree_behind", "not_super super super"),
        ({**PLAIN_TREE, **PLAIN_CONF}, "partly", "device_tree_behind", "not_super not_super super"),
        ({"mode": 0, "gpu_max": 612000000, "emc_cap": 2133000000}, "partly", "mode_not_maxn", "super super super"),
        ({"mode": 7}, "unknown", "mode_unreadable", "super super super"),
        ({"mode": None}, "unknown", "mode_unreadable", "super super super"),
        ({"emc_cap": 2133000000}, "partly", "emc_held", "super super super"),
        ({"gpu_max": 918000000}, "partly", "caps_not_applied", "super super super"),
        ({"emc": 2133000000, "emc_cap": 2133000000}, "partly", "clocks_behind", "super super not_super"),
        ({"cpu": 1510400}, "partly", "clocks_behind", "super super not_super"),
        ({"emc": None}, "super", "all_super", "super super super"),
        ({"table": ""}, "unknown", "table_unreadable", "super super unknown"),
        ({"conf": "< torn"}, "unknown", "layer_unreadable", "super unknown super"),
        ({"ids": None}, "super", "all_super", "super super super"),
        ({"ids": "3767-0001-300", **PLAIN, "table": "306000000 918000000", "gpu_max": 918000000, "emc": 3199000000,
          "emc_cap": 3199000000, "cpu": 1984000}, "not_super", "half_success", "super super not_super"),
        ({"ids": "3767-0009-300"}, "unknown", "unknown_board", "super super unknown"),
        ({"ids": "3767-0004-300"}, "super", "all_super", "super super super"),
        ({"ids": "3767-0000-300"}, "not_super", "table_between", "super super not_super"),
        ({"ids": "3701-0005-500", **AGX_TREE}, "no_super_mode", "agx", "unknown unknown unknown"),
        ({"ids": None, **AGX_TREE}, "no_super_mode", "agx", "unknown unknown unknown"),
        ({"ids": "3834-0008-400", "compatible": "nvidia,p3971-0089+p3834-0008\0nvidia,tegra264\0"},
         "no_super_mode", "thor", "unknown unknown unknown"),
        ({"ids": "3701-0005-500"}, "unknown", "unknown_board", "unknown unknown unknown"),  # the tree names another
        ({"ids": None, "compatible": "somebody,carrier\0nvidia,tegra234\0"}, "unknown", "unknown_board",
         "unknown unknown unknown"),
        ({"table": "306000000 765000000\n", "gpu_max": 765000000}, "not_super", "table_between",
         "super super not_super"),
        ({**PLAIN, "mode": None}, "not_super", "firmware_behind", "super super not_super"),
        ({**PLAIN, **PLAIN_TREE, "conf": ""}, "not_super", "firmware_behind", "not_super unknown not_super"),
        ({"gpu_max": None, "emc_cap": None}, "unknown", "values_unreadable", "super super super"),
        ({"conf": CONF.replace("ID=0 NAME=15W", "ID=4 NAME=15W").replace("ID=2", "ID=0"), "mode": 0}, "super",
         "all_super", "super super super"),  # the NX's ids: by the name, never by the number
        ({"emc_cap": 0}, "super", "all_super", "super super super"),
        ({"emc_cap": 9223372036854775807}, "super", "all_super", "super super super"),
        ({"emc_rate": 2133000000}, "super", "all_super", "super super super"),  # at rest it follows the load
        ({"emc_rate": 2133000000, "emc_locked": 1}, "partly", "emc_held", "super super super"),
        ({"emc_rate": 2133000000, "gpu_min": 1020000000}, "partly", "emc_held", "super super super"),
        ({"emc_rate": 3199000000, "emc_locked": 1}, "super", "all_super", "super super super"),
    ],
)  # fmt: skip
def test_the_three_layers_and_the_mode_decide(changes: dict[str, Any], verdict: str, code: str, states: str) -> None:
    found = judge_super(board(**changes))
    assert (found["verdict"], found["code"]) == (verdict, code), found["cause"]
    assert [layer["state"] for layer in found["layers"].values()] == states.split()
    assert found["cause"].endswith(".")
    assert "\n" not in found["cause"]


def test_the_posts_symptom_has_its_sentence() -> None:
    found = judge_super(board(**PLAIN))
    assert found["cause"] == (
        "The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz: the bootloader in the flash is not Super."
    )
    assert found["layers"]["firmware"]["evidence"][0] == "The GPU's table ends at 624.75 MHz."
    assert found["layers"]["firmware"]["expected"][0] == "The GPU's table ends at 1020 MHz."


def test_what_root_would_add_is_said() -> None:
    assert judge_super(board(emc=None))["needs_root"] == ["the firmware's own limits of GPU and memory"]
    assert judge_super(board())["needs_root"] == []


@pytest.mark.parametrize("evidence", [{}, {"jetson": None}, None, {"jetson": []}])
def test_what_is_no_jetson_is_called_none(evidence: Any) -> None:
    found = judge_super(evidence)
    assert (found["verdict"], found["cause"].startswith("This is not a Jetson")) == ("not_a_jetson", True)
    assert set(found) == set(judge_super(board()))


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.just(CONF), st.just(TABLE)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["text", "error", "hex", "link", "compatible", "A", "B"]), inner, max_size=3),
    ),
    max_leaves=6,
)


def paths(value: Any, prefix: list[str]) -> list[list[str]]:
    found = [prefix] if prefix else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths(inner, [*prefix, key])
    return found


PATHS = paths(board()["jetson"], [])


@given(st.lists(st.tuples(st.sampled_from(PATHS), JSON), min_size=1, max_size=4))
def test_no_evidence_makes_the_judge_raise(changes: Any) -> None:
    evidence = board()
    for path, value in changes:
        inner: Any = evidence["jetson"]
        for key in path[:-1]:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            inner[path[-1]] = value
    json.dumps(judge_super(evidence))


@given(JSON)
def test_no_json_at_all_makes_the_judges_raise(value: Any) -> None:
    for evidence in (value, {"jetson": value, "known_state": value}, {"known_state": {"nvme_links": value}}):
        json.dumps([judge_super(evidence), judge_links(evidence)])


def sentences(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in sentences(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in sentences(inner)]
    return [value] if isinstance(value, str) else []


def test_no_sentence_repeats_a_name_that_its_owner_made() -> None:
    conf = CONF.replace("15W", "minsu_mode").replace("GPU", "MINSU").replace("=0", "=4")
    evidence = board(conf=conf, mode=4)
    jetson = evidence["jetson"]
    jetson["conf"]["link"] = "/home/minsu/nvpmodel_minsu.conf"
    jetson["files"]["nv_boot_control"] = {"text": "TNSPEC minsu@198.51.100.7\n"}
    jetson["variables"]["TegraPlatformSpec"] = {"hex": "07000000" + b"minsu-laptop".hex()}
    jetson["caps"] = {GPU_PATH: {"text": "5"}, EMC_PATH: {"text": "5"}}
    jetson["device_tree"]["model"] = {"text": "minsu's board"}
    found = judge_super(evidence)
    assert found["mode"]["name"] == "minsu_mode"  # roles choose by it; sentences don't show it
    spoken = [found["cause"], *sentences(found["layers"]), *sentences(found["warnings"]), *sentences(found["board"])]
    spoken += [*sentences(found["firmware"]), *found["needs_root"], str(found["mode"]["conf"])]
    assert [text for text in spoken if "minsu" in text.lower() or "198.51" in text] == []
    assert found["cause"] == (
        "All three layers are Super, but the mode is one of its owner's, which holds the GPU at 1020 MHz."
    )


@pytest.mark.parametrize("changes", [{}, PLAIN, PLAIN_CONF, PLAIN_TREE, {"mode": 0}, {"table": ""}])
def test_every_text_is_one_plain_sentence(changes: dict[str, Any]) -> None:
    found = judge_super(board(**changes))
    said = [found["cause"], *(warning["text"] for warning in found["warnings"])]
    for layer in found["layers"].values():
        said += [*layer["evidence"], *layer["expected"]]
    assert [text for text in said if not (text[0].isupper() or text.startswith("nvp")) or not text.endswith(".")] == []


def test_the_ends_of_the_tables_are_those_that_were_published() -> None:
    assert EXPECTED["0005"].super == (1020000000, 1728000, 3199000000)
    assert EXPECTED["0003"].plain.gpu_hz == EXPECTED["0004"].plain.gpu_hz == 624750000
    assert EXPECTED["0000"].super[:2] == EXPECTED["0001"].super[:2] == (1173000000, 1984000)
    assert EXPECTED["0000"].plain.gpu_hz == 918000000


SLOT = {"version": "36.4.7", "super": True}


@pytest.mark.parametrize(
    ("record", "slot", "flavour"),
    [
        ({"A": SLOT}, 1, "super"),
        ({"B": SLOT}, 0, "super"),
        ({"B": SLOT}, 1, "unknown"),  # that is the slot which runs
        ({"A": {**SLOT, "super": False}}, 1, "not_super"),
        ({"A": {**SLOT, "super": "yes"}}, 1, "unknown"),
        ({"A": {**SLOT, "version": "36.4.4"}}, 1, "unknown"),
        ({"A": []}, 1, "unknown"),
        ([SLOT], 1, "unknown"),
        (None, 1, "unknown"),
        ({"A": SLOT}, 7, "unknown"),
    ],
)
def test_the_other_slot_is_known_only_from_when_it_ran(record: Any, slot: int, flavour: str) -> None:
    evidence = board()
    evidence["jetson"]["files"]["slot_record"] = {"text": json.dumps(record)}
    evidence["jetson"]["variables"]["BootChainFwCurrent"] = {"hex": f"07000000{slot:02x}000000"}
    evidence["jetson"]["esrt"] = {"fw_version": text(2360327)}
    found = judge_super(evidence)
    assert (found["firmware"]["version"], found["firmware"]["other_slot"]) == ("36.4.7", flavour)
    warned = [warning["code"] for warning in found["warnings"]]
    assert warned == {"super": [], "not_super": ["other_slot_not_super"], "unknown": ["other_slot_unknown"]}[flavour]


def test_without_any_uefi_variable_nothing_is_left_over_nor_not() -> None:
    evidence = board()
    assert judge_super(evidence)["firmware"]["left_over_status"] is None
    evidence["jetson"]["variables"]["OsIndications"] = {"hex": "0700000000000000"}
    assert judge_super(evidence)["firmware"]["left_over_status"] is False
    evidence["jetson"]["variables"]["BootChainFwStatus"] = {"error": "denied"}
    assert judge_super(evidence)["firmware"]["left_over_status"] is None


CPU_PATH = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"
CPU_CONF = CONF.replace("<PARAM", f"< PARAM TYPE=CLOCK NAME=CPU_A78_0 >\nMAX_FREQ {CPU_PATH}\n<PARAM").replace(
    "GPU MAX_FREQ 612000000", "GPU MAX_FREQ 700000000\nCPU_A78_0 MAX_FREQ 1500000"
)


@pytest.mark.parametrize(
    ("gpu", "cpu", "emc", "differing"),
    [
        (612000000, 1497600, 2133000000, []),  # each rounded down to a step
        (306000000, 1497600, 2133000000, ["GPU MAX_FREQ"]),
        (918000000, 1497600, 2133000000, ["GPU MAX_FREQ"]),
        (612000000, 1420800, 2133000000, ["CPU_A78_0 MAX_FREQ"]),
        (612000000, 1574400, 2133000000, ["CPU_A78_0 MAX_FREQ"]),
        (612000000, 1497600, 3199000000, ["EMC MAX_FREQ"]),
        (612000000, 1497600, 0, ["EMC MAX_FREQ"]),  # no cap, where the mode has one
    ],
)
def test_a_mode_is_in_force_where_its_values_are(gpu: int, cpu: int, emc: int, differing: list[str]) -> None:
    evidence = board(conf=CPU_CONF, mode=0, gpu_max=gpu, emc_cap=emc)
    evidence["jetson"]["caps"][CPU_PATH] = text(cpu)
    mode = judge_super(evidence)["mode"]
    assert [one["what"] for one in mode["differences"]] == differing
    assert mode["applied"] is (not differing)


def test_of_a_setting_s_two_paths_the_one_that_is_there_counts() -> None:
    evidence = board(mode=0, gpu_max=612000000, emc_cap=2133000000)
    old = "/sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq"
    caps = evidence["jetson"]["caps"]
    caps[old] = caps.pop(GPU_PATH)
    assert judge_super(evidence)["mode"]["applied"] is True
    caps[old] = text(1020000000)
    assert [one["path"] for one in judge_super(evidence)["mode"]["differences"]] == [old]
