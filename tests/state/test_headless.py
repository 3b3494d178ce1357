"""No desktop, or the one that is wanted: what is booted into, and what runs. By testinfra's own resources."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from testinfra.host import Host

from rerig.verify_checks import Check

DESKTOP = "graphical.target"
DISPLAY = "display-manager.service"
# An administrator's choice comes before the distribution's.
TARGETS = ("/etc/systemd/system/default.target", "/usr/lib/systemd/system/default.target")


@pytest.fixture
def systemd(host: Host, check: Check) -> None:
    if not host.file("/run/systemd/system").is_directory:
        check.found, check.wanted = "no systemd", "systemd"
        check.fail("systemd is not what started this machine, so there is no default target and no service to check.")


@pytest.mark.usefixtures("systemd")
def test_default_target(host: Host, check: Check, desired: dict[str, Any]) -> None:
    wanted = desired["headless_target"]
    link = next((path for path in TARGETS if host.file(path).is_symlink), None)
    found = host.file(link).linked_to.rpartition("/")[2] if link else "none"
    check.compare(found, wanted, found == wanted, f"The machine boots into {found}, and {wanted} is wanted.")


@pytest.mark.usefixtures("systemd")
def test_display_manager(host: Host, check: Check, desired: dict[str, Any]) -> None:
    found = state_of(host, DISPLAY)
    wanted = (True, True) if desired["headless_target"] == DESKTOP else (False, False)
    check.compare(words(found), words(wanted), found == wanted, f"The display manager is {words(found)}.")


@pytest.mark.usefixtures("systemd")
def test_stopped_services(host: Host, check: Check, desired: dict[str, Any]) -> None:
    units = desired["headless_stopped_services"]
    found = {unit: state_of(host, unit if "." in unit else f"{unit}.service") for unit in units}
    wrong = [f"{unit} is {words(state)}" for unit, state in found.items() if any(state)]
    shown = "\n".join(f"{unit}: {words(state)}" for unit, state in found.items()) or "none is named"
    check.compare(shown, "none of them", not wrong, f"Services that are to be off: {', '.join(wrong)}.")


def state_of(host: Host, unit: str) -> tuple[bool, bool]:
    """(runs, starts at boot); neither for a unit that isn't there."""
    service = host.service(unit)
    if not service.exists:
        return False, False
    enabled = False
    with contextlib.suppress(RuntimeError):  # testinfra's word for a unit that is linked or generated, and not enabled
        enabled = not service.is_masked and service.is_enabled
    return service.is_running, enabled


def words(state: tuple[bool, bool]) -> str:
    runs, enabled = state
    return f"{'running' if runs else 'not running'}, {'enabled' if enabled else 'not enabled'}"
