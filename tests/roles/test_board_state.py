"""The role board_state and its modules on this machine, which looks at boards in folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_plays import Controller, Played, path_before, stub
from twin.l4t.bench import Bench
from twin.l4t.personalities import HALF


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A board that says MAXN_SUPER and isn't Super."""
    return Bench(tmp_path_factory.mktemp("board") / "half", HALF)


def play(controller: Controller, tasks: list[dict[str, Any]], *flags: str, **extra: Any) -> Played:
    path = controller.directory / "tasks.yml"
    path.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]), "utf-8")
    return controller.play(path, *flags, **extra)


def module(name: str, show: str, **arguments: Any) -> list[dict[str, Any]]:
    """A module, and what is to be shown of what it ``found``."""
    return [{name: arguments, "register": "found"}, {"ansible.builtin.debug": {"msg": "{{ " + show + " }}"}}]


@pytest.mark.usefixtures("box")
@pytest.mark.parametrize("flags", [[], ["--check"]])
def test_the_judges_sentence_is_said_and_nothing_changes(controller: Controller, half: Bench, flags: list[str]) -> None:
    role = [{"ansible.builtin.import_role": {"name": "board_state"}}]
    played = play(controller, role, *flags, board_state_root=str(half.root))
    assert (played.status, played.recap()["changed"]) == (0, 0), played.output
    said = played.said("ok")[-1]["msg"]
    assert said[0].startswith("The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz")


@pytest.mark.usefixtures("box")
def test_one_look_tells_all_that_a_role_needs(controller: Controller, half: Bench) -> None:
    wanted = {"units": ["nvpmodel.service", "none.service"], "paths": ["/etc/nv_tegra_release", "/etc/none"]}
    look = {"root": str(half.root), "tools": False, **wanted}
    shown = (
        "found.keys() | list, found.super.verdict, found.known_state.default_target, found.fan, found.units, "
        "found.paths | dict2items | map(attribute='value.bytes') | list, found.evidence.nvpmodel_status, "
        "'cpuinfo' in found.evidence"
    )
    played = play(controller, module("board_state", shown, **look))
    assert played.status == 0, played.output
    names, verdict, target, fan, units, sizes, status, has_long = played.said("ok")[-1]["msg"]
    assert {"super", "evidence", "links", "memory_available_bytes", "swap_files", "user_id"} <= set(names)
    assert (verdict, target, fan) == ("not_super", "graphical.target", {"profile": "quiet", "default": "quiet"})
    assert units == {
        "nvpmodel.service": {"enabled": True, "runs": False},
        "none.service": {"enabled": False, "runs": False},
    }
    assert sizes == [len(half.read("/etc/nv_tegra_release")), None]
    assert (status.strip(), has_long) == ("pmode:0002 fmode:fan_mode_quiet", False)


@pytest.mark.usefixtures("box")
def test_a_folder_that_is_none_is_said(controller: Controller) -> None:
    played = play(controller, module("board_state", "found", root="/nowhere"))
    assert played.failure() == "There is no folder /nowhere to look below."


@pytest.mark.usefixtures("box")
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo 'NVPM ERROR: Error writing to file: 22'", "nvpmodel failed: Error writing to file: 22."),
        ("echo 'NVPM ERROR: request for bad power mode 2'", "nvpmodel's configuration has no such mode."),
        ("echo 'Running in chroot, ignoring request.'", "nvpmodel takes this for a chroot or a container and"),
        ("cat; exit 3", "nvpmodel failed: exit status 3."),
        ("exec tail -f /dev/null", "nvpmodel has not answered for 1 s."),
    ],
)
def test_no_exit_status_of_nvpmodel_is_believed(
    script: str, sentence: str, controller: Controller, tmp_path: Path
) -> None:
    stub(tmp_path / "bin", "nvpmodel", script)
    controller.path = path_before(tmp_path / "bin", controller.path)
    (controller.directory / "library").symlink_to(controller.clone / "roles/power_mode/library")
    task = {"id": 2, "name": "MAXN_SUPER", "timeout_s": 1 if "tail" in script else 60}
    played = play(controller, [{"set_power_mode": task}])
    assert played.failure().startswith(f"The power mode MAXN_SUPER can't be set: {sentence}")
