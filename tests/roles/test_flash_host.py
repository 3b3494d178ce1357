"""The role flash_host on this machine, with a USB tree, a folder of tools and a flashing tool that are stand-ins."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_plays import ROOT, Controller, Played, path_before, stub
from rerig_agent.judge.reflash import CONFIG, FLASH, INITRD_R36, NVME_LAYOUT, QSPI_LAYOUT

HOST = "localhost"
PHRASE = "flash Orin Nano 8GB QSPI"
COMMAND = f"sudo ./flash.sh --no-systemimg -c {QSPI_LAYOUT} {CONFIG} internal"
PARAMETERS = "sys/module/usbcore/parameters"
# What the host was like while it ran, besides its words.
TOOL = f"""
{{ pwd; echo "$0 $*"; cat "$SYSFS/usbfs_memory_mb" "$SYSFS/autosuspend"; cat "$STATE/services"; }} > "$STATE/called"
[ ! -e "$STATE/log" ] || {{ cat "$STATE/log"; exit 3; }}
echo '*** The target {CONFIG} has been flashed successfully. ***'
"""
SYSTEMCTL = """
case $1 in
is-active) grep -qx "$3 active" "$STATE/services" ;;
stop) sed -i "s/^$2 .*/$2 inactive/" "$STATE/services" ;;
start) sed -i "s/^$2 .*/$2 active/" "$STATE/services" ;;
esac
"""
RUNNING = "ModemManager.service active\nudisks2.service active\n"


@dataclass
class FlashHost:
    """A host below a folder: what the kernel shows of it, L4T's tools, its services."""

    controller: Controller
    root: Path
    bsp: Path

    def __post_init__(self) -> None:
        self.show("0955:7523", "1d6b:0002")
        texts = {
            f"{PARAMETERS}/usbfs_memory_mb": "16\n",
            f"{PARAMETERS}/autosuspend": "2\n",
            "proc/sys/kernel/osrelease": "5.15.0-119-generic\n",
            "proc/sys/net/ipv6/conf/all/disable_ipv6": "0\n",
            "etc/os-release": 'ID=ubuntu\nVERSION_ID="22.04"\n',
            "state/services": RUNNING,
        }
        for name, text in texts.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, "ascii")
        for name in (FLASH, INITRD_R36):
            place = self.bsp / name
            stub(place.parent, place.name, self._with_places(TOOL))
        for name in (QSPI_LAYOUT, NVME_LAYOUT, f"{CONFIG}.conf"):
            (self.bsp / name).parent.mkdir(parents=True, exist_ok=True)
            (self.bsp / name).touch()
        stub(self.root / "bin", "systemctl", self._with_places(SYSTEMCTL))
        self.controller.path = path_before(self.root / "bin", self.controller.path)

    def _with_places(self, script: str) -> str:
        return f"SYSFS='{self.root / PARAMETERS}' STATE='{self.root / 'state'}'\n{script}"

    def show(self, *ids: str) -> None:
        """These devices on USB, and no others."""
        folder = self.root / "sys/bus/usb/devices"
        for number in range(4):
            for name in ("idVendor", "idProduct"):
                (folder / f"1-{number}" / name).unlink(missing_ok=True)
        for number, one in enumerate(ids):
            vendor, _, product = one.partition(":")
            place = folder / f"1-{number}"
            place.mkdir(parents=True, exist_ok=True)
            (place / "idVendor").write_text(f"{vendor}\n", "ascii")
            (place / "idProduct").write_text(f"{product}\n", "ascii")

    def settings(self) -> tuple[str, str, str]:
        """USB's memory and autosuspend, and the services."""
        parameters = [(self.root / PARAMETERS / name).read_text("ascii") for name in ("usbfs_memory_mb", "autosuspend")]
        return parameters[0], parameters[1], (self.root / "state/services").read_text("ascii")

    def called(self) -> list[str]:
        """What the flashing tool saw; empty where it wasn't run."""
        file = self.root / "state/called"
        return file.read_text("utf-8").splitlines() if file.exists() else []

    def logs(self) -> list[Path]:
        folder = self.root / "logs"
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def play(self, *flags: str, playbook: str | Path = "flash.yml", **variables: Any) -> Played:
        places = {"flash_host_root": str(self.root), "flash_host_bsp": str(self.bsp)}
        return self.controller.play(
            playbook, *flags, **{**places, "flash_host_logs": str(self.root / "logs"), **variables}
        )


FOUND = ("16\n", "2\n", RUNNING)


@pytest.fixture
def host(controller: Controller, tmp_path: Path) -> FlashHost:
    if os.uname().machine != "x86_64":
        pytest.skip("L4T's flashing tools run on x86_64 alone")
    return FlashHost(controller, tmp_path / "host", tmp_path / "Linux for Tegra")


