"""What bars the road to Super, and how far along it a board is: pure, so any board can be thought up."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rerig_agent.judge.reflash import nvme_command, qspi_command, reflash_advice
from rerig_agent.judge.super_gates import judge_gates
from rerig_agent.judge.super_progress import judge_progress
from rerig_agent.judge.super_specs import super_spec

MISSING = {"error": "missing"}
TNSPEC, COMPATIBLE = "3767-300-0005-T.1-1-1-jetson-orin-nano-devkit-", "3767--0005--1--jetson-orin-nano-devkit-"
SUM, OTHER_SUM = "5" * 64, "6" * 64
QSPI = (
    "sudo ./flash.sh --no-systemimg -c bootloader/generic/cfg/flash_t234_qspi.xml"
    " jetson-orin-nano-devkit-super internal"
)


def variable(text: str) -> dict[str, str]:
    return {"hex": "07000000" + text.encode().hex()}


def number(value: int) -> dict[str, str]:
    return {"hex": "07000000" + value.to_bytes(8, "little").hex()}


def release(version: str) -> dict[str, str]:
    major, _, rest = version.partition(".")
    return {"text": f"# R{major} (release), REVISION: {rest}, GCID: 42132812, BOARD: generic\n"}


def evidence(**changes: Any) -> dict[str, Any]:
    """Of an Orin Nano 8GB on 36.5.2 whose bootloader in slot B isn't Super; ``changes`` by part of it."""
    jetson: dict[str, Any] = {
        "device_tree": {
            "compatible": {"text": "nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234\0"},
            "ids": {"text": "3767-0005-300 3768-0000-400"},
        },
        "files": {
            "nv_tegra_release": release("36.5.2"),
            "nv_boot_control": {"text": f"TNSPEC {TNSPEC}\nCOMPATIBLE_SPEC {COMPATIBLE}\n"},
        },
        "gpu": {"name": "17000000.gpu", "available_frequencies": {"text": "306000000 624750000\n"}},
        "cpus": {"cpu0": {"highest_khz": {"text": "1510400\n"}}},
        "clocks": {},
        "variables": {
            "TegraPlatformSpec": variable(TNSPEC),
            "TegraPlatformCompatSpec": variable(COMPATIBLE),
            "BootChainFwCurrent": {"hex": "0600000001000000"},
            "BootChainFwStatus": MISSING,
            "OsIndications": number(0),
        },
        "esrt": {"fw_version": {"text": "2360578\n"}},
    }
    for name, value in changes.items():
        part, _, key = name.partition("__")
        jetson[part] = {**jetson[part], key: value} if key else value
    return {"jetson": jetson, "boot_id": "one"}


def road(**changes: Any) -> dict[str, Any]:
    """Of a board on which nothing bars the road."""
    found: dict[str, Any] = {
        "esp": {
            "path": "/boot/efi",
            "mounted": True,
            "writable": True,
            "free_bytes": 60_000_000,
            "waiting": {},
            "missing_folders": [],
        },
        "capsule": {"path": "/opt/x.Cap", "bytes": 29_000_000, "sha256": SUM, "whole": True},
        "config_tool": True,
        "partitions": [{"device": "nvme0n1p1", "name": "APP"}, {"device": "nvme0n1p10", "name": "esp"}],
        "pending": None,
        "staged": None,
    }
    for name, value in changes.items():
        part, _, key = name.partition("__")
        found[part] = {**found[part], key: value} if key else value
    return found


def control(tnspec: str, compatible: str = COMPATIBLE) -> dict[str, str]:
    return {"text": f"TNSPEC {tnspec}\nCOMPATIBLE_SPEC {compatible}\n"}


def test_nothing_bars_a_plain_board() -> None:
    gates = judge_gates(evidence(), road())
    assert [gate["name"] for gate in gates if not gate["passed"]] == []
    assert [gate["name"] for gate in gates] == [
        "board", "release", "clocks", "slot", "names", "variables", "boot_medium", "esp", "esp_space",
        "left_over_status", "no_other_capsule", "capsule", "config_tool",
    ]  # fmt: skip
    assert all(gate["sentence"][0].isupper() or gate["sentence"][0] in "n/" for gate in gates)
    assert all(gate["sentence"].endswith(".") for gate in gates)


