"""What a machine is set up to be, from its files: also below another root, and on any Linux."""

from __future__ import annotations

import json
from pathlib import Path

from fake_machine import FakeMachine
from rerig_agent.facts.known_state import collect_known_state

PORT = "/sys/devices/pci0000:00/0000:00:1d.0"
DRIVE = f"{PORT}/0000:03:00.0"


def link(machine: FakeMachine, path: str, target: str) -> None:
    place = machine.root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def test_what_a_machine_boots_into_is_the_name_that_its_link_has(machine: FakeMachine) -> None:
    link(machine, "/usr/lib/systemd/system/default.target", "graphical.target")
    assert collect_known_state(machine.root)["default_target"] == "graphical.target"
    link(machine, "/etc/systemd/system/default.target", "/lib/systemd/system/multi-user.target")
    link(machine, "/etc/systemd/system/display-manager.service", "/lib/systemd/system/gdm.service")
    found = collect_known_state(machine.root)
    assert (found["default_target"], found["display_manager"]) == ("multi-user.target", "gdm.service")


def test_a_desktop_that_runs_is_told_also_where_nothing_starts_it_any_more(machine: FakeMachine) -> None:
    link(machine, "/run/systemd/units/invocation:gdm.service", "0123456789abcdef")
    found = collect_known_state(machine.root)
    assert (found["display_manager"], found["desktop"]) == (None, "gdm.service")
    link(machine, "/etc/systemd/system/display-manager.service", "/lib/systemd/system/greetd.service")
    link(machine, "/run/systemd/units/invocation:greetd.service", "0123456789abcdef")
    assert collect_known_state(machine.root)["desktop"] == "greetd.service"


def test_units_that_a_target_wants_are_enabled(machine: FakeMachine) -> None:
    link(machine, "/etc/systemd/system/multi-user.target.wants/nvpmodel.service", "/lib/systemd/system/x")
    link(machine, "/etc/systemd/system/graphical.target.wants/nvfancontrol.service", "/lib/systemd/system/x")
    machine.write("/lib/systemd/system/nvzramconfig.service", "[Unit]\n")
    assert collect_known_state(machine.root)["enabled"] == ["nvpmodel.service", "nvfancontrol.service"]


def test_compressed_swap_is_told_by_its_devices(machine: FakeMachine) -> None:
    machine.write("/sys/block/zram0/disksize", "665845760\n")
    machine.write("/sys/block/nvme0n1/size", "1\n")
    assert collect_known_state(machine.root)["zram"] == {"zram0": {"text": "665845760\n"}}


def test_a_drive_s_link_is_told_with_that_of_the_port_above_it(machine: FakeMachine) -> None:
    for folder, width in ((DRIVE, "4"), (PORT, "2")):
        machine.write(f"{folder}/max_link_width", f"{width}\n")
        machine.write(f"{folder}/max_link_speed", "8.0 GT/s PCIe\n")
    link(machine, f"{DRIVE}/nvme/nvme0/device", "../..")
    link(machine, "/sys/class/nvme/nvme0", f"../../..{DRIVE}/nvme/nvme0")
    link(machine, "/sys/class/nvme/nvme-subsys0", "x")
    found = collect_known_state(machine.root)["nvme_links"]
    assert list(found) == ["nvme0"]
    assert found["nvme0"]["max_link_width"] == {"text": "4\n"}
    assert found["nvme0"]["port"]["max_link_width"] == {"text": "2\n"}
    assert found["nvme0"]["current_link_width"] == {"error": "missing"}


def test_any_machine_has_a_known_state(tmp_path: Path) -> None:
    assert collect_known_state(tmp_path) == {
        "default_target": None,
        "display_manager": None,
        "desktop": None,
        "enabled": [],
        "zram": {},
        "nvme_links": {},
    }
    found = collect_known_state(Path("/"))
    assert json.loads(json.dumps(found)) == found
