"""A container is a machine of its own, to whoever logs in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from twin.container import Container
from twin.errors import TwinError
from waiting import wait_for

pytestmark = pytest.mark.root


def test_it_boots_to_ssh_with_systemd_and_no_failed_unit(shared_fast_twin: Container) -> None:
    state = shared_fast_twin.shell.run(["systemctl", "is-system-running", "--wait"], check=False).stdout
    assert state == b"running\n", shared_fast_twin.shell.script("systemctl --failed --no-legend")
    assert shared_fast_twin.shell.read("/proc/1/comm") == b"systemd\n"
    assert shared_fast_twin.shell.run(["hostname"]).stdout == b"twin\n"
    assert shared_fast_twin.shell.run(["systemd-detect-virt"]).stdout == b"systemd-nspawn\n"


def test_its_user_may_do_everything_by_sudo(shared_fast_twin: Container) -> None:
    assert shared_fast_twin.shell.run(["id", "-u"], user="jetson").stdout == b"1000\n"
    assert shared_fast_twin.shell.run(["sudo", "-n", "id", "-u"], user="jetson").stdout == b"0\n"


def test_it_can_change_neither_this_machines_settings_nor_its_clock(shared_fast_twin: Container) -> None:
    for words in (
        ["sysctl", "--write", "vm.swappiness=61"],
        ["date", "--set", "2000-01-01"],
        ["mkdir", "/sys/fs/cgroup/memory/theirs"],
        ["sh", "-c", "echo 1 > /proc/sys/vm/drop_caches"],
    ):
        done = shared_fast_twin.shell.run(words, check=False)
        assert done.returncode != 0, words


def test_two_at_once_do_not_meet(start_container: Callable[..., Container]) -> None:
    one, other = start_container(), start_container()
    assert one.name != other.name
    one.shell.put({"/srv/mine": "of one"})
    with pytest.raises(TwinError, match="No such file"):
        other.shell.read("/srv/mine")
    reach = "import socket, sys; socket.create_connection((sys.argv[1], 22), 3)"
    one.shell.run(["python3", "-c", reach, one.shell.host])
    with pytest.raises(TwinError, match="unreachable"):
        one.shell.run(["python3", "-c", reach, other.shell.host])
    one.shell.run(["systemctl", "stop", "dbus.socket", "dbus.service"])
    assert other.shell.run(["systemctl", "is-active", "dbus.service"]).stdout == b"active\n"
    one.stop()
    assert other.runs
    assert other.shell.run(["systemctl", "is-system-running", "--wait"]).stdout == b"running\n"


def test_a_reboot_keeps_its_files_and_ends_what_ran(fast_twin: Container) -> None:
    fast_twin.shell.put({"/srv/kept": "still here", "/run/lost": "for this boot"})
    fast_twin.shell.run(["systemd-run", "--unit=busy", "sleep", "infinity"])
    fast_twin.reboot()
    assert fast_twin.shell.read("/srv/kept") == b"still here"
    assert fast_twin.shell.run(["test", "-e", "/run/lost"], check=False).returncode == 1
    assert fast_twin.shell.run(["systemctl", "is-active", "busy"], check=False).stdout == b"inactive\n"


@pytest.mark.slow
def test_one_that_powers_off_is_said_to_have_ended(fast_twin: Container) -> None:
    fast_twin.shell.run(["systemctl", "poweroff"], check=False)
    wait_for(lambda: not fast_twin.runs)
    with pytest.raises(TwinError, match=f"The container {fast_twin.name} has ended: "):
        fast_twin.wait_ready()
