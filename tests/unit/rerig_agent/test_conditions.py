from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fake_machine import FakeMachine
from rerig_agent.conditions import collect, summarize


def test_a_board_is_collected_as_it_is(machine: FakeMachine) -> None:
    for number, governor in enumerate(("schedutil", "performance")):
        cpu = f"/sys/devices/system/cpu/cpu{number}/cpufreq"
        machine.write(f"{cpu}/scaling_governor", governor + "\n")
        machine.write(f"{cpu}/scaling_cur_freq", f"{1_000_000 + number}\n")
    machine.write("/sys/devices/system/cpu/cpufreq/x", "")
    machine.write("/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
    machine.write("/sys/class/thermal/thermal_zone0/temp", "48250\n")
    machine.write("/sys/class/thermal/thermal_zone1/type", "cv0-thermal\n")
    machine.write("/sys/class/thermal/cooling_device0/type", "pwm-fan\n")
    machine.write("/proc/device-tree/model", "NVIDIA Jetson Orin Nano Developer Kit\0")
    machine.write("/var/lib/nvpmodel/status", "pmode:0002\n")
    machine.write("/proc/uptime", "123.45 400.00\n")
    machine.write("/proc/sys/kernel/osrelease", "5.15.148-tegra\n")
    machine.write("/proc/sys/kernel/random/boot_id", "0b5c-uuid\n")
    machine.write("/proc/pressure/io", "some avg10=0.00\n")

    found = collect(machine.root)

    assert found["governors"] == {"cpu0": "schedutil", "cpu1": "performance"}
    assert found["cpu_frequencies_khz"] == {"cpu0": 1_000_000, "cpu1": 1_000_001}
    assert found["thermal_zones"] == [
        {"type": "cpu-thermal", "temperature_millicelsius": 48250},
        {"type": "cv0-thermal", "temperature_millicelsius": None},
    ]
    assert found["device_tree_model"] == "NVIDIA Jetson Orin Nano Developer Kit"
    assert (found["uptime_s"], found["boot_id"], found["kernel_release"]) == (123.45, "0b5c-uuid", "5.15.148-tegra")
    assert found["nvpmodel_status"] == "pmode:0002\n"
    assert found["pressure"] == {"cpu": None, "io": "some avg10=0.00\n", "memory": None}


def test_an_empty_machine_is_collected_with_gaps(tmp_path: Path) -> None:
    found = collect(tmp_path)

    assert found["meminfo"] is None
    assert found["governors"] == {}
    assert found["nvpmodel_status"] is None
    assert found["uptime_s"] is None
    summarize(found)


def test_this_machine_is_collected_and_summarized() -> None:
    found = collect()

    summary = summarize(found)

    assert json.loads(json.dumps(found)) == found
    assert summary["cores"] == len(os.sched_getaffinity(0)) or summary["cores"] >= 1
    assert summary["memory_bytes"] > summary["memory_available_bytes"] > 0
    assert summary["load_1m"] >= 0
    assert found["boot_id"] not in json.dumps(summary)


def test_the_build_host_and_the_command_line_are_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = Path.read_bytes

    def remember(path: Path) -> bytes:
        opened.append(str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", remember)

    collect()

    assert "/proc/meminfo" in opened
    assert not [path for path in opened if path.endswith(("/proc/version", "/proc/cmdline", "serial", "uuid"))]
