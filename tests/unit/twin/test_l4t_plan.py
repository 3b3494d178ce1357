"""Where the board's files below /sys are mounted on machines of different kinds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from twin.l4t.files.twin_l4t import plan
from twin.l4t.files.twin_l4t.tree import File, Link, Same, Tree

FILE = File(b"1\n")


def machine(root: Path, folders: Iterable[str], mount_points: Iterable[str] = ()) -> plan.Machine:
    for folder in folders:
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    return plan.Machine(root, frozenset(mount_points))


def made(nodes: Tree, on: plan.Machine) -> list[tuple[str, str]]:
    return [(step.kind, step.at) for step in plan.make(nodes, on).steps]


def test_the_nearest_folder_that_exists_is_covered_once(tmp_path: Path) -> None:
    nodes: Tree = {"/sys/class/devfreq/gpu": Link("x"), "/sys/class/hwmon/hwmon0": Link("y"), "/sys/class/a/b/c": FILE}
    result = plan.make(nodes, machine(tmp_path, ["/sys/class/hwmon"]))
    assert [(step.kind, step.at) for step in result.steps] == [("overlay", "/sys/class")]
    assert set(result.steps[0].nodes) == {"devfreq/gpu", "hwmon/hwmon0", "a/b/c"}
    assert result.spare == {}


def test_folders_without_a_common_one_get_overlays_of_their_own(tmp_path: Path) -> None:
    nodes: Tree = {"/sys/devices/system/cpu/cpu0/online": FILE, "/sys/class/devfreq/gpu": FILE}
    assert made(nodes, machine(tmp_path, ["/sys/devices/system/cpu/cpu0", "/sys/class"])) == [
        ("overlay", "/sys/class"),
        ("overlay", "/sys/devices/system/cpu/cpu0"),
    ]


def test_classes_whose_devices_come_and_go_stay_the_kernel_s(tmp_path: Path) -> None:
    folders = [f"/sys/class/{name}" for name in ("block", "net", "mem", "nvme", "hwmon")]
    nodes: Tree = {"/sys/class/hwmon/hwmon0": FILE, "/sys/class/devfreq/gpu": FILE}
    assert made(nodes, machine(tmp_path, folders)) == [
        ("overlay", "/sys/class"),
        ("back", "/sys/class/block"),
        ("back", "/sys/class/net"),
        ("back", "/sys/class/nvme"),
    ]


def test_a_platform_device_that_holds_devices_stays_and_an_empty_one_is_not_worth_a_mount(tmp_path: Path) -> None:
    platform = "/sys/devices/platform"
    folders = [f"{platform}/4010000000.pcie/pci0000:00", f"{platform}/psci/power", f"{platform}/timer"]
    assert made({f"{platform}/17000000.gpu/load": FILE}, machine(tmp_path, folders)) == [
        ("overlay", platform),
        ("back", f"{platform}/4010000000.pcie"),
    ]


def test_knobs_that_somebody_turns_stay_the_kernel_s(tmp_path: Path) -> None:
    folders = ["/sys/kernel/mm/lru_gen", "/sys/kernel/slab", "/sys/bus/pci", "/sys/bus/serio"]
    nodes: Tree = {"/sys/kernel/nvpmodel_clk_cap/emc": FILE, "/sys/bus/i2c/drivers/x": FILE}
    assert made(nodes, machine(tmp_path, folders)) == [
        ("overlay", "/sys/bus"),
        ("back", "/sys/bus/pci"),
        ("overlay", "/sys/kernel"),
        ("back", "/sys/kernel/mm"),
    ]


def test_what_is_mounted_below_is_mounted_back(tmp_path: Path) -> None:
    on = machine(tmp_path, ["/sys/kernel/security", "/sys/class/x"], ["/sys/kernel/security", "/sys/class/x"])
    nodes: Tree = {"/sys/kernel/cap": FILE, "/sys/class/y": FILE}
    assert made(nodes, on) == [
        ("overlay", "/sys/class"),
        ("back", "/sys/class/x"),
        ("overlay", "/sys/kernel"),
        ("back", "/sys/kernel/security"),
    ]


def test_an_overlay_does_not_see_through_a_mount_so_there_is_one_on_each_side(tmp_path: Path) -> None:
    """As in a container: /sys is a small file system, with parts of the real one mounted inside."""
    on = machine(tmp_path, ["/sys/class/hwmon", "/sys/devices/system"], ["/sys/class", "/sys/devices"])
    nodes: Tree = {"/sys/firmware/efi/x": FILE, "/sys/class/hwmon/hwmon0": FILE}
    assert made(nodes, on) == [
        ("overlay", "/sys"),
        ("back", "/sys/class"),
        ("back", "/sys/devices"),
        ("overlay", "/sys/class/hwmon"),
    ]


def test_debugfs_is_covered_as_a_whole_and_last(tmp_path: Path) -> None:
    on = machine(tmp_path, ["/sys/kernel/debug/tracing"], ["/sys/kernel/debug"])
    nodes: Tree = {"/sys/kernel/debug/bpmp/debug/clk/emc/rate": FILE, "/sys/kernel/cap": FILE}
    result = plan.make(nodes, on)
    assert [(step.kind, step.at) for step in result.steps] == [
        ("overlay", "/sys/kernel"),
        ("back", "/sys/kernel/debug"),
        ("cover", "/sys/kernel/debug"),
    ]
    assert set(result.steps[-1].nodes) == {"bpmp/debug/clk/emc/rate"}


def test_a_folder_that_is_kept_elsewhere_is_bound_onto_a_place_made_for_it(tmp_path: Path) -> None:
    nodes: Tree = {"/sys/firmware/efi/efivars": Same("/var/lib/nvram"), "/sys/firmware/efi/esrt/x": FILE}
    result = plan.make(nodes, machine(tmp_path, ["/sys/firmware"]))
    overlay, bind = result.steps
    assert set(overlay.nodes) == {"efi/efivars/", "efi/esrt/x"}
    assert (bind.kind, bind.at, bind.source) == ("bind", "/sys/firmware/efi/efivars", "/var/lib/nvram")


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("/sys/devices/virtual/dmi/id/bios_version", ["/sys/devices/virtual/net"]),
        ("/proc/device-tree", ["/proc"]),
        ("/sys/class/x", ["/"]),
    ],
)
def test_what_can_not_be_shown_is_left_over(name: str, folders: list[str], tmp_path: Path) -> None:
    result = plan.make({name: FILE}, machine(tmp_path, folders))
    assert (result.steps, set(result.spare)) == ([], {name})


def test_an_older_board_s_device_leaves_the_kernel_s_folders_around_it(tmp_path: Path) -> None:
    folders = ["pci0000:00/x", "platform/serial8250/tty", "system/cpu/cpu0/cache", "virtual/net/lo", "virtual/dmi/id"]
    nodes: Tree = {
        "/sys/devices/17000000.ga10b/load": FILE,
        "/sys/devices/system/cpu/cpu0/online": FILE,
        "/sys/devices/platform/pwm-fan/x": FILE,
        "/sys/devices/virtual/dmi/id/bios_version": FILE,
    }
    assert made(nodes, machine(tmp_path, [f"/sys/devices/{folder}" for folder in folders])) == [
        ("overlay", "/sys/devices"),
        ("back", "/sys/devices/pci0000:00"),
        ("back", "/sys/devices/platform/serial8250"),
        ("back", "/sys/devices/virtual/net"),
    ]
