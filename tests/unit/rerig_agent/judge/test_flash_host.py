"""Which host may flash which board by which command, and what a failed flash means: pure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.judge.flash_failures import explain_failure
from rerig_agent.judge.flash_host import plan_flash
from rerig_agent.judge.reflash import CONFIG, FLASH, INITRD_R36, INITRD_R38, NVME_LAYOUT, QSPI_LAYOUT

FILES = dict.fromkeys((FLASH, INITRD_R36, QSPI_LAYOUT, NVME_LAYOUT, f"{CONFIG}.conf"), True)
QSPI = f"sudo ./flash.sh --no-systemimg -c {QSPI_LAYOUT} {CONFIG} internal"
NVME = (
    f"sudo ./{INITRD_R36} --external-device nvme0n1p1 -c {NVME_LAYOUT} -p '-c {QSPI_LAYOUT}' --showlogs"
    f" --network usb0 {CONFIG} internal"
)


def usb(*ids: str) -> list[dict[str, str]]:
    return [{"place": f"1-{number}", "id": one} for number, one in enumerate(ids, 1)]


def host(**changes: Any) -> dict[str, Any]:
    """A host on which nothing is in the way."""
    found: dict[str, Any] = {
        "machine": "x86_64",
        "kernel_release": "5.15.0-119-generic",
        "in_container": False,
        "distribution": {"id": "ubuntu", "version": "22.04"},
        "usb": usb("1d6b:0002", "0955:7523", "046d:c31c"),
        "bsp": {"path": "/data/Linux_for_Tegra", "files": FILES, "release": "36.5.2"},
        "ipv6_disabled": False,
        "ufw": False,
        "nfs": True,
        "rpcbind": True,
    }
    for name, value in changes.items():
        part, _, key = name.partition("__")
        found[part] = {**found[part], key: value} if key else value
    return found


def test_the_bootloader_alone() -> None:
    plan = plan_flash(host(), "qspi")
    assert [gate["sentence"] for gate in plan["gates"] if not gate["passed"]] == []
    assert (plan["command"], plan["phrase"], plan["doubts"]) == (QSPI, "flash Orin Nano 8GB QSPI", [])


def test_a_whole_drive() -> None:
    plan = plan_flash(host(), "nvme")
    assert all(gate["passed"] for gate in plan["gates"])
    assert (plan["command"], plan["phrase"]) == (NVME, "flash Orin Nano 8GB QSPI and erase its NVMe drive")


def test_from_r38_on_the_script_is_another() -> None:
    files = {**FILES, INITRD_R38: True}
    plan = plan_flash(host(bsp__release="39.2.1", bsp__files=files), "nvme")
    assert plan["command"] == f"sudo ./l4t_initrd_flash.sh --erase-all {CONFIG} internal"
    assert plan["doubts"] == []
    unread = {name: there for name, there in files.items() if name != INITRD_R36}
    assert plan_flash(host(bsp__release=None, bsp__files=unread), "nvme")["argv"][0] == "./l4t_initrd_flash.sh"


@pytest.mark.parametrize(
    ("product", "board"), [("7323", "Orin NX 16GB"), ("7423", "Orin NX 8GB"), ("7623", "Orin Nano 4GB")]
)
def test_the_usb_id_tells_the_board_and_the_board_the_configuration(product: str, board: str) -> None:
    plan = plan_flash(host(usb=usb(f"0955:{product}")), "qspi")
    assert (plan["board"], plan["config"]) == (board, "jetson-orin-nano-devkit-super")


@pytest.mark.parametrize(
    ("changes", "target", "sentence"),
    [
        ({"machine": "aarch64"}, "qspi", "run on x86_64 alone, and this is aarch64."),
        ({"kernel_release": "5.15.153.1-microsoft-standard-WSL2"}, "qspi", "This is WSL"),
        ({"in_container": True}, "qspi", "This is a container"),
        ({"usb": usb("1d6b:0002")}, "qspi", "No board in recovery mode is on this host's USB: put the jumper"),
        ({"usb": usb("0955:7020")}, "qspi", "A Jetson is there, but not in recovery mode."),
        ({"usb": usb("0955:7523", "0955:7323")}, "qspi", "2 boards in recovery mode are on this host's USB"),
        ({"usb": usb("0955:7f23")}, "qspi", "has the unknown id 0955:7f23."),
        ({"usb": usb("0955:7023")}, "qspi", "is an AGX Orin, of which rerig knows no Super mode."),
        ({"bsp__path": ""}, "qspi", "flash_host_bsp is not set"),
        ({"bsp__files": {}}, "qspi", "is no whole Linux_for_Tegra: flash.sh is missing."),
        ({"bsp__files": {**FILES, NVME_LAYOUT: False}}, "nvme", "flash_l4t_t234_nvme.xml is missing."),
        ({"bsp__files": {**FILES, f"{CONFIG}.conf": False}}, "qspi", "of a release before 36.4.3, without Super."),
        ({"bsp__release": None}, "nvme", "/rootfs holds no L4T: unpack the sample root file system there"),
        ({"nfs": False, "rpcbind": False}, "nvme", "The host lacks nfs-kernel-server and rpcbind"),
        ({"ipv6_disabled": True}, "nvme", "IPv6 is disabled on this host"),
    ],
)
def test_what_is_in_the_way_is_said(changes: dict[str, Any], target: str, sentence: str) -> None:
    closed = [gate["sentence"] for gate in plan_flash(host(**changes), target)["gates"] if not gate["passed"]]
    assert len(closed) == 1
    assert sentence in closed[0]


@pytest.mark.parametrize("ids", [(), ("0955:7023",), ("0955:7523", "0955:7523")])
def test_there_is_no_phrase_unless_one_known_board_is_there(ids: tuple[str, ...]) -> None:
    plan = plan_flash(host(usb=usb(*ids)), "qspi")
    assert (plan["phrase"], plan["command"]) == (None, QSPI)


def test_what_may_go_wrong_is_said_and_bars_nothing() -> None:
    plan = plan_flash(host(ufw=True, distribution={"id": "debian", "version": "12"}), "nvme")
    assert plan["doubts"] == [
        "NVIDIA supports flashing from Ubuntu 20.04 and 22.04, and this is debian 12.",
        "The firewall ufw is on: it must let the interface usb0 through.",
    ]
    assert all(gate["passed"] for gate in plan["gates"])


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ("[ 3.1 ] Sending bct_br\n[ 3.2 ] ERROR: might be timeout in USB write.\nError: Return value 3\n",
         "Writing over USB timed out"),
        ("Error: failed to read rcm_state\nError: None of the bootloaders are running on device.\n",
         "no longer answered in recovery mode"),
        ("Waiting for target to boot-up...\nWaiting for target to boot-up...\nTimeout\nCleaning up...\n",
         "did not answer over USB"),
        ("Device ping failed after RCM boot. Exit.\n", "did not answer over USB"),
        ("mount.nfs: Connection timed out\n", "could not mount the host's NFS export"),
        ("writing item=1, /dev/sda1 512\nError: image is too large\n", "unplug every other drive"),
        ("ERROR: QSPI0 write failed, sectors are protected\n", "The QSPI flash is write-protected"),
        ("cp: error writing 'system.img': No space left on device\n", "The host's disk is full"),
        ("one\r\ntwo\n\n", "The flashing ended with status 4; its last line is: two."),
        ("", "The flashing ended with status 4 and printed nothing."),
    ],
)  # fmt: skip
def test_a_failed_flash_is_explained_by_its_log(log: str, sentence: str) -> None:
    said = explain_failure(log, 4)
    assert sentence in said
    assert said.endswith(".")


def test_a_flash_without_an_end_is_said() -> None:
    assert explain_failure("half\n", None) == "The flashing has not come to its end in the time it was given."


@given(log=st.text(max_size=300), status=st.integers(1, 255) | st.none())
def test_every_log_gives_one_sentence(log: str, status: int | None) -> None:
    assert explain_failure(log, status).endswith(".")
