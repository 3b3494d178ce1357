"""The verdict on every board of the twin, through the collector that runs on real ones: the whole truth table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rerig_agent.conditions import collect
from rerig_agent.judge.super_mode import judge_super
from twin.l4t.bench import JETSON_CLOCKS, NVBOOTCTRL, NVPMODEL, Bench
from twin.l4t.personalities import HALF, NX_16GB_SUPER, PERSONALITIES, PLAIN, SUPER
from twin.l4t.values import Personality

ALL = "All three layers are Super"
FLASH = "the bootloader in the flash is not Super"
TABLE = {
    "orin-nano-super": ("super", "all_super", f"{ALL} and MAXN_SUPER is in force: the GPU's table ends at 1020 MHz."),
    "orin-nano": ("not_super", "nothing_super", "Nothing here is Super, and the GPU's table ends at 624.75 MHz."),
    "orin-nano-half": (
        "not_super",
        "firmware_behind",
        f"The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz: {FLASH}.",
    ),
    "orin-nano-r39": ("super", "all_super", f"{ALL} and MAXN_SUPER is in force: the GPU's table ends at 1020 MHz."),
    "orin-nano-r35": ("not_super", "nothing_super", "Nothing here is Super, and the GPU's table ends at 624.75 MHz."),
    "orin-nx-16gb": ("not_super", "nothing_super", "Nothing here is Super, and the GPU's table ends at 918 MHz."),
    "orin-nx-16gb-super": (
        "super",
        "all_super",
        f"{ALL} and MAXN_SUPER is in force: the GPU's table ends at 1173 MHz.",
    ),
    "orin-nx-8gb-super": ("super", "all_super", f"{ALL} and MAXN_SUPER is in force: the GPU's table ends at 1173 MHz."),
    "orin-nx-16gb-half": (
        "not_super",
        "half_success",
        f"The mode says MAXN_SUPER but the GPU's table ends at 918 MHz: {FLASH}.",
    ),
    "orin-nano-4gb-super": (
        "super",
        "all_super",
        f"{ALL} and MAXN_SUPER is in force: the GPU's table ends at 1020 MHz.",
    ),
    "orin-nano-super-25w": (
        "partly",
        "mode_not_maxn",
        f"{ALL}, but the mode is 25W, which holds the GPU at 918 MHz.",
    ),
    "orin-nano-super-15w": (
        "partly",
        "mode_not_maxn",
        f"{ALL}, but the mode is 15W, which holds the GPU at 612 MHz.",
    ),
    "orin-nano-conf-behind": (
        "partly",
        "conf_behind",
        "Bootloader and device tree are Super but nvpmodel's file has no MAXN_SUPER.",
    ),
    "orin-nano-other-slot": (
        "super",
        "all_super",
        f"{ALL} and MAXN_SUPER is in force: the GPU's table ends at 1020 MHz.",
    ),
    "orin-nano-left-over-status": (
        "not_super",
        "firmware_behind",
        f"The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz: {FLASH}.",
    ),
    "agx-orin": ("no_super_mode", "agx", "This is an AGX Orin, of which rerig knows no Super mode."),
    "thor": ("no_super_mode", "thor", "This is an AGX Thor, of which rerig knows no Super mode."),
    "unknown-board": (
        "unknown",
        "unknown_board",
        "This is no board that rerig knows, so nothing is said about its clocks.",
    ),
}
# At rest nothing tells them from a Super board: see the test of jetson_clocks.
TABLE["orin-nano-emc-held"] = TABLE["orin-nano-super"]


def judged(bench: Bench, tools: bool = True) -> dict[str, Any]:
    return judge_super(collect(bench.root, tool_of(bench) if tools else None))


def tool_of(bench: Bench) -> Callable[[list[str]], tuple[int, str]]:
    def run(argv: list[str]) -> tuple[int, str]:
        assert argv[0] == "nvbootctrl"
        done = bench.run(NVBOOTCTRL, *argv[1:])
        return done.returncode, done.stdout

    return run


def codes(verdict: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in verdict["warnings"]]


def test_every_board_has_its_row() -> None:
    assert set(TABLE) == set(PERSONALITIES)


@pytest.mark.parametrize("name", PERSONALITIES)
def test_a_board_gets_its_verdict_and_cause(name: str, make_bench: Callable[[Personality], Bench]) -> None:
    verdict = judged(make_bench(PERSONALITIES[name]))
    assert (verdict["verdict"], verdict["code"], verdict["cause"]) == TABLE[name]
    assert verdict["mode"]["applied"] is True
    if verdict["board"]["family"] == "p3767":
        assert verdict["firmware"]["slot"] == "AB"[PERSONALITIES[name].current_slot]
        assert verdict["firmware"]["version"] == PERSONALITIES[name].running.version


def test_memory_that_is_held_shows_once_no_clock_moves(make_bench: Callable[[Personality], Bench]) -> None:
    bench = make_bench(PERSONALITIES["orin-nano-emc-held"])
    assert codes(judged(bench)) == ["other_slot_unknown", "memory_unproven"]
    bench.done(JETSON_CLOCKS)
    verdict = judged(bench)
    assert codes(verdict) == ["other_slot_unknown"]
    cause = f"{ALL} and the mode is MAXN_SUPER, but the memory is held at 2133 MHz."
    assert (verdict["verdict"], verdict["code"], verdict["cause"]) == ("partly", "emc_held", cause)
    super_board = make_bench(SUPER)
    super_board.done(JETSON_CLOCKS)
    assert judged(super_board)["code"] == "all_super"


def test_a_fallback_boot_is_warned_of_unless_the_other_slot_was_seen(
    make_bench: Callable[[Personality], Bench],
) -> None:
    bench = make_bench(SUPER)
    unknown = judged(bench)
    assert codes(unknown) == ["other_slot_unknown"]
    assert unknown["warnings"][0]["text"].endswith("a fallback boot returns to 624 MHz.")
    record = bench.path("/var/lib/rerig/firmware-slots.json")
    record.parent.mkdir(parents=True)
    for slot, expected in (
        ({"version": "36.4.7", "gpu_last_hz": 1020000000, "super": True}, []),
        ({"version": "36.4.7", "gpu_last_hz": 624750000, "super": False}, ["other_slot_not_super"]),
        ({"version": "36.4.4", "gpu_last_hz": 1020000000, "super": True}, ["other_slot_unknown"]),
        ({"version": "36.4.7", "gpu_last_hz": 624750000}, ["other_slot_unknown"]),
        ("torn", ["other_slot_unknown"]),
    ):
        record.write_text(json.dumps({"A": slot}), "utf-8")
        assert codes(judged(bench)) == expected


def test_a_mode_that_was_set_in_a_chroot_is_not_in_force(make_bench: Callable[[Personality], Bench]) -> None:
    bench = make_bench(replace(PERSONALITIES["orin-nano-super-15w"], chroot=True))
    bench.path("/var/lib/nvpmodel/status").write_text("pmode:0002\n", "utf-8")
    verdict = judged(bench)
    assert (verdict["verdict"], verdict["code"]) == ("partly", "caps_not_applied")
    assert verdict["cause"] == "The mode says MAXN_SUPER but its values are not in force: the GPU is held at 612 MHz."


def test_modes_that_need_a_reboot_are_known_beforehand(make_bench: Callable[[Personality], Bench]) -> None:
    assert judged(make_bench(PLAIN))["mode"]["needs_reboot"] == ["7W"]
    nx = judged(make_bench(NX_16GB_SUPER))["mode"]
    assert (nx["name"], nx["id"], nx["needs_reboot"]) == ("MAXN_SUPER", 0, ["10W", "15W"])


def test_the_firmware_s_own_spec_counts_and_not_the_file(make_bench: Callable[[Personality], Bench]) -> None:
    board = replace(HALF, tnspec=SUPER.tnspec, compatible_spec=SUPER.compatible_spec)
    verdict = judged(
        make_bench(replace(board, variable_tnspec=HALF.tnspec, variable_compatible_spec=HALF.compatible_spec))
    )
    assert verdict["firmware"]["tnspec_super"] is True
    assert verdict["firmware"]["variables_super"] is False
    assert codes(verdict) == ["specs_differ", "spec_not_super"]


def test_a_left_over_status_is_warned_of(make_bench: Callable[[Personality], Bench]) -> None:
    assert "left_over_status" in codes(judged(make_bench(PERSONALITIES["orin-nano-left-over-status"])))


def test_a_bootloader_without_its_device_tree_is_super_in_part(make_bench: Callable[[Personality], Bench]) -> None:
    board = replace(SUPER, fdt="plain", conf="nvpmodel_p3767_0003.conf", mode=0)
    verdict = judged(make_bench(board))
    assert (verdict["verdict"], verdict["code"]) == ("partly", "device_tree_behind")
    assert verdict["layers"]["device_tree"]["state"] == "not_super"


def test_measurements_ask_no_tool(make_bench: Callable[[Personality], Bench]) -> None:
    evidence = collect(make_bench(SUPER).root)
    assert evidence["jetson"]["nvbootctrl"] == {"error": "not_run"}
    assert len(json.dumps(evidence["jetson"])) < 64 * 1024
    assert judge_super(evidence)["firmware"]["slot"] == "B"  # by UEFI's variable


TORN = {
    "/sys/class/devfreq/17000000.gpu/available_frequencies": ("unknown", "table_unreadable"),
    "/etc/nvpmodel/nvpmodel_p3767_0003_super.conf": ("unknown", "layer_unreadable"),
    "/var/lib/nvpmodel/status": ("unknown", "mode_unreadable"),
    "/sys/kernel/debug/bpmp/debug/clk/emc/max_rate": ("super", "all_super"),
}


@pytest.mark.parametrize("text", ["", "\0\n", "9" * 40])
@pytest.mark.parametrize("path", TORN)
def test_a_torn_file_is_never_read_as_super(path: str, text: str, make_bench: Callable[[Personality], Bench]) -> None:
    bench = make_bench(SUPER)
    bench.path(path).write_text(text, "utf-8")
    verdict = judged(bench)
    assert (verdict["verdict"], verdict["code"]) == TORN[path]


def test_a_torn_device_tree_leaves_the_board_known_by_its_release(make_bench: Callable[[Personality], Bench]) -> None:
    bench = make_bench(SUPER)
    bench.path("/sys/firmware/devicetree/base/compatible").write_text("\0\n", "utf-8")
    verdict = judged(bench)
    assert (verdict["verdict"], verdict["code"]) == ("unknown", "layer_unreadable")
    assert verdict["cause"] == "The bootloader is Super, but the device tree can't be read."


def test_a_change_of_mode_is_seen(make_bench: Callable[[Personality], Bench]) -> None:
    bench = make_bench(SUPER)
    bench.done(NVPMODEL, "-m", "0")
    assert judged(bench)["mode"]["name"] == "15W"
