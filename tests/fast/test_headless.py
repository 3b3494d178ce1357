"""The role headless on a board with a desktop: first told, then done, then nothing to do, and put back."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def board(shared_fast_twin: Container) -> Container:
    """A board with a desktop and a service that somebody might stop."""
    become_board(shared_fast_twin, SUPER)
    shared_fast_twin.shell.put(
        {"/etc/systemd/system/printing.service": UNIT, "/etc/systemd/system/spare.service": UNIT}
    )
    shared_fast_twin.shell.script("systemctl daemon-reload; systemctl enable --now printing; systemctl start spare")
    return shared_fast_twin


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


def test_a_swap_file_that_the_kernel_refuses_is_taken_away_again(
    board: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    """In a container it always does: the swap that there is belongs to the machine around it."""
    wanted: dict[str, Any] = {"headless_target": "graphical.target", "headless_zram": "swapfile"}
    wanted |= {"headless_swapfile_path": SWAP, "headless_swapfile_mib": 3}
    board.shell.script("systemctl disable --quiet nvzramconfig; mkdir -p /srv")
    before = seen(board)
    assert facts(owner.play(playbook, "--check", **wanted)) == (False, [f"a swap file of 3 MiB at {SWAP}"])
    assert seen(board) == before
    failed = owner.play(playbook, **wanted)
    assert failed.failure().startswith(
        f"{SWAP} can't be used as swap, so it was removed again: Unable to start service"
    )
    assert board.shell.run(["test", "-e", SWAP], check=False).returncode == 1
    owner.play(restoring)
    assert seen(board) == before
    board.shell.script("systemctl enable --quiet nvzramconfig")


def test_a_swap_file_that_was_made_half_is_known_and_taken_back(
    board: Container, owner: Controller, playbook: Path, restoring: Path
) -> None:
    wanted = {"headless_target": "graphical.target", "headless_zram": "swapfile"}
    before = seen(board)
    record = '{"swapfile": "/srv/swap-file", "units": {"default.target": %s, "display-manager.service": %s}}'
    links = '{"runs": false, "links": {"%s": "/usr/lib/systemd/system/%s"}}'
    record %= (links % ("default.target", "graphical.target"), links % ("display-manager.service", "gdm.service"))
    unit = "[Unit]\nDescription=Swap file of rerig\n\n[Swap]\nWhat=/srv/swap-file\n"
    board.shell.put({SWAP: "torn", "/etc/systemd/system/srv-swap\\x2dfile.swap": unit})
    board.shell.put({"/var/lib/rerig/restore/headless.json": record}, 0o600)
    told = owner.play(playbook, "--check", **wanted, headless_swapfile_path=SWAP, headless_swapfile_mib=3)
    assert facts(told)[1][-1] == f"a swap file of 3 MiB at {SWAP}"
    refused = owner.play(playbook, "--check", **wanted, headless_swapfile_path="/srv/other").failure()
    assert refused == f"The swap file of this role is {SWAP}; take it back before another one is made."
    assert facts(owner.play(restoring)) == (False, [f"the swap file {SWAP} is gone"])
    assert seen(board) == before


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
            "MiB free for a swap file of 900000000 MiB, and 1024 MiB have",
        ),
    ],
)
def test_what_would_harm_is_refused(
    variables: dict[str, object], sentence: str, owner: Controller, playbook: Path
) -> None:
    played = owner.play(playbook, "--check", headless_zram="swapfile", **variables)
    assert sentence in played.failure()
    assert played.recap()["changed"] == 0
