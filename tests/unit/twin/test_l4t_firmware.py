"""The tools around the bootloader: slots, UEFI's variables, the package; and the device tree that the kernel gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from twin.l4t import shapes
from twin.l4t.bench import (
    BOOTLOADER_CONFIG,
    NVBOOTCTRL,
    NVPMODEL,
    POSTINST,
    STAGE_CAPSULE,
    Bench,
)
from twin.l4t.firmware_view import (
    CAPSULES,
    CHAIN_STATUS,
    CONTROL,
    EFIVARS,
    NVIDIA,
    OS_INDICATIONS,
    SUPER_CAPSULE,
    esrt,
    last_step,
    slots,
)
from twin.l4t.modules import RECORDED
from twin.l4t.personalities import AGX, PLAIN, R39, SUPER
from twin.l4t.values import Personality, Slot

Make = Callable[[Personality], Bench]


def test_the_variables_are_what_the_firmware_wrote_with_four_bytes_in_front(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    assert bench.path(f"{EFIVARS}/TegraPlatformSpec-{NVIDIA}").read_bytes() == b"\7\0\0\0" + (
        b"3767-300-0005-R.1-1-1-jetson-orin-nano-devkit-super-"
    )
    assert bench.path(f"{EFIVARS}/TegraPlatformCompatSpec-{NVIDIA}").read_bytes() == b"\7\0\0\0" + (
        b"3767--0005--1--jetson-orin-nano-devkit-super-"
    )
    assert bench.path(f"{EFIVARS}/BootChainFwCurrent-{NVIDIA}").read_bytes() == bytes.fromhex("06000000 01000000")
    assert not bench.path(CHAIN_STATUS).exists()


def test_variables_may_say_another_thing_than_the_file(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, variable_compatible_spec=PLAIN.compatible_spec))
    spec = bench.path(f"{EFIVARS}/TegraPlatformCompatSpec-{NVIDIA}")
    assert spec.read_bytes()[4:] == (PLAIN.compatible_spec or "").encode()
    bench.done(BOOTLOADER_CONFIG, "-l")
    assert spec.read_bytes()[4:] == (SUPER.compatible_spec or "").encode()


def test_staging_needs_room_and_a_file(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    assert bench.run(STAGE_CAPSULE, "-q", "/nowhere.Cap").returncode == 1
    assert bench.run(STAGE_CAPSULE).returncode == 1
    bench.path(CAPSULES).parent.mkdir(parents=True)
    bench.path(CAPSULES).write_text("in the way")
    assert bench.run(STAGE_CAPSULE, "-q", SUPER_CAPSULE).returncode == 1
    assert bench.path(OS_INDICATIONS).read_bytes()[4] == 0


@pytest.mark.parametrize("tool", [STAGE_CAPSULE, BOOTLOADER_CONFIG, NVBOOTCTRL])
def test_the_tools_of_the_bootloader_are_for_root(tool: str, make_bench: Make) -> None:
    words = {STAGE_CAPSULE: ("-q", SUPER_CAPSULE), BOOTLOADER_CONFIG: ("-l",), NVBOOTCTRL: ("dump-slots-info",)}[tool]
    assert make_bench(SUPER).run(tool, *words, uid=1000).returncode == 1


def test_the_package_stages_by_the_name_in_etc(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    log = (RECORDED / "payload_log.txt").read_text("utf-8")
    assert bench.done(POSTINST, "configure") == log
    assert [file.name for file in bench.path(CAPSULES).iterdir()] == ["TEGRA_BL_3767_super.Cap"]
    other = make_bench(PLAIN)
    assert other.done(POSTINST, "configure") == log
    assert [file.name for file in other.path(CAPSULES).iterdir()] == ["TEGRA_BL_3767.Cap"]


def test_the_package_says_that_it_staged_even_if_it_did_not(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.path(SUPER_CAPSULE).unlink()
    assert bench.done(POSTINST, "configure") == (RECORDED / "payload_log.txt").read_text("utf-8")
    assert not bench.path(CAPSULES).exists()


def test_the_package_knows_no_other_boards(make_bench: Make) -> None:
    finished = make_bench(AGX).run(POSTINST, "configure")
    assert (finished.returncode, finished.stdout.splitlines()[-1]) == (
        1,
        "ERROR.  does not match any known boards.",
    )


def test_r39_names_the_board_itself_at_each_boot(make_bench: Make) -> None:
    bench = make_bench(replace(R39, tnspec=PLAIN.tnspec, compatible_spec=PLAIN.compatible_spec))
    assert "TNSPEC 3767-301-0005-M.1-1-1-jetson-orin-nano-devkit-super-\n" in bench.read(CONTROL)
    spec = bench.path(f"{EFIVARS}/TegraPlatformCompatSpec-{NVIDIA}")
    assert spec.read_bytes()[4:] == b"3767--0005--1--jetson-orin-nano-devkit-super-"
    # R36 does nothing of the kind
    assert "devkit-super-" not in make_bench(PLAIN).read(CONTROL)


@pytest.mark.parametrize(
    ("words", "printed"), [(("get-number-slots",), "2\n"), (("get-current-slot",), "1\n"), (("verify",), "")]
)
def test_the_slots_can_be_asked_one_by_one(words: tuple[str, ...], printed: str, make_bench: Make) -> None:
    assert make_bench(SUPER).done(NVBOOTCTRL, *words) == printed


@pytest.mark.parametrize("words", [(), ("dump",), ("set-active-boot-slot",), ("set-active-boot-slot", "2")])
def test_wrong_words_for_the_slots_are_refused(words: tuple[str, ...], make_bench: Make) -> None:
    assert make_bench(SUPER).run(NVBOOTCTRL, *words).returncode == 1


def test_a_wish_for_the_running_slot_is_no_operation_and_stays_as_a_status(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.done(NVBOOTCTRL, "set-active-boot-slot", "1")
    bench.boot()
    assert bench.path(CHAIN_STATUS).read_bytes() == bytes.fromhex("07000000 02000000")
    bench.done(NVBOOTCTRL, "set-active-boot-slot", "0")
    bench.boot()
    assert slots(bench).current == "B"


# What the kernel is given.


@pytest.mark.parametrize(
    ("line", "compatible"),
    [
        ("FDT /boot/dtb/kernel_tegra234-p3768-0000+p3767-0005-nv-super.dtb", "nvidia,p3768-0000+p3767-0005-super"),
        ("FDT /boot/dtb/kernel_tegra234-p3768-0000+p3767-0005-nv.dtb", "nvidia,p3768-0000+p3767-0005"),
        ("", "nvidia,p3768-0000+p3767-0005"),
    ],
)
def test_extlinux_chooses_the_device_tree_and_without_it_the_slot(line: str, compatible: str, make_bench: Make) -> None:
    bench = make_bench(PLAIN)
    conf = bench.path("/boot/extlinux/extlinux.conf")
    conf.write_text(conf.read_text().replace("      APPEND", f"      {line}\n      APPEND"))
    bench.boot()
    assert bench.read("/proc/device-tree/compatible").split("\0")[0] == compatible
    assert bench.read("/proc/device-tree/model").endswith(" Super\0") == compatible.endswith("-super")
    # the clocks are the bootloader's, whatever the device tree says
    assert last_step(bench) == 624_750_000


def test_a_super_device_tree_brings_the_super_file_at_the_next_boot(make_bench: Make) -> None:
    bench = make_bench(PLAIN)
    conf = bench.path("/boot/extlinux/extlinux.conf")
    conf.write_text(conf.read_text().replace("      APPEND", "      FDT /boot/dtb/a-nv-super.dtb\n      APPEND"))
    bench.boot()
    assert bench.path("/etc/nvpmodel.conf").readlink().name == "nvpmodel_p3767_0003_super.conf"
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "25W"


@pytest.mark.parametrize("line", (RECORDED / "esrt_versions.txt").read_text("utf-8").splitlines())
def test_the_firmware_s_number_is_its_version(line: str, make_bench: Make) -> None:
    number, version = line.split()
    board = replace(SUPER, slots=(Slot(version, "super"), Slot(version, "super")))
    assert esrt(make_bench(board))["fw_version"] == int(number)
