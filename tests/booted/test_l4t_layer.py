"""The L4T layer in a booted machine of each architecture: at the real paths, over a reboot, gone without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from twin import contents, disks
from twin.disks import AttachedDisk
from twin.errors import TwinError
from twin.l4t import layer, shapes, view
from twin.l4t.personalities import HALF, R35, SUPER
from twin.machine import Machine
from twin.shell import Shell
from twin.snapshot import Snapshot, restore
from waiting import wait_for

pytestmark = pytest.mark.twin

MIB = 1024 * 1024
GPU = "/sys/devices/platform/17000000.gpu/devfreq_dev"
VARIABLES = "/sys/firmware/efi/efivars"
SPEC = f"{VARIABLES}/TegraPlatformCompatSpec-781e084c-a330-417c-b678-38e696380cb9"
# Everything that the layer may touch: mounts, files, packages, units.
TRACES = """cut -d' ' -f5 /proc/self/mountinfo | sort
find /etc /opt /boot /srv /usr/sbin /usr/local /var/lib -xdev ! -path '*/systemd/*' ! -path '*/__pycache__*' | sort
md5sum /var/lib/dpkg/status /etc/hostname
readlink -f /etc/systemd/system/default.target
systemctl list-unit-files --no-legend --no-pager | awk '{print $1, $2}'
cat /proc/swaps
"""


@pytest.fixture(scope="module")
def board(snapshot_amd64: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One board for all tests that leave it as they found it: SUPER. In the end it must be a plain machine again."""
    with restore(snapshot_amd64, tmp_path_factory.mktemp("board") / "machine", "board") as machine:
        machine.wait_ready()
        before = machine.shell.script(TRACES)
        layer.apply(machine.shell, SUPER)
        assert machine.shell.script(TRACES) != before
        yield machine
        layer.remove(machine.shell)
        assert machine.shell.script(TRACES) == before


def test_the_kernel_s_own_values_still_work_under_the_board_s(board: Machine) -> None:
    """A covered folder would swallow what is written: queues, links and memory must take effect."""
    shell = board.shell
    assert shell.script("echo 64 > /sys/block/vda/queue/read_ahead_kb; blockdev --getra /dev/vda") == "128\n"
    assert shell.script("udevadm trigger --settle; cat /sys/class/net/lo/operstate") == "unknown\n"
    # The kernel's cores stay as many as there are: programs count on these.
    assert shell.script("nproc; cat /sys/devices/system/cpu/online") == "2\n0-1\n"
    # Compressed swap is the kernel's, a device a core.
    assert shell.read("/proc/swaps").count(b"/dev/zram") == SUPER.cores


def test_variables_are_guarded_as_uefi_s_are(board: Machine) -> None:
    shell = board.shell
    with pytest.raises(TwinError, match="Operation not permitted"):
        shell.script(f"printf 'x' > {SPEC}")
    shell.script(f"chattr -i {SPEC}; printf '\\007\\000\\000\\000other' > {SPEC}")
    shell.script("/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh -l")
    assert shell.read(SPEC)[4:] == (SUPER.compatible_spec or "").encode()


def test_the_esp_is_as_small_as_a_board_s(board: Machine) -> None:
    shell = board.shell
    assert 50 * MIB < int(shell.script("df --output=avail --block-size=1 /boot/efi | tail -n 1")) < 64 * MIB
    shell.script("truncate -s 128M /var/tmp/big.Cap; dd if=/dev/zero of=/var/tmp/big.Cap bs=1M count=80 status=none")
    with pytest.raises(TwinError, match="No space left on device"):
        shell.script("nv_bootloader_capsule_updater.sh -q /var/tmp/big.Cap")
    # The package wants twice the room, and says that all is well even if it isn't.
    shell.script("rm /var/tmp/big.Cap /boot/efi/EFI/UpdateCapsule/big.Cap; truncate -s 40M /opt/ota_package/t23x/*.Cap")
    assert "update is done" in shell.script("/var/lib/dpkg/info/nvidia-l4t-bootloader.postinst configure")
    assert shell.script("ls -A /boot/efi/EFI/UpdateCapsule") == ""


def test_disks_have_the_board_s_links_and_can_still_be_pulled(board: Machine, tmp_path: Path) -> None:
    shell = board.shell
    for slot in (1, 2):
        contents.write("blank", tmp_path / f"disk{slot}", 64 * MIB)
    attached = [disks.attach(board, tmp_path / f"disk{slot}", serial=f"L4T-{slot}", slot=slot) for slot in (1, 2)]
    for disk, width in zip(attached, ("4", "2"), strict=True):
        wait_for(lambda: link(shell, disk) == ["8.0 GT/s PCIe", width, "8.0 GT/s PCIe", "4"])  # noqa: B023 - at once
    covered = shell.script("awk '$5 ~ /_link_/ {print $5}' /proc/self/mountinfo").split()
    assert len(covered) == 8
    for disk in attached:
        disk.pull()
    # The kernel lets go of a mount on a file that is gone when the file is next looked up by its name.
    left = f"for file in {' '.join(covered)}; do [ ! -e $file ]; done; grep -c _link_ /proc/self/mountinfo || true"
    wait_for(lambda: shell.script(left) == "0\n")
    assert shell.script("ls /sys/class/nvme") == ""


def test_on_amd64_a_plain_shell_sees_one_board_and_then_another(board: Machine) -> None:
    """R35's GPU lies where the whole of /sys/devices must be covered."""
    assert view.differences(view.look(board.shell, SUPER), SUPER) == {}
    layer.apply(board.shell, R35)
    assert view.differences(view.look(board.shell, R35), R35) == {}
    assert spare(board.shell) == {"/proc/device-tree"}


def test_on_arm64_even_the_device_tree_is_at_its_real_path_and_a_reboot_makes_a_board_super(
    twin_arm64: Machine,
) -> None:
    shell = twin_arm64.shell
    layer.apply(shell, HALF)
    assert view.differences(view.look(shell, HALF), HALF) == {}
    assert {path for path in spare(shell) if not path.startswith("/sys/devices/virtual/dmi/")} == set()
    shell.script(
        """sed -i 's/nano-devkit-$/nano-devkit-super-/' /etc/nv_boot_control.conf
/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh -l
nv_bootloader_capsule_updater.sh -q /opt/ota_package/t23x/TEGRA_BL_3767_super.Cap
nvpmodel -m 1
"""
    )
    assert shell.read(f"{GPU}/available_frequencies").split()[-1] == b"624750000"
    twin_arm64.reboot()
    assert shell.read(f"{GPU}/available_frequencies").split()[-1] == b"1020000000"
    assert shell.read(f"{GPU}/max_freq") == b"918000000\n"
    assert shapes.read_mode(shell.script("nvpmodel -q")).name == "25W"
    slots = shapes.read_slots(shell.script("nvbootctrl dump-slots-info"))
    assert (slots.current, slots.capsule_status) == ("A", 1)
    assert shell.script("ls -A /boot/efi/EFI/UpdateCapsule; systemctl is-system-running --wait") == "running\n"


def link(shell: Shell, disk: AttachedDisk) -> list[str]:
    device = f"/sys/block/{disk.device.rpartition('/')[2]}/device/device"
    names = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
    return shell.script(f"cd -P {device}; cat {' '.join(names)}").splitlines()


def spare(shell: Shell) -> set[str]:
    return {path for path, kind in layer.report(shell).items() if kind == "spare"}
