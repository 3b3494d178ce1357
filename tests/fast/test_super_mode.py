"""The role super_mode on a board: told, done, repeated, taken back; and through the boot in which firmware decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_plays import ROOT, Controller, Played
from fast.board import become_board, owner_of
from twin.container import Container
from twin.l4t.firmware_view import OS_INDICATIONS, SUPER_CAPSULE, TABLE
from twin.l4t.personalities import HALF, PERSONALITIES, R39
from twin.l4t.values import Personality

pytestmark = pytest.mark.root
NAME = "Orin Nano 8GB"
GO = {"super_mode_enable": True, "super_mode_confirm": NAME}
QSPI = (
    "sudo ./flash.sh --no-systemimg -c bootloader/generic/cfg/flash_t234_qspi.xml"
    " jetson-orin-nano-devkit-super internal"
)
# A container has no file system of its own at /boot/efi, and shows the disks of the machine that it runs on.
PLACES = """
mkdir -p /run/drives /boot/efi
mountpoint -q /boot/efi || mount --bind /boot/efi /boot/efi
mount --bind /run/drives /sys/class/block
for one in $*; do
  mkdir -p /run/drives/${one%%:*}
  printf 'DEVTYPE=partition\\nPARTNAME=%s\\n' ${one##*:} > /run/drives/${one%%:*}/uevent
done
"""
NVME = "nvme0n1p1:APP nvme0n1p2:kernel nvme0n1p10:esp"
SEEN = """cd /
for folder in /etc /var/lib/rerig /boot /sys/firmware/efi/efivars; do
  [ ! -e $folder ] || find $folder -xdev ! -name '*.cache' -printf '%p %M %U %G %l\\n' | sort
done
find /etc /boot /sys/firmware/efi/efivars -xdev -type f -print0 | sort -z | xargs -0 md5sum
lsattr -d /sys/firmware/efi/efivars/* 2>/dev/null
"""


@dataclass
class Board:
    """A container that is a board, its owner, and the plays of the role."""

    container: Container
    owner: Controller
    folder: Path

    def become(self, personality: Personality, drives: str = NVME) -> None:
        become_board(self.container, personality)
        self.put_places(drives)

    def put_places(self, drives: str = NVME) -> None:
        self.container.shell.script(f"set -- {drives}\n{PLACES}")

    def reboot(self) -> None:
        self.container.reboot()
        self.put_places()

    def play(self, *flags: str, tasks_from: str = "main", **variables: Any) -> Played:
        """The role, which then shows the facts that it leaves."""
        names = ("reboot_required", "changed_what", "state")
        facts = {name: "{{ super_mode_" + name + " | default(none) }}" for name in names}
        tasks = [
            {"ansible.builtin.include_role": {"name": "super_mode", "tasks_from": tasks_from}},
            {"ansible.builtin.debug": {"msg": facts}},
        ]
        path = self.folder / "super.yml"
        path.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]), "utf-8")
        return self.owner.play(path, *flags, **variables)

    def seen(self) -> list[str]:
        return self.container.shell.script(SEEN).splitlines()

    def last_step(self) -> int:
        return int(self.container.shell.read(TABLE).split()[-1])


@pytest.fixture
def board(shared_fast_twin: Container, tmp_path: Path) -> Iterator[Board]:
    owner = owner_of(shared_fast_twin, tmp_path / "controller")
    owner.hosts["box"]["ansible_python_interpreter"] = "/usr/bin/python3"  # a round trip less than to look for it
    yield Board(shared_fast_twin, owner, tmp_path)
    shared_fast_twin.shell.script(
        "umount /sys/class/block || :; umount /boot/efi || :; rm -rf /run/drives /var/lib/rerig"
    )


def facts(played: Played) -> dict[str, Any]:
    """The facts that the role left."""
    assert played.status == 0, played.output
    return dict(played.said("ok")[-1]["msg"])


def said(played: Played) -> str:
    """Everything that was shown, on one line, without YAML's quotes."""
    return " ".join(played.output.replace("''", "'").split())


def test_told_done_repeated_and_taken_back(board: Board) -> None:
    board.become(HALF)
    before = board.seen()
    wish = [
        "the board is named jetson-orin-nano-devkit-super",
        "the firmware knows that name",
        "the super capsule waits for slot A",
    ]
    told = board.play("--check", "--diff", **GO)
    assert facts(told) == {"reboot_required": True, "changed_what": wish, "state": "open"}
    assert "+TNSPEC 3767-300-0005-X.1-1-1-jetson-orin-nano-devkit-super-" in told.output
    assert board.seen() == before
    done = board.play(**GO)
    assert facts(done)["changed_what"] == wish
    assert done.recap()["changed"] == told.recap()["changed"] == 4
    assert "The next boot applies the capsule: a progress bar" in said(done)
    shell = board.container.shell
    assert shell.read(OS_INDICATIONS) == bytes.fromhex("07000000 0400000000000000")
    assert shell.read("/boot/efi/EFI/UpdateCapsule/TEGRA_BL.Cap") == shell.read(SUPER_CAPSULE)
    again = board.play(**GO)
    assert (again.recap()["changed"], facts(again)["state"]) == (0, "staged")
    undone = board.play(tasks_from="undo")
    assert facts(undone)["reboot_required"] is False
    assert board.seen() == before


def test_the_table_decides_after_the_reboot_and_the_other_slot_follows(board: Board) -> None:
    board.become(HALF)
    shell = board.container.shell
    shell.script("mkdir /boot/efi/EFI; touch /boot/efi/EFI/UpdateCapsule")  # in the way of the folder
    assert board.play(**GO).failure().startswith("The capsule can't be staged:")
    shell.script("rm /boot/efi/EFI/UpdateCapsule")
    goes_on = board.play(**GO)
    assert facts(goes_on)["changed_what"] == ["the super capsule waits for slot A"]
    board.reboot()
    applied = board.play(tasks_from="after_reboot")
    assert facts(applied) == {"reboot_required": False, "changed_what": [], "state": "applied"}
    assert "slot A runs, and its tables are Super's" in said(applied)
    assert "Since slot B is not Super" in said(applied)
    assert board.last_step() == 1_020_000_000
    facts(board.play(**GO, super_mode_other_slot=True))
    board.reboot()
    both = board.play(**GO)
    assert "slot B runs, and its tables are Super's" in said(both)
    again = board.play(**GO, super_mode_other_slot=True)
    assert (facts(again)["state"], again.recap()["changed"]) == ("super", 0)
    assert "Both bootloader slots are Super." in said(again)


def test_a_capsule_that_fails_is_said_and_the_verdict_stays(board: Board) -> None:
    board.become(replace(HALF, next_boot_fails=True))
    before = board.seen()
    sentence = board.play(**GO, super_mode_reboot_ok=True).failure()
    assert "The capsule was written, but the boot from the new slot failed and the old one runs on." in sentence
    assert "The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz" in sentence
    assert QSPI in sentence
    assert board.last_step() == 624_750_000
    facts(board.play(tasks_from="undo"))
    assert board.seen() == before


def test_every_gate_in_the_way_is_said_and_nothing_is_touched(board: Board) -> None:
    odd = replace(PERSONALITIES["orin-nano-left-over-status"], tnspec="3767-300-0005-X.1-1-1-some-carrier-")
    board.become(odd, f"{NVME} mmcblk1p1:APP")
    shell = board.container.shell
    shell.script(f"rm {SUPER_CAPSULE}; umount /boot/efi")
    before = board.seen()
    sentence = board.play(**GO).failure()
    for part in (
        "TNSPEC in /etc/nv_boot_control.conf is 3767-300-0005-X.1-1-1-some-carrier-; only",
        "mmcblk1 and nvme0n1 can all be booted from; take out all but one",
        "The EFI system partition is not mounted at /boot/efi.",
        "A BootChainFwStatus is left over",
        f"The capsule {SUPER_CAPSULE} is not there",
        QSPI,
    ):
        assert part in sentence
    assert board.seen() == before


def test_a_wrong_name_is_refused_and_a_full_esp_is_said_without_being_asked(board: Board) -> None:
    board.become(HALF)
    sentence = board.play(super_mode_enable=True, super_mode_confirm="orin nano").failure()
    assert sentence.startswith("This writes the board's bootloader. super_mode_confirm must be exactly Orin Nano 8GB,")
    board.container.shell.script("mount -t tmpfs -o size=64k esp /boot/efi; head -c 64k /dev/zero >/boot/efi/full")
    told = board.play()
    assert (told.status, told.recap()["changed"]) == (0, 0)
    assert "In the way: The EFI system partition has 0.0 MB free, and twice the capsule takes" in said(told)
    assert QSPI in said(told)
    board.container.shell.script("umount /boot/efi")


def test_r39_is_refused_whatever_the_list_says(board: Board) -> None:
    board.become(replace(R39, slots=HALF.slots))
    sentence = board.play(**GO, super_mode_releases=["36.4", "36.5", "39.2"]).failure()
    assert "so rerig never does this there." in sentence


def test_only_its_own_playbook_has_the_role() -> None:
    found = {path.name for path in (ROOT / "playbooks").glob("*.yml") if "super_mode" in path.read_text("utf-8")}
    assert found == {"enable-super.yml"}
