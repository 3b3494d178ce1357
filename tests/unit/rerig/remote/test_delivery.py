"""The program that brings the agent to a machine, run by a Python of this one."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote import delivery, errands
from rerig.zipapp import agent_bytes


def deliver(*places: Path, run_id: str = "") -> dict[str, Any]:
    """What the program says, its objects made one."""
    program = delivery.delivery(run_id, [str(place) for place in places])
    done = subprocess.run([sys.executable, "-I", "-S", "-B", "-"], input=program, capture_output=True, check=True)
    assert done.stderr == b""
    _, said = done.stdout.decode("ascii").split(f"\n{delivery.MARK}\n")
    return {key: value for line in said.splitlines() for key, value in json.loads(line).items()}


def test_the_agent_is_put_there_once_and_for_this_user_alone(tmp_path: Path) -> None:
    place = tmp_path / "a b" / "rerig"
    first, second = deliver(place), deliver(place)
    agent = Path(first["agent"])
    assert agent.parent == place / "agents"
    assert agent.read_bytes() == agent_bytes()
    assert (first["found"], first["failed"]) == (False, None)
    assert second["found"] is True
    assert "failed" not in second
    assert second["agent"] == first["agent"]
    for path, mode in ((place, 0o700), (place / "runs", 0o700), (place / "agents", 0o700), (agent, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert [path.name for path in agent.parent.iterdir()] == [agent.name]


def test_an_agent_that_was_changed_is_replaced(tmp_path: Path) -> None:
    agent = Path(deliver(tmp_path / "rerig")["agent"])
    agent.write_bytes(b"print('another one')")
    assert deliver(tmp_path / "rerig")["failed"] is None
    assert agent.read_bytes() == agent_bytes()


def test_the_next_place_is_taken_where_the_first_can_not_be_used(tmp_path: Path) -> None:
    (tmp_path / "in the way").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    found = deliver(tmp_path / "in the way" / "rerig", tmp_path / "link", tmp_path / "rerig")
    assert found["state_dir"] == str(tmp_path / "rerig")
    assert [place for place, _ in found["refused"]] == [str(tmp_path / "in the way" / "rerig"), str(tmp_path / "link")]


def test_without_a_place_nothing_is_put_and_each_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "in the way").touch()
    found = deliver(tmp_path / "in the way")
    assert found["state_dir"] is None
    assert found["refused"] == [[str(tmp_path / "in the way"), "it is not this user's directory"]]
    assert "agent" not in found


def test_an_earlier_run_is_found_in_whichever_place_it_lies(tmp_path: Path) -> None:
    places = [tmp_path / "one", tmp_path / "two"]
    assert deliver(places[1], run_id="20261201T000000Z-0a0b0c")["run_dir"] is None
    run_dir = places[1] / "runs" / "20261201T000000Z-0a0b0c"
    run_dir.mkdir()
    assert deliver(*places, run_id=run_dir.name)["run_dir"] is None
    (run_dir / "plan.json").touch()
    assert deliver(*places, run_id=run_dir.name)["run_dir"] == str(run_dir)
    assert deliver(*places)["run_dir"] is None


def test_it_chooses_as_the_first_look_does() -> None:
    """They share the errand, which looks where it always does unless places are named."""
    program = delivery.delivery().decode("ascii")
    assert errands.LOOK in program
    words = next(line for line in program.splitlines() if line.startswith("WORDS = "))
    assert '\\"places\\": []' in words


def test_it_can_not_be_written_where_there_is_no_room(tmp_path: Path) -> None:
    delivery.write_delivery(tmp_path / "deliver.py")
    assert (tmp_path / "deliver.py").read_bytes() == delivery.delivery()
    with pytest.raises(UserError, match=r"can't be written: No such file or directory\.$"):
        delivery.write_delivery(tmp_path / "none" / "deliver.py")
    if os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        with pytest.raises(UserError, match="No space left on device"):
            delivery.write_delivery(Path("/dev/full"))
