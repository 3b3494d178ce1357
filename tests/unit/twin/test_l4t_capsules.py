"""The road to Super as the firmware sees it: which capsules it takes, and what it writes where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from twin.l4t import shapes
from twin.l4t.bench import (
    BOOTLOADER_CONFIG,
    NVBOOTCTRL,
    NVPMODEL,
    STAGE_CAPSULE,
    Bench,
)
from twin.l4t.files.twin_l4t import capsule
from twin.l4t.firmware_view import (
    CAPSULES,
    CHAIN_STATUS,
    CONTROL,
    OS_INDICATIONS,
    PLAIN_CAPSULE,
    SUPER_CAPSULE,
    esrt,
    last_step,
    slots,
)
from twin.l4t.personalities import HALF, PERSONALITIES, PLAIN, SUPER
from twin.l4t.values import Capsule, Personality

Make = Callable[[Personality], Bench]


def name_super(bench: Bench) -> None:
    """The board's name in /etc, as owners change it."""
    text = bench.read(CONTROL).replace("orin-nano-devkit-\n", "orin-nano-devkit-super-\n")
    bench.path(CONTROL).write_text(text)


def test_the_name_the_variables_and_the_capsule_together_make_a_board_super(make_bench: Make) -> None:
    bench = make_bench(HALF)
    name_super(bench)
    bench.done(BOOTLOADER_CONFIG, "-l")
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert last_step(bench) == 1_020_000_000
    assert slots(bench) == shapes.Slots("36.5.2", 1, "A", "A", ("normal", "normal"))
    assert esrt(bench)["last_attempt_status"] == 0
    assert list(bench.path(CAPSULES).iterdir()) == []
    assert bench.word("/sys/kernel/debug/bpmp/debug/clk/emc/max_rate") == "3199000000"
    assert bench.word("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") == "1728000"
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "MAXN_SUPER"


def test_the_same_version_proves_nothing(make_bench: Make) -> None:
    """fw_version is the same before and after: only the tables tell that a bootloader is Super."""
    bench = make_bench(HALF)
    before = esrt(bench)["fw_version"]
    name_super(bench)
    bench.done(BOOTLOADER_CONFIG, "-l")
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert esrt(bench)["fw_version"] == before == 2_360_578


def test_the_capsule_alone_is_refused_and_nothing_is_written(make_bench: Make) -> None:
    """The variables still name another board, whose name has fewer words."""
    bench = make_bench(HALF)
    name_super(bench)
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert last_step(bench) == 624_750_000
    assert slots(bench) == shapes.Slots("36.5.2", 3, "B", "B", ("normal", "normal"))
    assert esrt(bench)["last_attempt_status"] == 6151
    assert esrt(bench)["last_attempt_version"] == 2_360_578
    assert list(bench.path(CAPSULES).iterdir()) == []
    bench.done(NVBOOTCTRL, "set-active-boot-slot", "0")
    bench.boot()
    assert last_step(bench) == 624_750_000


def test_only_the_slot_that_does_not_run_is_written(make_bench: Make) -> None:
    """A fallback to the other slot ends Super again; a second capsule from the new slot mends that one too."""
    bench = make_bench(HALF)
    name_super(bench)
    bench.done(BOOTLOADER_CONFIG, "-l")
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    bench.done(NVBOOTCTRL, "set-active-boot-slot", "1")
    assert (slots(bench).current, slots(bench).active) == ("A", "B")
    bench.boot()
    assert (slots(bench).current, last_step(bench)) == ("B", 624_750_000)
    bench.done(NVBOOTCTRL, "set-active-boot-slot", "0")
    bench.boot()
    assert last_step(bench) == 1_020_000_000
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert (slots(bench).current, last_step(bench)) == ("B", 1_020_000_000)


def test_a_left_over_status_cancels_a_capsule(make_bench: Make) -> None:
    bench = make_bench(PERSONALITIES["orin-nano-left-over-status"])
    name_super(bench)
    bench.done(BOOTLOADER_CONFIG, "-l")
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert (last_step(bench), esrt(bench)["last_attempt_status"]) == (624_750_000, 6163)
    bench.path(CHAIN_STATUS).unlink()
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert last_step(bench) == 1_020_000_000


