"""The board's own services: one sets the power mode at boot, one keeps the fan."""

from __future__ import annotations

from testinfra.host import Host

from rerig.verify_checks import Check, Look


def test_nvpmodel_service(host: Host, look: Look, check: Check) -> None:
    """It ends when it has set the mode, so that running is not what is wanted."""
    check.what = "nvpmodel.service"
    check.needs_a_jetson(look)
    service = host.service("nvpmodel.service")
    state = "not there"
    if service.exists:
        properties = service.systemd_properties
        state = "failed" if properties.get("ActiveState") == "failed" else properties.get("UnitFileState", "unknown")
    sentence = f"nvpmodel.service is {state}: the power mode is not set at boot."
    check.compare(state, "enabled", state in ("enabled", "enabled-runtime", "static"), sentence)


def test_nvfancontrol_service(host: Host, look: Look, check: Check) -> None:
    check.what = "nvfancontrol.service"
    check.needs_a_jetson(look)
    service = host.service("nvfancontrol.service")
    state = "not there" if not service.exists else "running" if service.is_running else "not running"
    check.compare(state, "running", state == "running", f"nvfancontrol.service is {state}: nothing keeps the fan.")
