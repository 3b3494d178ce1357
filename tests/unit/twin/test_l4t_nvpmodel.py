"""The stand-in of nvpmodel: what it changes, what it refuses, and that it says so as the real tool does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from twin.l4t import shapes
from twin.l4t.bench import NVPMODEL, Bench
from twin.l4t.personalities import (
    HALF,
    NX_16GB_SUPER,
    PERSONALITIES,
    PLAIN,
    R35,
    SUPER,
)
from twin.l4t.values import Personality

Make = Callable[[Personality], Bench]
GPU = "/sys/devices/platform/17000000.gpu/devfreq_dev"
CPU = "/sys/devices/system/cpu"
CAP = "/sys/kernel/nvpmodel_clk_cap/emc"
STATUS = "/var/lib/nvpmodel/status"
REBOOT = "/run/twin-l4t/reboot-asked"


def limits(bench: Bench) -> tuple[str, str, str]:
    """Highest GPU, core and memory clock that are allowed now."""
    return bench.word(f"{GPU}/max_freq"), bench.word(f"{CPU}/cpu0/cpufreq/scaling_max_freq"), bench.word(CAP)


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        (0, ("612000000", "1497600", "2133000000")),
        (1, ("918000000", "1344000", "3199000000")),
        (2, ("1020000000", "1728000", "3199000000")),
    ],
)
def test_a_mode_s_caps_reach_the_clocks(mode: int, allowed: tuple[str, str, str], make_bench: Make) -> None:
    bench = make_bench(SUPER)
    assert bench.done(NVPMODEL, "-m", str(mode)) == ""
    assert limits(bench) == allowed
    assert shapes.read_status(bench.read(STATUS)) == (mode, "fan_mode_quiet")
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).id == mode


def test_no_cap_adds_no_clock_to_a_table_that_ends_earlier(make_bench: Make) -> None:
    bench = make_bench(HALF)
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "MAXN_SUPER"
    assert limits(bench) == ("624750000", "1510400", "2133000000")


def test_a_cap_between_two_steps_is_rounded_down_in_silence(make_bench: Make) -> None:
    """25W asks for 918 MHz where the table ends at 624.75, 15W for 612 where 408 is the next step below."""
    bench = make_bench(HALF)
    assert bench.done(NVPMODEL, "-m", "1") == ""
    assert bench.word(f"{GPU}/max_freq") == "624750000"
    assert bench.done(NVPMODEL, "-m", "0") == ""
    assert bench.word(f"{GPU}/max_freq") == "408000000"


def test_a_clock_above_its_new_cap_comes_down(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.path(f"{GPU}/cur_freq").chmod(0o644)
    bench.path(f"{GPU}/cur_freq").write_text("1020000000\n")
    bench.done(NVPMODEL, "-m", "0")
    assert bench.word(f"{GPU}/cur_freq") == "612000000"


def test_the_cores_of_a_smaller_mode_go_offline(make_bench: Make) -> None:
    bench = make_bench(replace(NX_16GB_SUPER, gpu_in_use=False))
    bench.done(NVPMODEL, "-m", "1")
    assert [bench.word(f"{CPU}/cpu{core}/online") for core in range(8)] == list("11110000")


def test_the_same_id_is_another_mode_on_another_module(make_bench: Make) -> None:
    assert shapes.read_mode(make_bench(replace(SUPER, mode=0)).done(NVPMODEL, "-q")).name == "15W"
    assert shapes.read_mode(make_bench(NX_16GB_SUPER).done(NVPMODEL, "-q")).name == "MAXN_SUPER"


def test_the_verbose_mode_shows_a_value_that_somebody_else_changed(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.path(f"{GPU}/max_freq").write_text("816000000\n")
    _, values = shapes.read_verbose_mode(bench.done(NVPMODEL, "-q", "--verbose"))
    assert values[("GPU", "MAX_FREQ")].real == "816000000"


def test_warnings_come_before_the_mode(make_bench: Make) -> None:
    board = replace(SUPER, nvpmodel_warnings=("fan mode is not set to cool", "another one"))
    mode = shapes.read_mode(make_bench(board).done(NVPMODEL, "-q"))
    assert mode.warnings == ("fan mode is not set to cool", "another one")


@pytest.mark.parametrize(
    ("words", "input", "answer"),
    [
        (("-m", "1"), "", "eof"),
        (("-m", "1"), "no\n", "declined"),
        (("-m", "1"), "\n", "declined"),
        (("-m", "1"), "Yes\n", "declined"),
        (("-m", "9"), "YES\n", "unknown"),
    ],
)
def test_what_is_refused_changes_nothing_and_still_exits_with_0(
    words: tuple[str, ...], input: str, answer: str, make_bench: Make
) -> None:
    bench = make_bench(NX_16GB_SUPER)
    before = (limits(bench), bench.read(STATUS))
    finished = bench.run(NVPMODEL, *words, input=input)
    assert (finished.returncode, shapes.read_answer(finished.stdout), finished.stderr) == (0, answer, "")
    assert (limits(bench), bench.read(STATUS)) == before
    assert not bench.path(REBOOT).exists()


@pytest.mark.parametrize(("words", "input"), [((), "YES\n"), ((), "yes\n"), (("--force",), "")])
def test_a_granted_reboot_stores_the_mode_and_the_next_boot_sets_it(
    words: tuple[str, ...], input: str, make_bench: Make
) -> None:
    bench = make_bench(NX_16GB_SUPER)
    before = limits(bench)
    printed = bench.done(NVPMODEL, "-m", "1", *words, input=input)
    assert printed.endswith("NVPM WARN: rebooting..\n")
    assert bench.path(REBOOT).exists()
    assert shapes.read_status(bench.read(STATUS))[0] == 1
    assert limits(bench) == before
    bench.boot()
    assert limits(bench) == ("612000000", "1190400", "2133000000")
    assert bench.word(f"{bench.personality.gpu.device}/tpc_pg_mask") == "252"


def test_without_a_gpu_in_use_the_same_switch_asks_nothing(make_bench: Make) -> None:
    bench = make_bench(replace(NX_16GB_SUPER, gpu_in_use=False))
    assert bench.done(NVPMODEL, "-m", "1") == ""
    assert bench.word(f"{GPU}/max_freq") == "612000000"


def test_modes_with_the_same_mask_switch_live(make_bench: Make) -> None:
    bench = make_bench(NX_16GB_SUPER)
    assert bench.done(NVPMODEL, "-m", "3") == ""
    assert bench.word(f"{GPU}/max_freq") == "408000000"


def test_in_a_container_only_the_status_file_changes(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, chroot=True))
    before = limits(bench)
    assert shapes.read_answer(bench.done(NVPMODEL, "-m", "0")) == "chroot"
    assert limits(bench) == before
    # and so the tool now says what is not so
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "15W"


def test_a_tool_that_fails_by_its_exit_status_can_be_played_too(make_bench: Make) -> None:
    finished = make_bench(replace(PLAIN, nvpmodel_error_status=1)).run(NVPMODEL, "-m", "2")
    assert (finished.returncode, finished.stdout) == (1, "NVPM ERROR: request for bad power mode 2\n")


def test_a_user_can_ask_but_not_set(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    assert shapes.read_mode(bench.run(NVPMODEL, "-q", uid=1000).stdout).id == 2
    assert bench.run(NVPMODEL, "-m", "0", uid=1000).stdout == f"NVPM ERROR: Error opening {STATUS}: 13\n"
    assert shapes.read_status(bench.read(STATUS))[0] == 2


def test_a_value_that_is_missing_is_an_error_line_among_the_others(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.path(CAP).unlink()
    lines = bench.done(NVPMODEL, "-q", "--verbose").splitlines()
    assert f"NVPM ERROR: Error opening {CAP}: 2" in lines
    assert f"NVPM ERROR: failed to read PARAM EMC: ARG MAX_FREQ: PATH {CAP}" in lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "NVPM ERROR: Error opening /etc/nvpmodel.conf: 2"),
        ("< POWER_MODEL ID=0 NAME=15W >\n", "NVPM ERROR: failed to parse /etc/nvpmodel.conf"),
        ("< POWER_MODEL ID=0\n", "NVPM ERROR: failed to parse /etc/nvpmodel.conf"),
        ("", "NVPM ERROR: failed to parse /etc/nvpmodel.conf"),
    ],
)
def test_a_configuration_that_is_missing_or_torn_is_an_error(text: str | None, said: str, make_bench: Make) -> None:
    bench = make_bench(SUPER)
    conf = bench.path("/etc/nvpmodel.conf")
    conf.unlink()
    if text is not None:
        conf.write_text(text)
    assert bench.run(NVPMODEL, "-q").stdout == f"{said}\n"


def test_a_stored_mode_that_the_file_does_not_have_falls_to_the_default_at_boot(make_bench: Make) -> None:
    bench = make_bench(replace(PLAIN, mode=2))
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "15W"


def test_nothing_stored_is_the_default(make_bench: Make) -> None:
    assert shapes.read_mode(make_bench(replace(SUPER, mode=None)).done(NVPMODEL, "-q")).name == "25W"


def test_another_configuration_can_be_asked_and_set(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, mode=1))
    other = "/etc/nvpmodel/nvpmodel_p3767_0003.conf"
    assert shapes.read_mode(bench.done(NVPMODEL, "-q", "-f", other)).name == "7W"


@pytest.mark.parametrize("words", [(), ("-x",), ("-m",), ("-m", "two")])
def test_wrong_words_get_the_usage(words: tuple[str, ...], make_bench: Make) -> None:
    finished = make_bench(SUPER).run(NVPMODEL, *words)
    assert (finished.returncode, finished.stderr.split(":")[0]) == (1, "Usage")


def test_older_kernels_take_the_older_paths(make_bench: Make) -> None:
    bench = make_bench(R35)
    _, values = shapes.read_verbose_mode(bench.done(NVPMODEL, "-q", "--verbose"))
    gpu = values[("GPU", "MAX_FREQ")]
    assert (gpu.path, gpu.real, gpu.conf) == (
        "/sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq",
        "624750000",
        "2147483647",
    )
    assert values[("EMC", "MAX_FREQ")].path == "/sys/kernel/nvpmodel_emc_cap/emc_iso_cap"


@pytest.mark.parametrize("name", PERSONALITIES)
def test_every_personality_boots_into_its_own_mode(name: str, make_bench: Make) -> None:
    board = PERSONALITIES[name]
    bench = make_bench(board)
    conf = board.confs[board.conf]
    expected = conf.default if board.mode is None else board.mode
    mode = shapes.read_mode(bench.done(NVPMODEL, "-q"))
    assert (mode.id, mode.name) == (expected, next(model.name for model in conf.models if model.id == expected))
    assert bench.path("/etc/nvpmodel.conf").readlink().name == board.conf
