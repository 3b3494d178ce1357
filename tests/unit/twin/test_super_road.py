"""The road to Super through the collector that runs on real boards: which of the twin's boards may take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rerig_agent.conditions import collect
from rerig_agent.facts.super_road import collect_road
from rerig_agent.judge.super_progress import judge_progress
from twin.l4t.bench import NVBOOTCTRL, Bench
from twin.l4t.firmware_view import CAPSULES, SUPER_CAPSULE
from twin.l4t.personalities import HALF, PERSONALITIES, PLAIN
from twin.l4t.values import Personality

Make = Callable[[Personality], Bench]
MOUNTS = """\
20 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw
30 20 259:10 / /boot/efi rw,relatime shared:1 - vfat /dev/nvme0n1p10 rw
"""
ROADS = {
    "orin-nano": ("open", ""),
    "orin-nano-half": ("open", ""),
    "orin-nano-left-over-status": ("refused", "A BootChainFwStatus is left over"),
    "orin-nano-super": ("super", "The running bootloader is Super already."),
    "orin-nano-super-25w": ("super", "The running bootloader is Super already."),
    "orin-nano-super-15w": ("super", "The running bootloader is Super already."),
    "orin-nano-conf-behind": ("super", "The running bootloader is Super already."),
    "orin-nano-other-slot": ("super", "run the role again with super_mode_other_slot: true"),
    "orin-nano-emc-held": ("super", "The running bootloader is Super already."),
    "orin-nano-r35": ("refused", "This is L4T 35.4.1"),
    "orin-nano-r39": ("super", "The running bootloader is Super already."),
    "orin-nano-4gb-super": ("super", "The running bootloader is Super already."),
    "orin-nx-8gb-super": ("super", "The running bootloader is Super already."),
    "orin-nx-16gb-super": ("super", "The running bootloader is Super already."),
    "orin-nx-16gb": ("refused", "This is an Orin NX 16GB (3767-0000)"),
    "orin-nx-16gb-half": ("refused", "This is an Orin NX 16GB (3767-0000)"),
    "agx-orin": ("refused", "This is an AGX Orin"),
    "thor": ("refused", "This is an AGX Thor"),
    "unknown-board": ("refused", "This is no board that rerig knows"),
}


def progress(bench: Bench) -> dict[str, Any]:
    """As the role's module asks, by a board with one drive."""
    for path, text in (
        ("/proc/self/mountinfo", MOUNTS),
        ("/sys/class/block/nvme0n1p1/uevent", "DEVTYPE=partition\nPARTNAME=APP\n"),
        ("/sys/class/block/nvme0n1p10/uevent", "DEVTYPE=partition\nPARTNAME=esp\n"),
    ):
        bench.path(path).parent.mkdir(parents=True, exist_ok=True)
        bench.path(path).write_text(text, "utf-8")
    evidence = collect(bench.root, lambda argv: (0, bench.done(NVBOOTCTRL, *argv[1:])))
    return judge_progress(evidence, collect_road(bench.root, "/boot/efi", SUPER_CAPSULE))


def test_every_board_has_its_row() -> None:
    assert set(ROADS) == set(PERSONALITIES)


@pytest.mark.parametrize("name", ROADS)
def test_which_boards_may_take_the_road(name: str, make_bench: Make) -> None:
    state, sentence = ROADS[name]
    found = progress(make_bench(PERSONALITIES[name]))
    assert (found["state"], sentence in found["sentence"]) == (state, True), found["sentence"]


def test_a_capsule_that_was_cut_short_and_one_that_waits_already_bar_it(make_bench: Make) -> None:
    bench = make_bench(HALF)
    whole = bench.path(SUPER_CAPSULE).read_bytes()
    bench.path(SUPER_CAPSULE).write_bytes(whole[:-1])
    bench.path(CAPSULES).mkdir(parents=True)
    (bench.path(CAPSULES) / "other.Cap").write_bytes(whole)
    closed = [gate["name"] for gate in progress(bench)["gates"] if not gate["passed"]]
    assert closed == ["no_other_capsule", "capsule"]


def test_the_specs_of_a_board_are_known_as_they_are_and_as_they_shall_be(make_bench: Make) -> None:
    assert progress(make_bench(PLAIN))["specs"] == {
        "TNSPEC": [
            "3767-301-0005-M.1-1-1-jetson-orin-nano-devkit-",
            "3767-301-0005-M.1-1-1-jetson-orin-nano-devkit-super-",
        ],
        "COMPATIBLE_SPEC": [
            "3767--0005--1--jetson-orin-nano-devkit-",
            "3767--0005--1--jetson-orin-nano-devkit-super-",
        ],
    }