SPECS = {"files__nv_boot_control": control(TNSPEC.replace("devkit", "devkit-super"))}


@pytest.mark.parametrize(
    ("board", "place", "gate", "sentence"),
    [
        ({"device_tree__ids": {"text": "3767-0000-300"}}, {}, "board",
         "This is an Orin NX 16GB (3767-0000); this road is only for the Orin Nano 8GB (3767-0003, 3767-0005)."),
        ({"device_tree__ids": {"text": "3767-0004-300"}}, {}, "board", "This is an Orin Nano 4GB (3767-0004);"),
        ({"device_tree__compatible": {"text": "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0"},
          "device_tree__ids": {"text": "3701-0005-300"}}, {}, "board",
         "This is an AGX Orin (3701-0005), of which rerig knows no Super mode;"),
        ({"device_tree__ids": {"text": "3767-0009-300"}}, {}, "board",
         "This is no board that rerig knows (3767-0009);"),
        ({"files__nv_tegra_release": release("39.2.1")}, {}, "release", "so rerig never does this there."),
        ({"files__nv_tegra_release": release("36.3.0")}, {}, "release",
         "This is L4T 36.3.0; this road was reported to work on 36.4.x and 36.5.x alone."),
        ({"files__nv_tegra_release": release("36.40.1")}, {}, "release", "This is L4T 36.40.1;"),
        ({"files__nv_tegra_release": MISSING}, {}, "release", "Which release of L4T this is can't be read."),
        ({"gpu": None}, {}, "clocks", "The GPU's table of clocks can't be read, and nothing else proves Super."),
        ({"gpu__available_frequencies": {"text": "306000000 1020000000"}}, {}, "clocks",
         "Another capsule would not mend that."),
        ({"variables__BootChainFwCurrent": MISSING}, {}, "slot", "Which bootloader slot runs can't be read"),
        ({"files__nv_boot_control": MISSING}, {}, "names", "/etc/nv_boot_control.conf has no TNSPEC"),
        ({"files__nv_boot_control": {"text": f"TNSPEC {TNSPEC}\n"}}, {}, "names", "has no COMPATIBLE_SPEC"),
        ({"files__nv_boot_control": control("3767-300-0005-T.1-1-1-my-carrier-")}, {}, "names",
         "TNSPEC in /etc/nv_boot_control.conf is 3767-300-0005-T.1-1-1-my-carrier-; only"),
        ({"files__nv_boot_control": control(TNSPEC.replace("0005", "0003"))}, {}, "names", "TNSPEC in"),
        ({"files__nv_boot_control": control(TNSPEC, "3767--0005--1--jetson-agx-orin-devkit-")}, {}, "names",
         "COMPATIBLE_SPEC in /etc/nv_boot_control.conf is 3767--0005--1--jetson-agx-orin-devkit-;"),
        ({"variables__TegraPlatformSpec": variable(TNSPEC.replace("-300-", "-301-"))}, {}, "variables",
         "which is another board than"),
        ({"variables__TegraPlatformCompatSpec": {"error": "denied"}}, {}, "variables",
         "UEFI's variable TegraPlatformCompatSpec can't be read."),
        ({"variables__OsIndications": {"error": "denied"}}, {}, "variables", "OsIndications can't be read."),
        ({}, {"partitions": []}, "boot_medium", "No drive has a partition named APP or esp"),
        ({}, {"partitions": [{"device": "nvme0n1p1", "name": "APP"}, {"device": "mmcblk1p1", "name": "APP"}]},
         "boot_medium", "mmcblk1 and nvme0n1 can all be booted from; take out all but one"),
        ({}, {"partitions": [{"device": "nvme0n1p1", "name": "APP"}, {"device": "sda2", "name": "ESP"}]},
         "boot_medium", "nvme0n1 and sda can all be booted from"),
        ({}, {"esp__mounted": False}, "esp", "The EFI system partition is not mounted at /boot/efi."),
        ({}, {"esp__writable": False}, "esp", "is mounted read-only."),
        ({}, {"esp__free_bytes": 57_900_000}, "esp_space",
         "The EFI system partition has 57.9 MB free, and twice the capsule takes 58.0 MB."),
        ({"variables__BootChainFwStatus": {"hex": "0700000003000000"}}, {}, "left_over_status",
         "A BootChainFwStatus is left over in UEFI's variables"),
        ({"variables__BootChainFwStatus": {"error": "denied"}}, {}, "left_over_status", "can't be read."),
        ({}, {"esp__waiting": {"other.cap": SUM}}, "no_other_capsule", "other.cap waits in /boot/efi/EFI/"),
        ({"variables__OsIndications": number(5)}, {}, "no_other_capsule", "OsIndications already asks"),
        ({}, {"capsule": {"path": "/opt/x.Cap", "error": "missing"}}, "capsule", "The capsule /opt/x.Cap is not there"),
        ({}, {"capsule__whole": False}, "capsule", "/opt/x.Cap is no capsule, or was cut short."),
        ({}, {"config_tool": False}, "config_tool", "which tells the firmware the board's name, is not there."),
    ],
)  # fmt: skip
def test_each_gate_says_what_bars_the_road(
    board: dict[str, Any], place: dict[str, Any], gate: str, sentence: str
) -> None:
    found = judge_progress(evidence(**board), road(**place))
    assert found["state"] == "refused"
    closed = {one["name"]: one["sentence"] for one in found["gates"] if not one["passed"]}
    assert sentence in closed[gate]
    assert sentence in found["sentence"]


