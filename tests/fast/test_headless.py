"""The role headless on a board with a desktop: first told, then done, then nothing to do, and put back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_plays import Controller, Played
from fast.board import become_board, facts_of, owner_of, play_of, seen
from twin.container import Container
from twin.l4t.personalities import SUPER

pytestmark = pytest.mark.root
HEADLESS = [
    "boots into multi-user.target instead of graphical.target",
    "the display manager gdm.service is disabled",
]
UNIT = """[Unit]
Description=Printing

[Service]
ExecStart=/bin/sleep infinity

[Install]
WantedBy=multi-user.target
"""
SWAP = "/srv/swap-file"
# The kernel's swap is the machine's own: what is asked of it here is noted, and told when somebody asks.
SWAPON = """#!/bin/sh
case "$*" in
*--show*) cat /run/swaps ;;
*) for last; do :; done; echo "$last" >> /run/swaps ;;
esac
"""


@pytest.fixture(scope="module")
def board(shared_fast_twin: Container) -> Iterator[Container]:
    """A board with a desktop and a service that somebody might stop."""
    become_board(shared_fast_twin, SUPER)
    shared_fast_twin.shell.put(
        {"/etc/systemd/system/printing.service": UNIT, "/etc/systemd/system/spare.service": UNIT}
    )
    shared_fast_twin.shell.script("systemctl daemon-reload; systemctl enable --now printing; systemctl start spare")
    yield shared_fast_twin


@pytest.fixture
def owner(board: Container, tmp_path: Path) -> Controller:
    return owner_of(board, tmp_path / "controller")


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    return play_of(tmp_path / "headless.yml", "headless")


@pytest.fixture
def restoring(tmp_path: Path) -> Path:
    return play_of(tmp_path / "restore.yml", "headless", "restore")


def facts(played: Played) -> tuple[bool, list[str]]:
    return facts_of(played, "headless")


def test_the_desktop_goes_at_the_next_boot_and_comes_back(
    board: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    shell = board.shell
    before = seen(board)
    told = owner.play(playbook, "--check", "--diff")
    assert facts(told) == (True, HEADLESS)
    assert "+multi-user.target" in told.output
    assert "-/etc/systemd/system/display-manager.service -> /usr/lib/systemd/system/gdm.service" in told.output
    assert seen(board) == before
    done = owner.play(playbook)
    assert facts(done) == (True, HEADLESS)
    assert done.recap()["changed"] == told.recap()["changed"] == 2
    assert shell.script("systemctl get-default") == "multi-user.target\n"
    assert shell.script("systemctl is-enabled display-manager.service 2>&1 || true") != "enabled\n"
    assert shell.script("systemctl is-active gdm.service") == "active\n"  # nobody's session ends
    again = owner.play(playbook)
    assert again.recap()["changed"] == 0
    assert facts(again) == (True, [])  # it is there until the next boot
    assert facts(owner.play(restoring)) == (
        False,
        [f"{unit} is as it was" for unit in ("default.target", "display-manager.service", "gdm.service")],
    )
    assert seen(board) == before
    last = owner.play(restoring)
    assert (facts(last), last.recap()["changed"]) == ((False, []), 0)


def test_named_services_and_compressed_swap_go_and_come_back_whenever_they_were_named(
    board: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    shell = board.shell
    before = seen(board)
    first: dict[str, Any] = {"headless_target": "graphical.target", "headless_stopped_services": ["printing"]}
    # A bare off in YAML is false.
    wanted = {**first, "headless_zram": False, "headless_stopped_services": ["printing", "spare.service"]}
    assert facts(owner.play(playbook, **first)) == (False, ["printing.service is stopped and disabled"])
    told = facts(owner.play(playbook, "--check", **wanted))
    assert told == (False, ["compressed swap is off from the next boot on", "spare.service is stopped and disabled"])
    assert facts(owner.play(playbook, **wanted)) == told
    assert shell.script("systemctl is-active printing spare || true") == "inactive\n" * 2
    assert shell.script("systemctl is-enabled printing nvzramconfig || true") == "disabled\n" * 2
    again = owner.play(playbook, **wanted)
    assert (facts(again), again.recap()["changed"]) == ((False, []), 0)
    owner.play(restoring)
    assert seen(board) == before


def test_a_swap_file_is_made_once_and_taken_back(
    board: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    shell = board.shell
    shell.script("mv /sbin/swapon /root/swapon; mv /sbin/swapoff /root/swapoff; mkdir -p /srv")
    shell.put({"/sbin/swapon": SWAPON, "/sbin/swapoff": "#!/bin/sh\n: > /run/swaps\n"}, 0o755)
    before = seen(board)
    wanted = {"headless_target": "graphical.target", "headless_zram": "swapfile", "headless_swapfile_path": SWAP}
    wanted |= {"headless_swapfile_mib": 3}
    sentences = ["compressed swap is off from the next boot on", f"a swap file of 3 MiB at {SWAP}"]
    assert facts(owner.play(playbook, "--check", **wanted)) == (False, sentences)
    assert seen(board) == before
    assert facts(owner.play(playbook, **wanted)) == (False, sentences)
    assert shell.script("cat /run/swaps") == f"{SWAP}\n"
    assert shell.script(f"stat -c '%a %s %U' {SWAP}; systemctl is-enabled 'srv-swap\\x2dfile.swap'") == (
        f"600 {3 << 20} root\nenabled\n"
    )
    assert b"SWAPSPACE2" in shell.read(SWAP)
    refused = owner.play(playbook, **{**wanted, "headless_swapfile_path": "/srv/other"}).failure()
    assert refused == f"The swap file of this role is {SWAP}; take it back before another one is made."
    owner.play(restoring)
    assert shell.script("cat /run/swaps") == ""
    assert seen(board) == before
    shell.script(f"[ ! -e {SWAP} ]; mv /root/swapon /sbin/swapon; mv /root/swapoff /sbin/swapoff")


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"headless_stopped_services": ["nvpmodel"]},
            "headless_stopped_services holds nvpmodel, which this machine needs",
        ),
        ({"headless_stopped_services": ["docker.socket"]}, "holds docker, which this machine needs"),
        ({"headless_stopped_services": ["nvzramconfig"]}, "for which there are headless_zram and headless_target"),
        ({"headless_stopped_services": ["a b"]}, "holds something that is no name of a unit"),
        ({"headless_swapfile_path": "/etc/hostname"}, "/etc/hostname is there and is not this role's"),
        ({"headless_swapfile_path": "/nowhere/swap"}, "There is no folder /nowhere for a swap file"),
        (
            {"headless_swapfile_mib": 900_000_000},
            "MiB free for a swap file of 900000000 MiB, and 1024 MiB have to stay",
        ),
    ],
)
def test_what_would_harm_is_refused(
    variables: dict[str, object], sentence: str, owner: Controller, playbook: Path
) -> None:
    played = owner.play(playbook, "--check", headless_zram="swapfile", **variables)
    assert sentence in played.failure()
    assert played.recap()["changed"] == 0