def said(played: Played) -> str:
    return " ".join(played.output.replace("''", "'").split())


def test_without_a_phrase_it_prints_the_command_and_runs_nothing(host: FlashHost) -> None:
    played = host.play()
    assert (played.status, played.recap(HOST)["changed"]) == (0, 0), played.output
    assert f"{host.bsp}: {COMMAND}" in said(played)
    assert f"To have it run, set flash_host_confirm to: {PHRASE}" in said(played)
    assert (host.called(), host.settings(), host.logs()) == ([], FOUND, [])


@pytest.mark.root
def test_told_run_and_set_back(host: FlashHost) -> None:
    told = host.play("--check", flash_host_confirm=PHRASE)
    assert (told.status, told.recap(HOST)["changed"]) == (0, 2), told.output
    assert (host.called(), host.settings(), host.logs()) == ([], FOUND, [])
    done = host.play(flash_host_confirm=PHRASE)
    assert (done.status, done.recap(HOST)["changed"]) == (0, 3), done.output
    assert host.called() == [
        str(host.bsp),
        f"./flash.sh --no-systemimg -c {QSPI_LAYOUT} {CONFIG} internal",
        "2048",
        "-1",
        "ModemManager.service inactive",
        "udisks2.service inactive",
    ]
    assert host.settings() == FOUND
    assert "flashed successfully" in host.logs()[0].read_text("utf-8")
    assert not (host.root / "var").exists() or not list((host.root / "var").rglob("*.json"))
    assert "./inv verify --host HOST" in said(done)


@pytest.mark.root
def test_a_failure_is_one_sentence_and_the_host_is_set_back(host: FlashHost) -> None:
    (host.root / "state/log").write_text("[ 12.1 ] ERROR: might be timeout in USB write.\n", "ascii")
    played = host.play(flash_host_confirm=PHRASE)
    sentence = played.failure(HOST)
    assert sentence.startswith("Writing over USB timed out: use another port")
    assert str(host.logs()[0]) in sentence
    assert host.settings() == FOUND


@pytest.mark.root
def test_a_run_that_was_killed_is_set_back_by_the_next(host: FlashHost, tmp_path: Path) -> None:
    record = host.root / "var/lib/rerig/restore/flash_host.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"parameters": {"usbfs_memory_mb": 16, "autosuspend": 2}, "stopped": ["udisks2.service"]}')
    for name, value in (("usbfs_memory_mb", 2048), ("autosuspend", -1)):
        (host.root / PARAMETERS / name).write_text(f"{value}\n", "ascii")
    (host.root / "state/services").write_text(RUNNING.replace("udisks2.service active", "udisks2.service inactive"))
    role = {"ansible.builtin.include_role": {"name": "flash_host", "tasks_from": "restore"}}
    playbook = tmp_path / "restore.yml"
    playbook.write_text(
        yaml.safe_dump([{"hosts": HOST, "connection": "local", "gather_facts": False, "tasks": [role]}])
    )
    played = host.play(playbook=playbook)
    assert (played.status, played.recap(HOST)["changed"]) == (0, 1), played.output
    assert host.settings() == FOUND
    assert not record.exists()
    again = host.play(playbook=playbook)
    assert (again.status, again.recap(HOST)["changed"]) == (0, 0), again.output


def test_another_phrase_runs_nothing(host: FlashHost) -> None:
    sentence = host.play(flash_host_confirm="yes").failure(HOST)
    assert sentence == (
        f'This overwrites the board\'s bootloader. flash_host_confirm must be exactly "{PHRASE}", and it is "yes".'
    )
    assert (host.called(), host.settings()) == ([], FOUND)


def test_two_boards_and_a_folder_without_tools_are_refused(host: FlashHost) -> None:
    host.show("0955:7523", "0955:7323")
    (host.bsp / FLASH).unlink()
    sentence = host.play(flash_host_confirm=PHRASE).failure(HOST)
    assert "2 boards in recovery mode are on this host's USB; leave one alone." in sentence
    assert "is no whole Linux_for_Tegra: flash.sh is missing." in sentence
    assert host.settings() == FOUND


def test_a_whole_drive_needs_its_own_phrase_and_a_root_file_system(host: FlashHost) -> None:
    played = host.play(flash_host_target="nvme")
    assert played.status == 0, played.output
    assert "--external-device nvme0n1p1" in said(played)
    assert "In the way:" in said(played)
    assert "rootfs holds no L4T" in said(played)
    assert "To have it run" not in said(played)


def test_only_its_own_playbook_has_the_role() -> None:
    found = {path.name for path in (ROOT / "playbooks").glob("*.yml") if "flash_host" in path.read_text("utf-8")}
    assert found == {"flash.yml"}
