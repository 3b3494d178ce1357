"""A twin that is restored: fresh each time, alone with its ports, rebooted, and gone when it is to be gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from twin import contents, disks
from twin.dress import USER
from twin.errors import TwinError
from twin.machine import Machine, boot, find_machine, started_at
from twin.shell import File
from twin.snapshot import Snapshot, restore, save
from waiting import wait_for

pytestmark = [pytest.mark.twin, pytest.mark.root]


def test_it_is_a_whole_debian_that_runs_well(shared_twin_amd64: Machine) -> None:
    shell = shared_twin_amd64.shell
    assert shell.run(["systemctl", "is-system-running"], check=False).stdout == b"running\n"
    assert shell.script("systemd-detect-virt --container || true") == "none\n"
    assert shell.script(". /etc/os-release; echo $ID $VERSION_CODENAME") == "debian bookworm\n"
    assert shell.run(["sudo", "-n", "id", "-u"], user=USER).stdout == b"0\n"
    assert shell.script("ps -e -o comm= | grep -c -e nfsd -e rpcbind -e apt || true") == "0\n"


def test_its_clock_is_right_though_it_stood_still(shared_twin_amd64: Machine) -> None:
    there = float(shared_twin_amd64.shell.script("date +%s.%N"))
    assert abs(there - time.time()) < 60


def test_words_and_files_arrive_as_they_are(shared_twin_amd64: Machine) -> None:
    shell = shared_twin_amd64.shell
    words = ["two words", "$HOME", "a'b\"c", "", "*", "한글"]
    assert shell.run(["printf", "%s|", *words]).stdout.decode() == "".join(f"{word}|" for word in words)
    shell.put({"/srv/a b/file": File(bytes(range(256)), 0o640, 1000)})
    assert shell.read("/srv/a b/file") == bytes(range(256))
    assert shell.script("stat -c '%a %u' '/srv/a b/file'") == "640 1000\n"
    with pytest.raises(TwinError, match=r"failed \(2\): ls: cannot access '/none'"):
        shell.run(["ls", "/none"])


def test_two_at_once_share_nothing(shared_twin_amd64: Machine, twin_amd64: Machine) -> None:
    assert shared_twin_amd64.shell.port != twin_amd64.shell.port
    twin_amd64.shell.put({"/srv/mine": "x"})
    assert shared_twin_amd64.shell.run(["test", "-e", "/srv/mine"], check=False).returncode == 1


def test_a_reboot_keeps_the_disk_and_takes_the_rest(twin_amd64: Machine) -> None:
    before = twin_amd64.boot_id()
    twin_amd64.shell.put({"/srv/kept": "x", "/run/lost": "x"})
    twin_amd64.reboot()
    assert twin_amd64.boot_id() != before
    assert twin_amd64.shell.script("ls /srv/kept; ls /run/lost 2>&1 || true").startswith("/srv/kept\nls: cannot access")


def test_after_a_power_loss_it_boots_again_with_what_was_synced(twin_amd64: Machine) -> None:
    twin_amd64.shell.put({"/srv/synced": "x"})
    twin_amd64.shell.run(["sync"])
    twin_amd64.kill()
    assert not twin_amd64.runs
    assert find_machine(twin_amd64.folder) is None
    with boot(twin_amd64.image, twin_amd64.folder, "again") as again:
        again.wait_ready()
        assert again.shell.read("/srv/synced") == b"x"


def test_another_process_finds_it(shared_twin_amd64: Machine) -> None:
    shared_twin_amd64.disconnect()
    found = find_machine(shared_twin_amd64.folder)
    assert found is not None
    assert found.boot_id() == shared_twin_amd64.boot_id()
    assert found.qmp.execute("query-status")["status"] == "running"
    found.disconnect()


_LEFT_ALONE = """
import sys
from pathlib import Path
from twin.architecture import AMD64
from twin.snapshot import booted_snapshot, restore
machine = restore(booted_snapshot(AMD64), Path(sys.argv[1]), "test")
print(machine._process, flush=True)
machine.wait_ready()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.usefixtures("snapshot_amd64")
def test_it_ends_with_who_started_it(tmp_path: Path, number: signal.Signals) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _LEFT_ALONE, str(tmp_path / "machine")],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    process = int(child.stdout.readline())
    assert child.stdout.readline() == "ready\n"
    child.send_signal(number)
    child.communicate(timeout=60)
    wait_for(lambda: started_at(process) is None)


