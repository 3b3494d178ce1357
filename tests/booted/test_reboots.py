"""A run over ssh on a machine that really reboots, as it is asked to and as if power was lost: it is resumed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from booted.controller import HOST, Controller, sequential_dd
from booted.readable_disk import FILE, MIB, mount_readable_disk, write_readable_disk
from command_line import LIMIT_S
from kill_scene import told_words
from same_document import sessions, unfinished
from twin.errors import TwinError
from twin.machine import Machine
from waiting import wait_for

pytestmark = pytest.mark.twin

# The first case is over soon at this rate. The second one would last 17 minutes: longer than a shutdown takes to reach
# the agent on an emulated machine that has to share its processors.
SLOW_BYTES_PER_S = 1 * MIB
FIRST, SECOND = "short", "long"
STATUSES = ["measured", "not_run"]


def test_a_run_is_resumed_after_a_reboot_and_after_a_loss_of_power(twin_amd64: Machine, tmp_path: Path) -> None:
    write_readable_disk(tmp_path / "disk", 1024 * MIB)
    disk = mount_readable_disk(twin_amd64, tmp_path / "disk", "REBOOT-1")
    disk.limit(bps_read=SLOW_BYTES_PER_S)
    controller = Controller(tmp_path, twin_amd64.shell)
    suite = controller.suite("reboot", sequential_dd(FIRST, 8 * MIB), sequential_dd(SECOND, 1024 * MIB))

    command = controller.cli.start("rerun", "--quiet", "--host", HOST, "--suite", suite, "--path", FILE)
    wait_until_within(twin_amd64, command)
    twin_amd64.reboot()
    # A machine that shuts down asks its processes to end, and the agent does.
    told = told_at_the_end(controller, command, 143)
    assert "The run on jetson@twin was stopped." in told
    asked = only_result(controller)
    assert sessions(asked) == ["signal"]
    assert statuses(asked) == STATUSES

    command = controller.cli.start(*told_words(told), "--quiet")
    wait_until_within(twin_amd64, command)
    lose_power(twin_amd64)
    told = told_at_the_end(controller, command, 75)
    assert "was killed. The machine was started anew while the run went on" in told
    cut_off = only_result(controller)
    assert sessions(cut_off) == ["signal", "killed"]
    assert statuses(cut_off) == STATUSES

    disk.limit(bps_read=0)
    controller.cli.run(*told_words(told), "--quiet")
    document = only_result(controller)
    assert document["run"]["complete"]
    assert sessions(document) == ["signal", "killed", None]
    gaps = [session["gap_before_s"] for session in document["run"]["sessions"]]
    assert gaps[0] is None
    assert min(gaps[1:]) > 0, gaps
    assert statuses(document) == ["measured", "measured"]
    assert document["cases"][0] == asked["cases"][0]
    assert unfinished(document) == {f"{SECOND}.t1"}
    found = [issue["what"] for issue in document["validity"]["issues"] if issue["code"] == "state_changed"]
    assert found == ["the machine was rebooted between session 1 and session 3"]


def wait_until_within(machine: Machine, command: subprocess.Popen[str]) -> None:
    """Return when the second case reads; the command must still go on."""
    words = ["pgrep", "--full", "^dd if=[^ ]+ of=/dev/null bs=[^ ]+ iflag=direct$"]  # without a count: the whole file
    wait_for(lambda: command.poll() is not None or not machine.shell.run(words, check=False).returncode, LIMIT_S)
    assert command.poll() is None, command.communicate()


def told_at_the_end(controller: Controller, command: subprocess.Popen[str], status: int) -> str:
    """What the command says of the run. One that has waited in vain for a slow boot says how to ask again."""
    _, told = command.communicate(timeout=LIMIT_S)
    if "was lost" in told:
        assert command.returncode == 1, told
        return controller.cli.run(*told_words(told), "--quiet", status=status).stderr
    assert command.returncode == status, told
    return told


def lose_power(machine: Machine) -> None:
    """The reset line: whatever the guest had not written to its disk is lost. Return when it has booted again."""
    before = machine.boot_id()
    machine.qmp.execute("system_reset")
    machine.shell.disconnect()
    wait_for(lambda: boots_anew(machine, before), LIMIT_S)


def boots_anew(machine: Machine, before: str) -> bool:
    """Whether it is ready, in another boot."""
    machine.wait_ready()
    try:
        return machine.boot_id() != before
    except TwinError:
        return False


def only_result(controller: Controller) -> dict[str, Any]:
    """The one result that is here."""
    (document,) = controller.results()
    return document


def statuses(document: dict[str, Any]) -> list[str]:
    """What became of each case."""
    return [case["status"] for case in document["cases"]]
