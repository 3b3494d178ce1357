"""What is collected of a board: raw, bounded, without tools and without a write."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fake_machine import FakeMachine
from rerig_agent.conditions import collect
from rerig_agent.facts.jetson import MOST_CAPS, collect_jetson

CONF = """
< PARAM TYPE=FILE NAME=TPC_POWER_GATING >
TPC_PG_MASK /sys/devices/gpu.0/tpc_pg_mask
TPC_PG_MASK_KNEXT /sys/devices/platform/gpu.0/tpc_pg_mask
< PARAM TYPE=CLOCK NAME=GPU >
FREQ_TABLE /sys/class/devfreq/17000000.gpu/available_frequencies
MAX_FREQ /sys/class/devfreq/17000000.gpu/max_freq
< PARAM TYPE=FILE NAME=ODD >
SECRET /etc/shadow
OUT /sys/../etc/shadow
< POWER_MODEL ID=2 NAME=MAXN_SUPER >
GPU MAX_FREQ -1
"""
EXTLINUX = """DEFAULT primary
LABEL primary
      FDT /boot/dtb/kernel_tegra234-p3768-0000+p3767-0005-nv-super.dtb
      APPEND ${cbootargs} root=PARTUUID=8a7c some.password=hunter2
"""


@pytest.fixture
def board(machine: FakeMachine) -> FakeMachine:
    """Some readings of an Orin Nano."""
    for path, text in {
        "/sys/firmware/devicetree/base/compatible": "nvidia,p3768-0000+p3767-0005-super\0nvidia,tegra234\0",
        "/sys/firmware/devicetree/base/chosen/ids": "3767-0005-300 3768-0000-400\0",
        "/etc/nv_tegra_release": "# R36 (release), REVISION: 4.7, GCID: 1, BOARD: generic\n",
        "/etc/nvpmodel/nvpmodel_p3767_0003_super.conf": CONF,
        "/etc/shadow": "root:secret\n",
        "/boot/extlinux/extlinux.conf": EXTLINUX,
        "/sys/devices/platform/gpu.0/tpc_pg_mask": "240\n",
        "/sys/class/devfreq/17000000.gpu/available_frequencies": "306000000 1020000000\n",
        "/sys/class/devfreq/17000000.gpu/max_freq": "1020000000\n",
        "/sys/class/devfreq/13e10000.vic/max_freq": "729600000\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "1728000\n",
        "/sys/devices/system/cpu/cpufreq/x": "",
        "/var/lib/nvpmodel/status": "pmode:0002\n",
        "/var/lib/dpkg/status": "Package: nvidia-l4t-core\nStatus: install ok installed\nVersion: 36.4.7-2025\n\n"
        "Package: vim\nStatus: install ok installed\nVersion: 1\n",
    }.items():
        machine.write(path, text)
    (machine.root / "etc/nvpmodel.conf").symlink_to("/etc/nvpmodel/nvpmodel_p3767_0003_super.conf")
    variable = "sys/firmware/efi/efivars/BootChainFwCurrent-781e084c-a330-417c-b678-38e696380cb9"
    machine.write("/" + variable, "")
    (machine.root / variable).write_bytes(bytes([7, 0, 0, 0, 1, 0, 0, 0]))
    return machine


def collected(machine: FakeMachine) -> dict[str, Any]:
    found = collect_jetson(machine.root)
    assert found is not None
    return found


def test_a_board_is_collected_as_it_is(board: FakeMachine) -> None:
    found = collected(board)
    assert found["device_tree"]["ids"] == {"text": "3767-0005-300 3768-0000-400\0"}
    assert found["device_tree"]["model"] == {"error": "missing"}
    assert found["conf"]["link"] == "/etc/nvpmodel/nvpmodel_p3767_0003_super.conf"
    assert found["conf"]["text"] == CONF
    assert found["gpu"]["name"] == "17000000.gpu"
    assert found["gpu"]["governor"] == {"error": "missing"}
    assert list(found["cpus"]) == ["cpu0"]
    assert found["variables"]["BootChainFwCurrent"] == {"hex": "0700000001000000"}
    assert found["variables"]["BootChainFwStatus"] == {"error": "missing"}
    assert found["packages"] == {"nvidia-l4t-core": "36.4.7-2025"}
    assert found["clocks"]["emc_max_rate"] == {"error": "missing"}


def test_of_the_files_that_a_configuration_names_only_those_of_sysfs_are_read(board: FakeMachine) -> None:
    found = collected(board)
    assert found["caps"] == {
        "/sys/devices/platform/gpu.0/tpc_pg_mask": {"text": "240\n"},
        "/sys/class/devfreq/17000000.gpu/max_freq": {"text": "1020000000\n"},
    }
    assert "secret" not in json.dumps(found)


def test_a_link_of_sysfs_out_of_it_is_not_followed_as_a_cap(board: FakeMachine) -> None:
    cap = board.root / "sys/devices/platform/gpu.0/tpc_pg_mask"
    cap.unlink()
    cap.symlink_to("/etc/shadow")
    assert "secret" not in json.dumps(collected(board)["caps"])


def test_the_kernel_s_arguments_are_not_kept(board: FakeMachine) -> None:
    text = collected(board)["files"]["extlinux"]["text"]
    assert "nv-super.dtb" in text
    assert "APPEND\n" in text
    assert "hunter2" not in text
    assert "8a7c" not in text


def test_the_gpu_of_an_older_release_has_another_name(machine: FakeMachine) -> None:
    machine.write("/etc/nv_tegra_release", "# R35 (release), REVISION: 4.1\n")
    machine.write("/sys/class/devfreq/17000000.ga10b/available_frequencies", "306000000 624750000\n")
    machine.write("/sys/class/devfreq/17000000.ga10b.more/available_frequencies", "1\n")
    gpu = collected(machine)["gpu"]
    assert (gpu["name"], gpu["available_frequencies"]["text"]) == ("17000000.ga10b", "306000000 624750000\n")


@pytest.mark.parametrize(
    ("path", "text", "jetson"),
    [
        ("/etc/nv_tegra_release", "", True),
        ("/proc/device-tree/compatible", "nvidia,tegra264\0", True),
        ("/proc/device-tree/compatible", "raspberrypi,5-model-b\0brcm,bcm2712\0", False),
        ("/etc/nvpmodel.conf", CONF, False),
    ],
)
def test_a_jetson_is_what_says_tegra(path: str, text: str, jetson: bool, machine: FakeMachine) -> None:
    machine.write(path, text)
    assert (collect_jetson(machine.root) is not None) is jetson


def test_a_machine_with_next_to_nothing_is_collected_with_gaps(machine: FakeMachine) -> None:
    machine.write("/etc/nv_tegra_release", "")
    found = collected(machine)
    assert (found["gpu"], found["cpus"], found["caps"], found["packages"]) == (None, {}, {}, {})
    assert found["conf"] == {"link": None, "error": "missing"}


def test_tools_are_asked_where_they_are_allowed(board: FakeMachine) -> None:
    asked = []

    def answer(argv: list[str]) -> tuple[int, str]:
        asked.append(argv)
        return 0, "Current version: 36.4.7\n"

    found = collect_jetson(board.root, answer)
    assert found is not None
    assert (found["nvbootctrl"], asked) == (
        {"text": "Current version: 36.4.7\n"},
        [["nvbootctrl", "dump-slots-info"]],
    )
    assert collected(board)["nvbootctrl"] == {"error": "not_run"}
    for status, error in ((1, "denied"), (127, "unreadable")):
        found = collect_jetson(board.root, lambda _, status=status: (status, ""))  # type: ignore[misc] # the default
        assert found is not None
        assert found["nvbootctrl"] == {"error": error}


def test_a_configuration_without_end_is_read_in_part(board: FakeMachine) -> None:
    lines = [f"< PARAM TYPE=FILE NAME=P{n} >\nA /sys/p{n}" for n in range(2 * MOST_CAPS)]
    conf = "\n".join([*lines, "< POWER_MODEL ID=0 NAME=15W >"])
    board.write("/etc/nvpmodel/nvpmodel_p3767_0003_super.conf", conf)
    for number in range(2 * MOST_CAPS):
        board.write(f"/sys/p{number}", "1\n")
    assert len(collected(board)["caps"]) == MOST_CAPS


def test_collecting_writes_nothing(board: FakeMachine) -> None:
    def snapshot() -> dict[str, Any]:
        places = [Path(folder) / name for folder, names, files in os.walk(str(board.root)) for name in names + files]
        return {str(place): (place.lstat().st_mtime_ns, place.lstat().st_size) for place in places}

    before = snapshot()
    collect(board.root)
    assert snapshot() == before


def test_what_is_collected_is_json_and_small(board: FakeMachine) -> None:
    found = collect(board.root)
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found["jetson"])) < 64 * 1024
