"""One set of assertions, run on what boards printed and on what the twin's stand-ins print.

RERIG_SAMPLES may name a folder with further recordings; those whose names say what they are run too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from twin.l4t import shapes
from twin.l4t.bench import JETSON_CLOCKS, NVBOOTCTRL, NVFANCONTROL, NVPMODEL, Bench
from twin.l4t.modules import RECORDED
from twin.l4t.personalities import HALF, NX_16GB_SUPER, PERSONALITIES, PLAIN, R35, SUPER
from twin.l4t.shapes import Misshapen
from twin.l4t.tegrastats_shape import read_tegrastats
from twin.l4t.values import Personality

SAMPLES = os.environ.get("RERIG_SAMPLES")
WARNED = replace(SUPER, nvpmodel_warnings=("fan mode is not set!",))
CHROOT = replace(SUPER, chroot=True)
Make = Callable[[Personality], Bench]
Source = Callable[[Make], str]


def recorded(name: str) -> object:
    return pytest.param(lambda _: (RECORDED / f"{name}.txt").read_text("utf-8"), id=f"recorded {name}")


def stub(board: Personality, tool: str, *words: str, input: str = "") -> object:
    """What the stand-in prints on a bench of that board."""
    name = " ".join([board.name, tool.rpartition("/")[2], *words])
    return pytest.param(lambda make: make(board).run(tool, *words, input=input).stdout, id=name)


def file(board: Personality, path: str) -> object:
    return pytest.param(lambda make: make(board).read(path), id=f"{board.name} {path}")


@pytest.mark.parametrize(
    "source",
    [
        recorded("nvpmodel_query"),
        recorded("nvpmodel_query_fan_not_set"),
        stub(SUPER, NVPMODEL, "-q"),
        stub(WARNED, NVPMODEL, "-q"),
        stub(HALF, NVPMODEL, "-q"),
    ],
)
def test_the_power_mode_is_a_name_and_an_id_after_the_warnings(source: Source, make_bench: Make) -> None:
    mode = shapes.read_mode(source(make_bench))
    assert (mode.name, mode.id) == ("MAXN_SUPER", 2)
    assert mode.warnings in ((), ("fan mode is not set!",))


@pytest.mark.parametrize(
    ("source", "name", "highest", "asked"),
    [
        (recorded("nvpmodel_query_verbose_25w").values[0], "25W", "918000000", "918000000"),
        (recorded("nvpmodel_query_verbose_maxn").values[0], "MAXN_SUPER", "1020000000", "9223372036854775807"),
        (stub(SUPER, NVPMODEL, "-q", "--verbose").values[0], "MAXN_SUPER", "1020000000", "9223372036854775807"),
        (stub(replace(SUPER, mode=1), NVPMODEL, "-q", "--verbose").values[0], "25W", "918000000", "918000000"),
        (stub(HALF, NVPMODEL, "-q", "--verbose").values[0], "MAXN_SUPER", "624750000", "9223372036854775807"),
    ],
    ids=["recorded 25W", "recorded MAXN_SUPER", "orin-nano-super", "orin-nano-super 25W", "orin-nano-half"],
)
def test_the_verbose_mode_tells_what_is_from_what_was_asked(
    source: Source, name: str, highest: str, asked: str, make_bench: Make
) -> None:
    mode, values = shapes.read_verbose_mode(source(make_bench))
    assert mode.name == name
    gpu = values[("GPU", "MAX_FREQ")]
    assert (gpu.real, gpu.conf) == (highest, asked)
    assert gpu.path == "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq"
    cores = values[("CPU_ONLINE", "CORE_0")]
    assert (cores.real, cores.conf) == ("1", "1")


def test_the_verbose_mode_of_the_stand_in_is_the_recording_value_by_value(make_bench: Make) -> None:
    """The recording was picked from; what it has, the stand-in has in the same order and with the same values."""
    text = (RECORDED / "nvpmodel_query_verbose_25w.txt").read_text("utf-8")
    printed = make_bench(replace(SUPER, mode=1)).done(NVPMODEL, "-q", "--verbose")
    assert [line for line in printed.splitlines() if line in text.splitlines()] == text.splitlines()


@pytest.mark.parametrize(
    ("source", "default", "models"),
    [
        (recorded("nvpmodel_parse_verbose").values[0], ("MODE_30W", 2), {0: "MAXN", 2: "MODE_30W"}),
        (
            stub(SUPER, NVPMODEL, "-p", "--verbose").values[0],
            ("25W", 1),
            {0: "15W", 1: "25W", 2: "MAXN_SUPER"},
        ),
        (stub(R35, NVPMODEL, "-p", "--verbose").values[0], ("15W", 0), {0: "15W", 1: "7W"}),
    ],
    ids=["recorded", "orin-nano-super", "orin-nano-r35"],
)
def test_the_listing_has_a_default_and_the_modes(
    source: Source, default: tuple[str, int], models: dict[int, str], make_bench: Make
) -> None:
    listing = shapes.read_listing(source(make_bench))
    assert (listing.default, dict(listing.models)) == (default, models)
    assert listing.parameters["GPU"] == "CLOCK"
    assert {mode for mode, parameter, _ in listing.values if parameter == "EMC"} == set(models)


@pytest.mark.parametrize(
    ("source", "highest"),
    [
        (recorded("nvpmodel_parse_verbose").values[0], "2147483647"),
        (stub(R35, NVPMODEL, "-p", "--verbose").values[0], "2147483647"),
        (stub(SUPER, NVPMODEL, "-p", "--verbose").values[0], "9223372036854775807"),
    ],
    ids=["recorded R35", "orin-nano-r35", "orin-nano-super"],
)
def test_no_cap_is_the_largest_number_of_the_tool_s_time(source: Source, highest: str, make_bench: Make) -> None:
    listing = shapes.read_listing(source(make_bench))
    assert highest in {value for (_, parameter, _), value in listing.values.items() if parameter == "GPU"}


NX = NX_16GB_SUPER  # from MAXN_SUPER to 10W another part of the GPU is switched off


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (recorded("nvpmodel_reboot_declined").values[0], "declined"),
        (stub(NX, NVPMODEL, "-m", "1", input="no\n").values[0], "declined"),
        (recorded("nvpmodel_reboot_at_eof").values[0], "eof"),
        (stub(NX, NVPMODEL, "-m", "1").values[0], "eof"),
        (recorded("nvpmodel_reboot_forced").values[0], "forced"),
        (stub(NX, NVPMODEL, "-m", "1", "--force").values[0], "forced"),
        (recorded("nvpmodel_unknown_mode").values[0], "unknown"),
        (stub(PLAIN, NVPMODEL, "-m", "2").values[0], "unknown"),
        (recorded("nvpmodel_chroot").values[0], "chroot"),
        (stub(CHROOT, NVPMODEL, "-m", "1").values[0], "chroot"),
    ],
)
def test_a_mode_that_is_not_set_is_answered_in_the_tool_s_words(source: Source, answer: str, make_bench: Make) -> None:
    assert shapes.read_answer(source(make_bench)) == answer


@pytest.mark.parametrize(
    "source",
    [recorded("nvpmodel_status"), recorded("nvpmodel_status_fan"), file(SUPER, "/var/lib/nvpmodel/status")],
)
def test_the_status_file_has_the_mode_in_four_digits(source: Source, make_bench: Make) -> None:
    assert shapes.read_status(source(make_bench)) in ((2, None), (2, "fan_mode_quiet"))


@pytest.mark.parametrize("source", [recorded("boot_control_super"), file(SUPER, "/etc/nv_boot_control.conf")])
def test_the_boot_control_file_names_the_board_twice(source: Source, make_bench: Make) -> None:
    found = shapes.read_boot_control(source(make_bench))
    assert found["TNSPEC"].endswith("-jetson-orin-nano-devkit-super-")
    assert found["COMPATIBLE_SPEC"] == "3767--0005--1--jetson-orin-nano-devkit-super-"
    assert found["TEGRA_BOOT_STORAGE"] == "nvme0n1"


@pytest.mark.parametrize("spec", (RECORDED / "tnspecs.txt").read_text("utf-8").splitlines())
def test_every_recorded_spec_has_the_shape_that_the_personalities_have(spec: str) -> None:
    assert shapes.SPEC.fullmatch(spec)


@pytest.mark.parametrize("name", [name for name, board in PERSONALITIES.items() if board.tnspec])
def test_every_personality_s_spec_has_the_recorded_shape(name: str) -> None:
    board = PERSONALITIES[name]
    assert shapes.SPEC.fullmatch(board.tnspec or "")
    assert shapes.COMPATIBLE_SPEC.fullmatch(board.compatible_spec or "")


@pytest.mark.parametrize("source", [recorded("slots"), stub(SUPER, NVBOOTCTRL, "dump-slots-info")])
def test_the_slots_are_two_and_one_runs(source: Source, make_bench: Make) -> None:
    slots = shapes.read_slots(source(make_bench))
    assert (slots.version, slots.current, slots.active, slots.capsule_status) == ("36.4.7", "B", "B", 0)
    assert slots.status == ("normal", "normal")


RELEASES = [*(RECORDED / "releases.txt").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("line", [*RELEASES, *sorted({board.release.first_line for board in PERSONALITIES.values()})])
def test_a_release_line_is_read_whole(line: str) -> None:
    major, _, _ = shapes.read_release(line)
    assert major in (35, 36, 38, 39)


@pytest.mark.parametrize("source", [recorded("release_file"), file(SUPER, "/etc/nv_tegra_release")])
def test_the_release_file_goes_on_after_its_first_line(source: Source, make_bench: Make) -> None:
    first, *rest = source(make_bench).splitlines()
    assert shapes.read_release(first)[0] == 36
    assert rest == (RECORDED / "release_file.txt").read_text("utf-8").splitlines()[1:]


@pytest.mark.parametrize(
    "source",
    [
        recorded("jetson_clocks_25w"),
        stub(replace(SUPER, mode=1), JETSON_CLOCKS, "--show"),
    ],
)
def test_the_clocks_are_shown_core_by_core(source: Source, make_bench: Make) -> None:
    found = shapes.read_clocks(source(make_bench))
    assert found.machine == "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super"
    assert (found.online, len(found.cores), found.clusters, found.mode) == ("0-5", 6, 4, "25W")
    assert {(core.lowest, core.highest) for core in found.cores} == {(729_600, 1_344_000)}
    assert (found.gpu.lowest, found.gpu.highest) == (306_000_000, 918_000_000)
    assert (found.memory.lowest, found.memory.highest, found.override) == (204_000_000, 3_199_000_000, False)


@pytest.mark.parametrize("source", [recorded("fan"), stub(replace(SUPER, fan_profile="cool"), NVFANCONTROL, "-q")])
def test_the_fan_has_a_profile(source: Source, make_bench: Make) -> None:
    assert shapes.read_fan(source(make_bench)) == "cool"


STATS = sorted(RECORDED.glob("tegrastats_*.txt"))


@pytest.mark.parametrize("path", STATS, ids=lambda path: path.stem)
def test_every_recorded_line_of_tegrastats_is_read_field_by_field(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        found = read_tegrastats(line)
        assert found.of("rail")
        assert any(field.startswith(("tj@", "cpu@", "CPU@")) for field in found.of("temperature"))
        assert len(found.of("gpu")) in (1, 2)


READERS = {
    "nvpmodel_query_verbose": shapes.read_verbose_mode,
    "nvpmodel_query": shapes.read_mode,
    "nvpmodel_parse_verbose": shapes.read_listing,
    "nvbootctrl": shapes.read_slots,
    "jetson_clocks": shapes.read_clocks,
    "nv_boot_control": shapes.read_boot_control,
    "tegrastats": lambda text: [read_tegrastats(line) for line in text.splitlines()],
}


@pytest.mark.skipif(SAMPLES is None, reason="RERIG_SAMPLES names no folder of recordings")
def test_recordings_of_other_boards_have_these_shapes_too() -> None:
    for path in sorted(Path(SAMPLES or "").rglob("*.txt")):
        for name, read in READERS.items():
            if path.name.startswith(name):
                read(path.read_text("utf-8"))
                break


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (shapes.read_mode, "NV Power Mode: MAXN_SUPER\n"),
        (shapes.read_mode, "NV Power Mode: MAXN_SUPER\n2"),
        (shapes.read_mode, "2\nNV Power Mode: MAXN_SUPER\n"),
        (shapes.read_mode, "NV Power Mode: MAXN_SUPER\n2\nNVPM WARN: fan mode is not set!\n"),
        (shapes.read_mode, "power mode: MAXN_SUPER\n2\n"),
        (shapes.read_answer, "NVPM ERROR: something else\n"),
        (shapes.read_answer, "NVPM WARN: Golden image context is already created\nNVPM ERROR: bad input!\n"),
        (shapes.read_status, "pmode:2\n"),
        (shapes.read_slots, "Current version: 36.4.7\nCapsule update status: 7\n"),
        (shapes.read_release, "# R36 (release), REVISION: 4.7, GCID: 42132812, BOARD: generic, EABI: aarch64, DATE: x"),
        (shapes.read_clocks, "SOC family:tegra234  Machine:a\nOnline CPUs: 0-5\n"),
        (shapes.read_fan, "FAN_PROFILE:loud\n"),
        (shapes.read_boot_control, "TNSPEC 3767-jetson\n"),
        (read_tegrastats, "09-17-2026 02:10:03 RAM 1/2MB (lfb 1x4MB) CPU [0%@729] NEW 1 VDD_IN 1mW/1mW"),
        (read_tegrastats, "09-17-2026 02:10:03 RAM 1/2MB (lfb 1x4MB) CPU [0%@729] VDD_IN 1mW/1mW tj@1C"),
        (read_tegrastats, "RAM 1/2MB (lfb 1x4MB) CPU [0%@729] GR3D_FREQ 0% tj@1C VDD_IN 1mW/1mW"),
    ],
)
def test_the_readers_are_strict(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(Misshapen):
        read(text)
