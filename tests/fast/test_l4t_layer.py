"""Every personality as a plain shell in a container sees it, at the real paths, and what the tools do to it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from twin.container import Container
from twin.l4t import layer, shapes, view
from twin.l4t.personalities import HALF, PERSONALITIES, SUPER

pytestmark = pytest.mark.root
GPU = "/sys/devices/platform/17000000.gpu/devfreq_dev"

CHROOT = """
mount -t tmpfs twin /mnt
for folder in usr etc var proc sys run; do mkdir /mnt/$folder; mount --rbind /$folder /mnt/$folder; done
ln -s usr/lib /mnt/lib; ln -s usr/lib64 /mnt/lib64; ln -s usr/bin /mnt/bin
chroot /mnt nvpmodel -m 0
"""


@pytest.fixture(scope="module")
def container(shared_fast_twin: Container) -> Iterator[Container]:
    yield shared_fast_twin
    layer.remove(shared_fast_twin.shell)


@pytest.mark.parametrize("name", PERSONALITIES)
def test_a_plain_shell_sees_the_board(name: str, container: Container) -> None:
    board = PERSONALITIES[name]
    layer.apply(container.shell, board)
    differences = view.differences(view.look(container.shell, board), board)
    # A container has no loop devices, so the partition is a folder like any other.
    assert differences == {"esp": ("/", "/boot/efi")}


def test_what_a_container_can_not_show_at_its_real_path_is_told(container: Container) -> None:
    layer.apply(container.shell, SUPER)
    spare = {path for path, kind in layer.report(container.shell).items() if kind == "spare"}
    # A device tree needs a kernel that knows them; a machine without DMI has no folder for it.
    assert {path for path in spare if not path.startswith("/sys/devices/virtual/dmi/")} <= {"/proc/device-tree"}
    for path in spare:
        container.shell.run(["test", "-e", layer.SPARE + path])
    # all else is there too, so that a reader needs one root only
    assert container.shell.read(f"{layer.SPARE}{GPU}/max_freq") == b"1020000000\n"
    assert container.shell.read(f"{layer.SPARE}/proc/meminfo").startswith(b"MemTotal")


def test_a_road_to_super_ends_at_the_next_boot(container: Container) -> None:
    shell = container.shell
    layer.apply(shell, HALF)
    assert shell.read(f"{GPU}/max_freq") == b"624750000\n"
    shell.script(
        """sed -i 's/nano-devkit-$/nano-devkit-super-/' /etc/nv_boot_control.conf
/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh -l
nv_bootloader_capsule_updater.sh -q /opt/ota_package/t23x/TEGRA_BL_3767_super.Cap
"""
    )
    container.reboot()
    assert shell.read(f"{GPU}/max_freq") == b"1020000000\n"
    slots = shapes.read_slots(shell.script("nvbootctrl dump-slots-info"))
    assert (slots.current, slots.capsule_status) == ("A", 1)


def test_a_mode_that_needs_a_reboot_reboots_when_it_may(container: Container) -> None:
    board = PERSONALITIES["orin-nx-16gb-super"]
    layer.apply(container.shell, board)
    declined = container.shell.run(["nvpmodel", "-m", "1"])
    assert shapes.read_answer(declined.stdout.decode()) == "eof"
    assert container.shell.read("/var/lib/nvpmodel/status") == b"pmode:0000 fmode:fan_mode_quiet\n"


def test_services_of_the_board_are_real_ones(container: Container) -> None:
    shell = container.shell
    layer.apply(shell, SUPER)
    assert shell.script("systemctl is-active gdm display-manager nvfancontrol nvzramconfig") == "active\n" * 4
    shell.script(
        "systemctl set-default multi-user.target; systemctl disable --now display-manager gdm 2>/dev/null || :"
    )
    container.reboot()
    assert shell.run(["systemctl", "is-active", "gdm"], check=False).stdout == b"inactive\n"
    # nvpmodel has no RemainAfterExit, so isolate starts it again and takes away what jetson_clocks set
    shell.script("jetson_clocks")
    assert shell.read(f"{GPU}/min_freq") == b"1020000000\n"
    shell.script("systemctl isolate graphical.target")
    shell.script("systemctl isolate multi-user.target")
    assert shell.read(f"{GPU}/min_freq") == b"306000000\n"


def test_a_user_sees_less_than_root(container: Container) -> None:
    layer.apply(container.shell, replace(SUPER, mode=1))
    run = container.shell.run
    assert shapes.read_mode(run(["nvpmodel", "-q"], user="jetson").stdout.decode()).name == "25W"
    lines = run(["nvpmodel", "-q", "--verbose"], user="jetson").stdout.decode().splitlines()
    assert "NVPM ERROR: Error opening /sys/kernel/nvpmodel_clk_cap/emc: 13" in lines
    for path in ("/sys/kernel/debug/bpmp/debug/clk/emc/max_rate", "/sys/firmware/efi/esrt/entries/entry0/fw_version"):
        assert run(["cat", path], user="jetson", check=False).returncode == 1
        assert run(["sudo", "-n", "cat", path], user="jetson").stdout.strip().isdigit()
    assert run(["jetson_clocks", "--show"], user="jetson", check=False).returncode == 1


def test_a_chroot_is_recognised(container: Container) -> None:
    layer.apply(container.shell, SUPER)
    said = container.shell.run(["unshare", "--mount", "sh", "-euc", CHROOT]).stdout.decode()
    assert shapes.read_answer(said) == "chroot"
    assert container.shell.read(f"{GPU}/max_freq") == b"1020000000\n"
