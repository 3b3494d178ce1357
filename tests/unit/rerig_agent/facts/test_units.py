"""What systemd's own files say of units, below another root."""

from __future__ import annotations

from pathlib import Path

from fake_machine import FakeMachine
from rerig_agent.facts.units import OWN_SWAP, own_swap_files, place_of, unit_links, unit_runs

SYSTEM = "/etc/systemd/system"


def link(machine: FakeMachine, path: str, target: str) -> None:
    place = machine.root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def test_every_link_that_enables_a_unit_is_found(machine: FakeMachine) -> None:
    unit = "/lib/systemd/system/gdm.service"
    link(machine, f"{SYSTEM}/display-manager.service", unit)
    link(machine, f"{SYSTEM}/graphical.target.wants/gdm.service", unit)
    link(machine, f"{SYSTEM}/some.target.requires/gdm.service", unit)
    link(machine, f"{SYSTEM}/multi-user.target.wants/cups.service", "/lib/systemd/system/cups.service")
    assert unit_links(machine.root, "gdm.service") == {
        "display-manager.service": unit,
        "graphical.target.wants/gdm.service": unit,
        "some.target.requires/gdm.service": unit,
    }
    assert unit_links(machine.root, "display-manager.service") == {"display-manager.service": unit}


def test_a_mask_and_a_file_enable_nothing(machine: FakeMachine) -> None:
    link(machine, f"{SYSTEM}/cups.service", "/dev/null")
    machine.write(f"{SYSTEM}/own.service", "[Unit]\n")
    assert unit_links(machine.root, "cups.service") == {}
    assert unit_links(machine.root, "own.service") == {}


def test_a_unit_that_runs_has_an_invocation(machine: FakeMachine) -> None:
    link(machine, "/run/systemd/units/invocation:cups.service", "0123456789abcdef")
    assert unit_runs(machine.root, "cups.service")
    assert not unit_runs(machine.root, "gdm.service")


def test_only_swap_units_of_rerig_s_own_are_told(machine: FakeMachine) -> None:
    machine.write(f"{SYSTEM}/srv-a.swap", f"[Unit]\n{OWN_SWAP}\n[Swap]\nWhat=/srv/a\n")
    machine.write(f"{SYSTEM}/srv-b.swap", "[Unit]\nDescription=Somebody's\n\n[Swap]\nWhat=/srv/b\n")
    machine.write(f"{SYSTEM}/srv-c.swap", f"[Unit]\n{OWN_SWAP}")
    machine.write(f"{SYSTEM}/srv-d.service", f"[Unit]\n{OWN_SWAP}\nWhat=/srv/d\n")
    assert own_swap_files(machine.root) == {"/srv/a": "srv-a.swap"}


def test_the_size_of_a_file_and_the_room_beside_it_are_told(machine: FakeMachine) -> None:
    machine.write("/srv/file", "four")
    found = place_of(machine.root, "/srv/file")
    assert found["bytes"] == 4
    assert found["free_bytes"] > 0
    assert place_of(machine.root, "/srv/none")["bytes"] is None
    assert place_of(machine.root, "/nowhere/file") == {"bytes": None, "free_bytes": None}


def test_a_machine_without_systemd_has_no_units(tmp_path: Path) -> None:
    assert unit_links(tmp_path, "gdm.service") == {}
    assert own_swap_files(tmp_path) == {}
    assert not unit_runs(tmp_path, "gdm.service")