def test_a_saved_machine_goes_on_where_it_was(twin_amd64: Machine, tmp_path: Path) -> None:
    shell = twin_amd64.shell
    shell.put({"/srv/on-disk": "x", "/run/in-memory": "y"})
    boot = twin_amd64.boot_id()
    snapshot = save(twin_amd64, tmp_path / "snapshot")
    assert not twin_amd64.runs
    for number in (1, 2):
        with restore(snapshot, tmp_path / f"again-{number}", f"again-{number}") as again:
            again.wait_ready()
            assert again.boot_id() == boot
            assert again.shell.script("cat /srv/on-disk /run/in-memory") == "xy"
            again.shell.put({"/srv/on-disk": "changed"})


def test_a_machine_with_an_nvme_disk_cannot_be_saved_and_goes_on(twin_amd64: Machine, tmp_path: Path) -> None:
    contents.write("blank", tmp_path / "disk", 128 * 1024**2)
    disk = disks.attach(twin_amd64, tmp_path / "disk", serial="TWIN1", slot=1)
    with pytest.raises(TwinError, match="non-migratable device"):
        save(twin_amd64, tmp_path / "snapshot")
    assert twin_amd64.shell.run(["test", "-b", disk.device], check=False).returncode == 0


def test_a_snapshot_of_a_broken_file_is_told(snapshot_amd64: Snapshot, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    broken = Snapshot(snapshot_amd64.image, tmp_path / "broken")
    broken.memory.write_bytes(snapshot_amd64.memory.read_bytes()[:100_000])
    broken.disk.symlink_to(snapshot_amd64.disk)
    with pytest.raises(
        TwinError, match=r"^(qemu has ended|The connection to qemu broke: .+|qemu does not start: .+)\.?$"
    ):
        restore(broken, tmp_path / "machine", "test")
    assert find_machine(tmp_path / "machine") is None


def test_arm64_shows_a_jetsons_device_tree_that_is_the_kernels_own(shared_twin_arm64: Machine) -> None:
    shell = shared_twin_arm64.shell
    assert shell.script("uname -m") == "aarch64\n"
    assert shell.read("/proc/device-tree/model").endswith(b" Developer Kit Super\0")
    compatible = shell.read("/proc/device-tree/compatible").split(b"\0")
    assert compatible[:3] == [b"nvidia,p3768-0000+p3767-0005-super", b"nvidia,p3767-0005", b"nvidia,tegra234"]
    assert shell.read("/proc/device-tree/chosen/ids") == b"3767-0005-300 3768-0000-400\0"
    assert shell.script("stat -f -c %T /proc/device-tree/") == "sysfs\n"


def test_arm64_is_configured_though_no_program_was_emulated(shared_twin_arm64: Machine) -> None:
    shell = shared_twin_arm64.shell
    assert shell.run(["systemctl", "is-system-running"], check=False).stdout == b"running\n"
    assert shell.script("dpkg --audit; dpkg --print-architecture") == "arm64\n"
    assert shell.script("dpkg-query -W -f '${Architecture}\\n' | sort -u") == "all\narm64\n"
    programs = "python3 -c 'import apt, ssl; print(len(apt.Cache()) > 50)'; fio --version; nvme --version"
    packages, fio, nvme, *_ = shell.script(programs).splitlines()
    assert packages == "True"
    assert fio.startswith("fio-3.")
    assert nvme.startswith("nvme version 2.")
    assert shell.run(["sudo", "-n", "id", "-u"], user=USER).stdout == b"0\n"