def test_a_list_of_releases_allows_less_but_never_more() -> None:
    def sentence(version: str, *releases: str) -> str:
        gates = judge_gates(evidence(files__nv_tegra_release=release(version)), road(), releases)
        return next(str(gate["sentence"]) for gate in gates if gate["name"] == "release")

    assert sentence("36.5.2", "36.5") == "This is L4T 36.5.2."
    assert sentence("36.4.7", "36.5") == "This is L4T 36.4.7, which super_mode_releases does not allow."
    assert "never" in sentence("39.2.1", "39.2", "36.5")
    assert "alone" in sentence("38.4.0", "38.4")


def test_what_is_no_jetson_has_one_gate() -> None:
    found = judge_progress({"jetson": None}, road())
    assert (found["state"], len(found["gates"]), found["advice"]) == ("refused", 1, None)
    assert found["sentence"].startswith("This is not a Jetson")


def test_a_missing_variable_and_an_earlier_try_of_our_own_bar_nothing() -> None:
    board = evidence(variables__TegraPlatformSpec=MISSING, variables__OsIndications=number(4), **SPECS)
    mine = road(pending={"slot": "B"}, esp__waiting={"TEGRA_BL.Cap": OTHER_SUM}, esp__free_bytes=30_000_000)
    assert judge_progress(board, mine)["state"] == "open"


STAGED = {"sha256": SUM, "boot_id": "one", "slot": "B", "super": True}
PENDING = {"pending": {"slot": "B"}, "staged": STAGED}
WAITING = {**PENDING, "esp__waiting": {"TEGRA_BL.Cap": SUM}}
SUPER_CLOCKS = {
    "gpu__available_frequencies": {"text": "306000000 1020000000"},
    "cpus": {"cpu0": {"highest_khz": {"text": "1728000"}}},
}
SLOT_A = {"variables__BootChainFwCurrent": {"hex": "0600000000000000"}}


def slots(status: int, current: str = "B") -> dict[str, str]:
    return {"text": f"Current version: 36.5.2\nCapsule update status: {status}\nCurrent bootloader slot: {current}\n"}


