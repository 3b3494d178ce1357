"""A power budget on the twin's boards: their sensors and their tegrastats, from the agent's repeat to the result."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raw_power import LINE, power_case, power_run
from rerig.build import build_result
from rerig.rundir import RawFile, RawRepeat
from rerig.schema import validate
from rerig_agent.child import StopFlag
from rerig_agent.power import run_power_repeat
from twin.l4t.bench import JETSON_CLOCKS, TEGRASTATS, Bench
from twin.l4t.personalities import SUPER
from twin.l4t.values import Personality

OTHER_LINES = "/run/twin-l4t/tegrastats"  # what the stand-in replays instead of its own lines
ROLES = {"record": "record.json", "samples": "samples.jsonl", "load": "load.jsonl", "tegrastats": "tegrastats"}


class Budget:
    """A load of two seconds on a board: what the result says of it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch

    def of(self, bench: Bench) -> dict[str, Any]:
        self._put_tegrastats_on_path(bench)
        case = power_case(load_s=2)
        case["parameters"] = {"load_s": 2, "cool_s": 0, "sample_s": 0.25, "gpu_load": ["sleep", "100"]}
        directory = self._folder / "r1"
        record = run_power_repeat(case, directory, StopFlag(), lambda _elapsed_s: None, bench.root)
        files = {
            role: RawFile(f"cases/load-90s.t1/r1/{name}", "0" * 64, (directory / name).read_text())
            for role, name in ROLES.items()
        }
        result = build_result(power_run(case, RawRepeat(1, record, files)))
        assert validate(result) == []
        (repeat,) = result["cases"][0]["repeats"]
        return dict(repeat)

    def _put_tegrastats_on_path(self, bench: Bench) -> None:
        program = self._folder / "bin/tegrastats"
        program.parent.mkdir()
        words = [f"TWIN_L4T_ROOT={bench.root}", "TWIN_L4T_UID=0", sys.executable, "-I", "-S"]
        program.write_text(f'#!/bin/sh\nexec env {shlex.join([*words, str(bench.path(TEGRASTATS))])} "$@"\n')
        program.chmod(0o755)
        self._monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Budget:
    return Budget(tmp_path, monkeypatch)


def test_a_boards_files_and_its_tegrastats_give_power_heat_and_clocks(
    make_bench: Callable[[Personality], Bench], budget: Budget
) -> None:
    bench = make_bench(SUPER)
    bench.done(JETSON_CLOCKS)
    bench.path(OTHER_LINES).parent.mkdir(parents=True, exist_ok=True)
    bench.path(OTHER_LINES).write_text(LINE.format(gpu=99, tj=70.5, mw=21480) + "\n")
    found = budget.of(bench)
    assert (found["input_power_highest_w"], found["input_power_source"]) == (21.48, "tegrastats")
    assert (found["tj_highest_c"], found["tj_source"]) == (70.5, "tegrastats")
    assert found["gpu_clock"] == {"max_hz": 1_020_000_000, "lowest_hz": 1_020_000_000, "share_at_max": 1.0}
    assert found["cpu_clock"] == {"max_hz": 1_728_000_000, "lowest_hz": 1_728_000_000, "share_at_max": 1.0}
    assert (found["gpu_load_mean"], found["gpu_loaded"], found["missing"]) == (0.99, True, [])


def test_a_board_that_idles_is_partial_and_its_power_is_the_monitors(
    make_bench: Callable[[Personality], Bench], budget: Budget
) -> None:
    bench = make_bench(SUPER)
    for file, number in (("in1_input", 5000), ("curr1_input", 1200)):
        (path,) = bench.root.glob(f"sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon*/{file}")
        path.write_text(f"{number}\n")
    found = budget.of(bench)
    assert (found["input_power_highest_w"], found["input_power_source"]) == (6.0, "ina3221")
    assert found["partial"] is True
    assert found["gpu_loaded"] is False
    assert found["gpu_clock"] == {"max_hz": 1_020_000_000, "lowest_hz": 306_000_000, "share_at_max": 0.0}


def test_a_mode_that_caps_the_gpu_is_held_at_its_cap(
    make_bench: Callable[[Personality], Bench], budget: Budget
) -> None:
    bench = make_bench(replace(SUPER, mode=1))
    bench.done(JETSON_CLOCKS)
    assert budget.of(bench)["gpu_clock"]["max_hz"] == 918_000_000
