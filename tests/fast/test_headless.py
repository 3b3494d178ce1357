"""The role headless on a board with a desktop: first told, then done, then nothing to do, and put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_plays import Controller
from fast.board import become_board, facts_of, owner_of, play_of, seen
from twin.container import Container
from twin.l4t.personalities import SUPER

pytestmark = pytest.mark.root
ROLE = "headless"
HEADLESS = [
    "boots into multi-user.target instead of graphical.target",
    "the display manager gdm.service is disabled",
]


@pytest.fixture
def owner(shared_fast_twin: Container, tmp_path: Path) -> Controller:
    return owner_of(shared_fast_twin, tmp_path / "controller")


def test_the_desktop_goes_at_the_next_boot_and_comes_back(
    shared_fast_twin: Container, owner: Controller, tmp_path: Path
) -> None:
    become_board(shared_fast_twin, SUPER)
    shell = shared_fast_twin.shell
    before = seen(shared_fast_twin)
    playbook = play_of(tmp_path / "headless.yml", ROLE)
    told = owner.play(playbook, "--check")
    assert facts_of(told, ROLE) == (True, HEADLESS)
    assert seen(shared_fast_twin) == before
    done = owner.play(playbook)
    assert facts_of(done, ROLE) == (True, HEADLESS)
    assert shell.script("systemctl get-default") == "multi-user.target\n"
    assert shell.script("systemctl is-enabled display-manager.service || true") != "enabled\n"
    # The desktop still runs, and so does what a mode switch or an isolated target would have started again.
    assert shell.script("systemctl is-active gdm.service") == "active\n"
    again = owner.play(playbook)
    assert (facts_of(again, ROLE), again.recap()["changed"]) == ((False, []), 0)
    back = owner.play(play_of(tmp_path / "restore.yml", ROLE, "restore"))
    assert facts_of(back, ROLE)[0] is True
    assert seen(shared_fast_twin) == before


@pytest.mark.slow
def test_compressed_swap_and_named_services_go_and_come_back(
    shared_fast_twin: Container, owner: Controller, tmp_path: Path
) -> None:
    become_board(shared_fast_twin, SUPER)
    shell = shared_fast_twin.shell
    shell.put({"/etc/systemd/system/printing.service": UNIT})
    shell.script("systemctl daemon-reload; systemctl enable --now printing.service")
    before = seen(shared_fast_twin)
    wanted = {"headless_target": "graphical.target", "headless_zram": "off"}
    wanted |= {"headless_stopped_services": ["printing.service"]}
    playbook = play_of(tmp_path / "headless.yml", ROLE)
    told = facts_of(owner.play(playbook, "--check", **wanted), ROLE)
    assert told == (False, ["compressed swap is off", "printing.service is stopped and disabled"])
    assert seen(shared_fast_twin) == before
    assert facts_of(owner.play(playbook, **wanted), ROLE) == told
    assert shell.script("systemctl is-active printing.service nvzramconfig.service || true") == "inactive\ninactive\n"
    again = owner.play(playbook, **wanted)
    assert (facts_of(again, ROLE), again.recap()["changed"]) == ((False, []), 0)
    owner.play(play_of(tmp_path / "restore.yml", ROLE, "restore"))
    assert seen(shared_fast_twin) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"headless_stopped_services": ["nvpmodel.service"]}, "holds nvpmodel.service, which this machine needs."),
        ({"headless_stopped_services": ["a b"]}, "holds something that is no unit's name"),
        (
            {"headless_zram": "swapfile", "headless_swapfile_path": "/etc/hostname"},
            "/etc/hostname is there and is not this role's",
        ),
        (
            {"headless_zram": "swapfile", "headless_swapfile_mib": 900_000_000},
            "MiB free for a swap file of 900000000 MiB",
        ),
    ],
)
def test_what_would_harm_is_refused(
    variables: dict[str, object], sentence: str, shared_fast_twin: Container, owner: Controller, tmp_path: Path
) -> None:
    assert sentence in owner.play(play_of(tmp_path / "headless.yml", ROLE), "--check", **variables).failure()


UNIT = """[Unit]
Description=Printing

[Service]
ExecStart=/bin/sleep infinity

[Install]
WantedBy=multi-user.target
"""