def test_a_capsule_without_the_bit_waits_and_the_bit_without_a_capsule_goes(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    assert bench.path(OS_INDICATIONS).read_bytes() == bytes.fromhex("07000000 0400000000000000")
    bench.path(OS_INDICATIONS).write_bytes(bytes.fromhex("07000000 0000000000000000"))
    bench.boot()
    assert [file.name for file in bench.path(CAPSULES).iterdir()] == ["TEGRA_BL_3767_super.Cap"]
    assert slots(bench).capsule_status == 0
    (bench.path(CAPSULES) / "TEGRA_BL_3767_super.Cap").unlink()
    bench.path(OS_INDICATIONS).write_bytes(bytes.fromhex("07000000 0500000000000000"))
    bench.boot()
    assert bench.path(OS_INDICATIONS).read_bytes() == bytes.fromhex("07000000 0100000000000000")


def test_a_new_bootloader_that_does_not_boot_leaves_the_old_one_running(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, next_boot_fails=True))
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert slots(bench) == shapes.Slots("36.4.7", 2, "B", "B", ("unbootable", "normal"))
    assert bench.run(NVBOOTCTRL, "is-slot-bootable", "0").returncode == 1


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 6145),
        (b"not a capsule", 6145),
        (capsule.pack("36.4.7", "super", [""])[:-1], 6145),
        (capsule.pack("36.3.0", "super", [""]), 3),
        (capsule.pack("36.5.0", "super", [""]), 0),
    ],
    ids=["empty", "other", "torn", "too old", "for all"],
)
def test_the_firmware_looks_at_what_it_is_given(data: bytes, status: int, make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.path("/root").mkdir()
    bench.path("/root/update.Cap").write_bytes(data)
    bench.done(STAGE_CAPSULE, "-q", "/root/update.Cap")
    bench.boot()
    assert esrt(bench)["last_attempt_status"] == status
    assert slots(bench).version == ("36.4.7" if status else "36.5.0")


@pytest.mark.parametrize(
    ("image", "full", "compatible", "fits"),
    [
        ("", None, None, True),
        ("3767--0005--1--jetson-orin-nano-devkit-", None, "3767--0005--1--jetson-orin-nano-devkit-", True),
        ("3767--0005--1--jetson-orin-nano-devkit-super-", None, "3767--0005--1--jetson-orin-nano-devkit-", False),
        ("3767--0005--1--jetson-orin-nano-devkit-", None, "3767--0004--1--jetson-orin-nano-devkit-", False),
        ("3767-000-0000--1--jetson-orin-nano-devkit-", None, "3767--0000--1--jetson-orin-nano-devkit-", True),
        ("3767--0005--1--jetson-orin-nano-devkit-", "3767-300-0005-R.1-1-1-jetson-orin-nano-devkit-", None, True),
        ("3767--0005--1--jetson-orin-nano-devkit-", None, None, False),
        ("-------", None, None, True),
        ("3767--0005--0--jetson-orin-nano-devkit-", None, "3767--0005--1--jetson-orin-nano-devkit-", False),
    ],
)
def test_a_spec_fits_word_by_word(image: str, full: str | None, compatible: str | None, fits: bool) -> None:
    assert capsule.fits(image, full, compatible) is fits


def test_a_board_without_a_name_in_its_variables_takes_no_named_capsule(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, variable_tnspec="", variable_compatible_spec=""))
    bench.done(STAGE_CAPSULE, "-q", SUPER_CAPSULE)
    bench.boot()
    assert esrt(bench)["last_attempt_status"] == 6151


def test_a_capsule_of_the_wrong_kind_takes_super_away(make_bench: Make) -> None:
    """What the package does to a board whose name was never changed."""
    board = replace(
        SUPER,
        tnspec=PLAIN.tnspec,
        compatible_spec=PLAIN.compatible_spec,
        capsules={PLAIN_CAPSULE: Capsule("36.5.2", "plain", (PLAIN.compatible_spec or "",))},
    )
    bench = make_bench(board)
    bench.done(STAGE_CAPSULE, "-q", PLAIN_CAPSULE)
    bench.boot()
    assert (last_step(bench), slots(bench).version) == (624_750_000, "36.5.2")