@pytest.mark.parametrize(
    ("boot", "board", "place", "state", "sentence"),
    [
        ("one", {"variables__OsIndications": number(4)}, WAITING, "staged", "The next boot applies the capsule"),
        ("one", {}, WAITING, "open", "is not Super."),
        ("one", {"variables__OsIndications": number(4)}, PENDING, "open", "is not Super."),
        ("two", {"variables__OsIndications": number(4)}, WAITING, "failed", "its firmware did not look"),
        ("two", {**SUPER_CLOCKS, **SLOT_A}, PENDING, "applied", "slot A runs, and its tables are Super's."),
        ("two", SUPER_CLOCKS, PENDING, "failed", "The machine has booted, but slot B still runs."),
        ("two", SLOT_A, PENDING, "failed", "The capsule was applied, but the tables are not Super's."),
        ("two", {"nvbootctrl": slots(2)}, PENDING, "failed", "the boot from the new slot failed"),
        ("two", {"nvbootctrl": slots(3), "esrt": {"last_attempt_status": {"text": "6151"}}}, PENDING, "failed",
         "The firmware refused the capsule (last_attempt_status 6151); nothing was written."),
        ("two", {"esrt": {"last_attempt_status": {"text": "6163"}}, "variables__BootChainFwStatus": number(3)}, PENDING,
         "failed", "The firmware refused the capsule, since a BootChainFwStatus was left over (last_attempt_status"),
        ("two", {}, {"pending": PENDING["pending"]}, "open", "is not Super."),
        ("two", {}, WAITING, "open", "is not Super."),
        ("two", SUPER_CLOCKS, {**PENDING, "staged": {**STAGED, "super": False}}, "applied",
         "slot B runs, and its tables are Super's."),
    ],
)  # fmt: skip
def test_how_far_it_is_is_told_by_boot_slot_and_table(
    boot: str, board: dict[str, Any], place: dict[str, Any], state: str, sentence: str
) -> None:
    found = judge_progress({**evidence(**board), "boot_id": boot}, road(**place))
    assert (found["state"], sentence in found["sentence"]) == (state, True), found["sentence"]
    assert (found["advice"] is not None) == (state == "failed")


def test_a_super_board_has_nothing_to_do_unless_the_other_slot_is_wanted() -> None:
    board = evidence(**SUPER_CLOCKS)
    alone = judge_progress(board, road())
    assert alone["state"] == "super"
    assert "super_mode_other_slot" in alone["sentence"]
    assert judge_progress(board, road(), other_slot=True)["state"] == "open"
    text = '{"A": {"version": "36.5.2", "gpu_last_hz": 1020000000, "super": true}}'
    both = judge_progress(evidence(**SUPER_CLOCKS, files__slot_record={"text": text}), road(), other_slot=True)
    assert (both["state"], "Both bootloader slots are Super." in both["sentence"]) == ("super", True)


def test_the_other_slot_is_no_advice_where_the_road_is_closed() -> None:
    found = judge_progress(evidence(**SUPER_CLOCKS, files__nv_tegra_release=release("39.2.1")), road())
    assert (found["state"], "super_mode_other_slot" in found["sentence"]) == ("super", False)


def test_what_the_running_slot_is_gets_noted() -> None:
    assert judge_progress(evidence(), road())["record"] == {
        "B": {"version": "36.5.2", "gpu_last_hz": 624750000, "super": False}
    }
    assert judge_progress(evidence(gpu=None), road())["record"] == {}


def test_judging_changes_no_evidence() -> None:
    board, place = evidence(), road()
    before = copy.deepcopy((board, place))
    judge_progress(board, place)
    assert (board, place) == before


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (TNSPEC, "3767-300-0005-T.1-1-1-jetson-orin-nano-devkit-super-"),
        (COMPATIBLE, "3767--0005--1--jetson-orin-nano-devkit-super-"),
        ("3767--0005--1--jetson-orin-nano-devkit-nvme0n1p1", "3767--0005--1--jetson-orin-nano-devkit-super-nvme0n1p1"),
        ("3767--0005--1--jetson-orin-nano-devkit-super-", "3767--0005--1--jetson-orin-nano-devkit-super-"),
        ("3767--0005--1--jetson-orin-nano-devkit-super-maxn-", "3767--0005--1--jetson-orin-nano-devkit-super-maxn-"),
        ("3767--0005--1--my-carrier-", "3767--0005--1--my-carrier-"),
        ("no spec", "no spec"),
    ],
)
def test_a_spec_gets_the_one_word_more(spec: str, wanted: str) -> None:
    assert super_spec(spec) == wanted


def test_the_commands_of_a_reflash() -> None:
    board = {"module": "3767", "sku": "0000", "release": "36.4.7"}
    assert (reflash_advice(board) or "").endswith(QSPI)
    assert "not verified" in (reflash_advice({**board, "release": "39.2.1"}) or "")
    assert reflash_advice({**board, "release": "36.4.0"}) == (
        "L4T 36.4.0 has no Super bootloader: flash 36.4.3 or later as a whole, from an x86 host."
    )
    assert reflash_advice({**board, "module": "3701"}) is None
    assert qspi_command("x")[-2:] == nvme_command("x")[-2:] == nvme_command("x", 39)[-2:] == ["x", "internal"]
