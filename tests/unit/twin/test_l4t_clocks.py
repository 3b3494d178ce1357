"""The stand-ins of jetson_clocks, tegrastats and nvfancontrol."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from twin.l4t import shapes
from twin.l4t.bench import JETSON_CLOCKS, NVFANCONTROL, NVPMODEL, TEGRASTATS, Bench
from twin.l4t.personalities import AGX, PERSONALITIES, R39, SUPER, THOR
from twin.l4t.tegrastats_shape import read_tegrastats
from twin.l4t.values import Personality
from waiting import wait_for

Make = Callable[[Personality], Bench]
EMC = "/sys/kernel/debug/bpmp/debug/clk/emc"
STORE = "/root/l4t_dfs.conf"


def shown(bench: Bench) -> shapes.Clocks:
    return shapes.read_clocks(bench.done(JETSON_CLOCKS, "--show"))


def test_held_clocks_stand_at_the_maximum_of_the_mode(make_bench: Make) -> None:
    bench = make_bench(replace(SUPER, mode=1))
    before = bench.done(JETSON_CLOCKS, "--show")
    assert bench.done(JETSON_CLOCKS) == ""
    after = shown(bench)
    assert after.gpu == shapes.Clock(918_000_000, 918_000_000, 918_000_000)
    assert set(after.cores) == {shapes.Clock(1_344_000, 1_344_000, 1_344_000)}
    assert (after.memory.now, after.override) == (3_199_000_000, True)
    assert "WFI=1 c7=1" in before
    assert "WFI=0 c7=0" in bench.done(JETSON_CLOCKS, "--show")


def test_a_memory_that_is_held_stays_where_it_is(make_bench: Make) -> None:
    bench = make_bench(PERSONALITIES["orin-nano-emc-held"])
    bench.done(JETSON_CLOCKS)
    assert bench.word(f"{EMC}/max_rate") == "3199000000"
    assert bench.word(f"{EMC}/rate") == "2133000000"


def test_stored_clocks_come_back(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    before = bench.done(JETSON_CLOCKS, "--show")
    bench.done(JETSON_CLOCKS, "--store")
    bench.done(JETSON_CLOCKS, "--fan")
    assert bench.done(JETSON_CLOCKS, "--show") != before
    assert "hwmon0_pwm1=255" in bench.done(JETSON_CLOCKS, "--show")
    bench.done(JETSON_CLOCKS, "--restore")
    assert bench.done(JETSON_CLOCKS, "--show") == before


def test_clocks_are_stored_in_the_home_of_the_caller_or_where_told(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.done(JETSON_CLOCKS, "--store", "/var/tmp/own.conf")  # noqa: S108 - below the bench's root
    assert not bench.path(STORE).exists()
    assert "max_freq" not in bench.read("/var/tmp/own.conf")  # noqa: S108 - as above
    bench.done(JETSON_CLOCKS, "--store")
    assert bench.read(STORE) == bench.read("/var/tmp/own.conf")  # noqa: S108 - as above


@pytest.mark.parametrize(("answer", "status"), [("", 1), ("N\n", 1), ("Y\n", 0)])
def test_a_store_is_not_overwritten_unasked(answer: str, status: int, make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.path("/root").mkdir()
    bench.path(STORE).write_text("kept\n")
    finished = bench.run(JETSON_CLOCKS, "--store", input=answer)
    assert (finished.returncode, bench.read(STORE) == "kept\n") == (status, bool(status))
    assert finished.stdout.startswith(f"File {STORE} already exists. Can I overwrite it? Y/N:")


def test_nothing_stored_can_not_be_restored(make_bench: Make) -> None:
    assert make_bench(SUPER).run(JETSON_CLOCKS, "--restore").returncode == 1


def test_a_mode_switch_gives_held_clocks_the_new_limits(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.done(JETSON_CLOCKS)
    bench.done(NVPMODEL, "-m", "0")
    assert (shown(bench).gpu.lowest, shown(bench).gpu.highest) == (306_000_000, 612_000_000)


@pytest.mark.parametrize("tool", [JETSON_CLOCKS, NVFANCONTROL])
def test_users_may_not_touch_clocks_and_fans(tool: str, make_bench: Make) -> None:
    finished = make_bench(SUPER).run(tool, "-q", uid=1000)
    assert (finished.returncode, finished.stdout.count("\n")) == (1, 1)


def test_a_part_of_the_gpu_that_is_off_is_not_counted(make_bench: Make) -> None:
    assert shown(make_bench(PERSONALITIES["orin-nano-4gb-super"])).clusters == 2
    assert shown(make_bench(AGX)).clusters == 8


# tegrastats


def replayed(bench: Bench, count: int, *words: str, uid: int = 0) -> list[str]:
    """The first lines that it prints; then it is told to end, and must."""
    argv = bench.argv(TEGRASTATS, "--interval", "1", *words)
    with subprocess.Popen(argv, env=bench.environment(uid), stdout=subprocess.PIPE, encoding="utf-8") as child:
        assert child.stdout
        lines = [child.stdout.readline() for _ in range(count)]
        child.terminate()
        assert child.wait(60) == -signal.SIGTERM
    return lines


@pytest.mark.parametrize("name", sorted(PERSONALITIES))
def test_each_line_is_one_of_the_personality_s_with_the_time_of_now(name: str, make_bench: Make) -> None:
    board = PERSONALITIES[name]
    expected = [line.split(" ", 2)[2] for line in board.tegrastats_as_root]
    lines = replayed(make_bench(board), len(expected) + 1)
    assert [line.rstrip("\n").split(" ", 2)[2] for line in lines] == [*expected, expected[0]]
    for line in lines:
        read_tegrastats(line.rstrip("\n"))
        printed = time.mktime(time.strptime(" ".join(line.split(" ", 2)[:2]), "%m-%d-%Y %H:%M:%S"))
        assert abs(printed - time.time()) < 600


def test_a_user_does_not_see_the_memory_s_clock(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    assert read_tegrastats(replayed(bench, 1, uid=1000)[0].rstrip("\n")).of("emc") == ()
    assert read_tegrastats(replayed(bench, 1)[0].rstrip("\n")).of("emc") == ("EMC_FREQ 0%@204",)


def test_rails_and_temperatures_are_single_double_or_triple_by_release() -> None:
    old, new = (read_tegrastats(board.tegrastats[0]) for board in (SUPER, R39))
    assert old.of("rail")[0].count("mW") == 2
    assert new.of("rail")[0].count("mW") == 3
    assert new.of("temperature")[0].count("C") == 2
    assert read_tegrastats(THOR.tegrastats[0]).swap_mb is None


def test_lines_may_go_to_a_file(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    log = bench.path("/var/log/stats")
    log.parent.mkdir(parents=True)
    argv = bench.argv(TEGRASTATS, "--interval", "1", "--logfile", "/var/log/stats")
    with subprocess.Popen(argv, env=bench.environment(), stdout=subprocess.DEVNULL) as child:
        wait_for(lambda: log.exists() and log.read_text().count("\n") >= 2)
        child.terminate()
    read_tegrastats(log.read_text().splitlines()[0])


def test_a_test_s_own_lines_go_before_the_personality_s(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    line = SUPER.tegrastats[1].replace("VDD_IN 4541mW", "VDD_IN 21500mW")
    bench.path("/run/twin-l4t/tegrastats").write_text(f"{line}\n")
    assert "VDD_IN 21500mW/" in replayed(bench, 1)[0]


# nvfancontrol


def test_the_fan_keeps_the_profile_that_it_runs_with(make_bench: Make) -> None:
    """A changed default counts only after the status is gone, which is why one removes it."""
    bench = make_bench(SUPER)
    assert bench.done(NVFANCONTROL, "-q") == "FAN_PROFILE:quiet\n"
    bench.path("/etc/nvpower/nvfancontrol/nvfancontrol_p3767_0000.conf").write_text("FAN_DEFAULT_PROFILE cool\n")
    assert bench.done(NVFANCONTROL, "-q") == "FAN_PROFILE:quiet\n"
    bench.path("/var/lib/nvfancontrol/status").unlink()
    assert bench.done(NVFANCONTROL, "-q") == "FAN_PROFILE:cool\n"


def test_newer_fans_have_a_number(make_bench: Make) -> None:
    assert shapes.read_fan(make_bench(replace(SUPER, fan_prefix="FAN1:")).done(NVFANCONTROL, "-q")) == "quiet"
