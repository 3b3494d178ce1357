"""What each personality shows: the readings by which a board is judged, on the same paths as on the board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from twin.errors import TwinError
from twin.l4t import personalities
from twin.l4t.bench import Bench
from twin.l4t.modules import RECORDED
from twin.l4t.personalities import AGX, HALF, PERSONALITIES, PLAIN, R35, STRANGER, SUPER, THOR
from twin.l4t.values import Personality

Make = Callable[[Personality], Bench]
GPU = "/sys/class/devfreq/17000000.gpu"
CLOCKS = "/sys/kernel/debug/bpmp/debug/clk"


def recorded(name: str) -> list[str]:
    return (RECORDED / f"{name}.txt").read_text("utf-8").splitlines()


def readings(bench: Bench) -> dict[str, object]:
    """What tells a Super board: three layers and the mode."""
    gpu = bench.personality.gpu.name
    return {
        "compatible": bench.read("/proc/device-tree/compatible").split("\0")[0],
        "conf": bench.path("/etc/nvpmodel.conf").readlink().name,
        "gpu": int(bench.word(f"/sys/class/devfreq/{gpu}/available_frequencies").split()[-1]),
        "gpc": int(bench.word(f"{CLOCKS}/nafll_gpc0/max_rate")),
        "emc": int(bench.word(f"{CLOCKS}/emc/max_rate")),
        "cpu": int(bench.word("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")),
    }


NANO, NX = "nvidia,p3768-0000+p3767-0005", "nvidia,p3768-0000+p3767-0000"
BOTH = {"gpu": 1_020_000_000, "gpc": 1_020_000_000, "emc": 3_199_000_000, "cpu": 1_728_000}
NEITHER = {"gpu": 624_750_000, "gpc": 624_750_000, "emc": 2_133_000_000, "cpu": 1_510_400}
CONF = "nvpmodel_p3767_0003.conf"
SUPER_CONF = "nvpmodel_p3767_0003_super.conf"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orin-nano-super", {"compatible": f"{NANO}-super", "conf": SUPER_CONF, **BOTH}),
        ("orin-nano", {"compatible": NANO, "conf": CONF, **NEITHER}),
        ("orin-nano-half", {"compatible": f"{NANO}-super", "conf": SUPER_CONF, **NEITHER}),
        ("orin-nano-conf-behind", {"compatible": f"{NANO}-super", "conf": CONF, **BOTH}),
        ("orin-nano-other-slot", {"compatible": f"{NANO}-super", "conf": SUPER_CONF, **BOTH}),
        ("orin-nano-r39", {"compatible": f"{NANO}-super", "conf": SUPER_CONF, **BOTH}),
        (
            "orin-nano-4gb-super",
            {
                "compatible": "nvidia,p3768-0000+p3767-0004-super",
                "conf": "nvpmodel_p3767_0004_super.conf",
                **BOTH,
            },
        ),
        (
            "orin-nx-16gb",
            {
                "compatible": NX,
                "conf": "nvpmodel_p3767_0000.conf",
                "gpu": 918_000_000,
                "gpc": 918_000_000,
                "emc": 3_199_000_000,
                "cpu": 1_984_000,
            },
        ),
        (
            "orin-nx-16gb-half",
            {
                "compatible": f"{NX}-super",
                "conf": "nvpmodel_p3767_0000_super.conf",
                "gpu": 918_000_000,
                "gpc": 918_000_000,
                "emc": 3_199_000_000,
                "cpu": 1_984_000,
            },
        ),
        (
            "orin-nx-8gb-super",
            {
                "compatible": "nvidia,p3768-0000+p3767-0001-super",
                "conf": "nvpmodel_p3767_0001_super.conf",
                "gpu": 1_173_000_000,
                "gpc": 1_173_000_000,
                "emc": 3_199_000_000,
                "cpu": 1_984_000,
            },
        ),
    ],
)
def test_the_layers_of_a_board_say_what_they_say_on_the_board(
    name: str, expected: dict[str, object], make_bench: Make
) -> None:
    assert readings(make_bench(PERSONALITIES[name])) == expected


def test_the_super_table_is_the_recorded_one(make_bench: Make) -> None:
    assert make_bench(SUPER).read(f"{GPU}/available_frequencies").splitlines() == recorded("gpu_table_super")


@pytest.mark.parametrize("name", PERSONALITIES)
def test_what_nobody_published_is_named(name: str) -> None:
    """The middle of the table of a Nano without Super, above all."""
    board = PERSONALITIES[name]
    assert board.ours
    if board.clocks.gpu_table_hz == PLAIN.clocks.gpu_table_hz:
        assert personalities.PLAIN_TABLE in board.ours


def test_the_strings_of_the_device_tree_end_with_a_nul(make_bench: Make) -> None:
    texts = iter(recorded("device_tree"))
    for board in (SUPER, PLAIN):
        bench = make_bench(board)
        assert bench.read("/proc/device-tree/model") == next(texts) + "\0"
        assert bench.read("/proc/device-tree/compatible") == next(texts).replace(" ", "\0") + "\0"
    assert make_bench(SUPER).read("/proc/device-tree/chosen/ids") == "3767-0005-300 3768-0000-400\0"


@pytest.mark.parametrize("name", [name for name, board in PERSONALITIES.items() if board.release.major >= 36])
def test_the_gpu_s_clock_is_one_file_under_all_its_names(name: str, make_bench: Make) -> None:
    bench = make_bench(PERSONALITIES[name])
    gpu = bench.personality.gpu
    names = [
        f"/sys/class/devfreq/{gpu.name}",
        f"{gpu.device}/devfreq/{gpu.name}",
        f"{gpu.device}/devfreq_dev",
        "/sys/devices/platform/17000000.gpu/devfreq_dev",
    ]
    files = {bench.path(f"{folder}/max_freq").resolve() for folder in names}
    assert len(files) == 1
    assert Path(f"{gpu.device}/load").name in {file.name for file in bench.path(gpu.device).iterdir()}


def test_r35_has_the_older_names(make_bench: Make) -> None:
    bench = make_bench(R35)
    assert bench.word("/sys/class/devfreq/17000000.ga10b/available_frequencies").endswith("624750000")
    assert bench.word("/sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq") == "624750000"
    assert bench.word("/sys/kernel/nvpmodel_emc_cap/emc_iso_cap") == "2133000000"
    assert not bench.path(GPU).exists()
    assert bench.read("/proc/device-tree/model") == "NVIDIA Orin Nano Developer Kit\0"


def test_cores_of_a_cluster_share_their_clock(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    policies = [bench.path(f"/sys/devices/system/cpu/cpu{core}/cpufreq").resolve().name for core in range(6)]
    assert policies == ["policy0"] * 4 + ["policy4"] * 2


def test_the_rails_are_found_by_the_driver_and_have_no_power_of_their_own(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    (monitor,) = bench.path("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon").iterdir()
    assert (monitor / "name").read_text() == "ina3221\n"
    assert [(monitor / f"in{rail}_label").read_text().strip() for rail in (1, 2, 3)] == [
        "VDD_IN",
        "VDD_CPU_GPU_CV",
        "VDD_SOC",
    ]
    milliwatts = int((monitor / "in1_input").read_text()) * int((monitor / "curr1_input").read_text()) / 1000
    assert milliwatts == pytest.approx(4654, rel=0.01)
    assert (monitor / "curr1_crit").read_text() == "4984\n"
    assert list(monitor.glob("power*")) == []
    assert bench.path(f"/sys/class/hwmon/{monitor.name}").resolve() == monitor.resolve()


def test_over_currents_are_counted(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, overcurrents=(0, 0, 7)))
    counts = [
        folder / "oc3_event_cnt"
        for folder in bench.path("/sys/class/hwmon").iterdir()
        if (folder / "name").read_text() == "soctherm_oc\n"
    ]
    assert [file.read_text() for file in counts] == ["7\n"]


def test_thermal_zones_have_types_and_millidegrees(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    zones = sorted(bench.path("/sys/class/thermal").iterdir())
    assert {(zone / "type").read_text().strip(): int((zone / "temp").read_text()) for zone in zones} == dict(
        SUPER.temperatures
    )


@pytest.mark.parametrize("path", ["/sys/class/dmi/id/bios_version", "/sys/devices/virtual/dmi/id/bios_version"])
def test_the_bios_version_is_the_slot_s(path: str, make_bench: Make) -> None:
    assert make_bench(SUPER).read(path).startswith("36.4.7-")


@pytest.mark.parametrize("board", [AGX, STRANGER, THOR], ids=lambda board: board.name)
def test_boards_of_other_families_claim_no_name_of_a_p3767(board: Personality, make_bench: Make) -> None:
    bench = make_bench(board)
    assert not bench.path("/etc/nv_boot_control.conf").exists()
    assert "p3767" not in bench.read("/proc/device-tree/compatible")


def test_thor_has_no_clock_by_the_orin_s_name(make_bench: Make) -> None:
    bench = make_bench(THOR)
    assert [folder.name for folder in bench.path("/sys/class/devfreq").iterdir()] == ["gpu-gpc-0"]


def test_a_board_without_uefi_has_none_of_its_files(make_bench: Make) -> None:
    assert not make_bench(replace(SUPER, has_uefi=False)).path("/sys/firmware/efi").exists()


def test_only_root_may_read_what_only_root_reads_on_a_board(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    modes = {
        "/sys/firmware/efi/esrt/entries/entry0/fw_version": 0o400,
        "/sys/kernel/nvpmodel_clk_cap/emc": 0o600,
        f"{GPU}/available_frequencies": 0o444,
        f"{GPU}/max_freq": 0o644,
    }
    assert {path: bench.path(path).stat().st_mode & 0o777 for path in modes} == modes


@pytest.mark.parametrize("name", PERSONALITIES)
def test_every_personality_says_what_it_is(name: str) -> None:
    board = PERSONALITIES[name]
    assert board.name == name
    assert board.what
    assert board.conf in board.confs
    assert len([other for other in PERSONALITIES.values() if other.what == board.what]) == 1


def test_the_half_board_is_the_super_one_but_for_its_bootloader() -> None:
    assert (HALF.device_tree, HALF.conf, HALF.mode) == (SUPER.device_tree, SUPER.conf, SUPER.mode)
    assert HALF.clocks == PLAIN.clocks


def test_an_unknown_name_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(TwinError, match="no personality 'orin'; there are orin-nano-super, orin-nano,"):
        personalities.personality_named("orin")
    assert personalities.personality_named("thor") is THOR
