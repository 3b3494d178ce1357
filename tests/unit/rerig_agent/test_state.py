"""The agent's look at a machine: ``state``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fake_machine import FakeMachine
from rerig_agent import state
from rerig_agent.__main__ import main


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["state", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_machine_s_state_is_one_json_document(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.write("/proc/device-tree/compatible", "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0")
    found = printed(capsys, "--root", str(machine.root))
    assert found["super"]["code"] == "agx"
    assert found["links"] == []
    assert found["evidence"]["jetson"]["nvbootctrl"] == {"error": "not_run"}


def test_this_machine_has_a_state(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys)
    assert found["super"]["verdict"] in {"super", "not_super", "partly", "unknown", "no_super_mode", "not_a_jetson"}
    assert isinstance(found["evidence"]["known_state"], dict)


def test_the_board_s_own_tools_are_asked_on_demand(
    machine: FakeMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.7\n")
    tool = machine.write("/tools/nvbootctrl", "#!/bin/sh\necho Current bootloader slot: B\necho $*\n")
    tool.chmod(0o755)
    monkeypatch.setattr(state, "PATH", str(tool.parent))
    found = printed(capsys, "--root", str(machine.root), "--tools")
    assert found["evidence"]["jetson"]["nvbootctrl"] == {"text": "Current bootloader slot: B\ndump-slots-info\n"}
    assert found["super"]["firmware"]["slot"] == "B"


def test_a_tool_that_is_missing_or_hangs_is_no_error(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = machine.write("/tools/nvbootctrl", "#!/bin/sh\nread -r line && exec /bin/cat\nexec tail -f /dev/null\n")
    tool.chmod(0o755)
    assert state.run_tool([str(machine.root / "nowhere")]) == (state.NOT_RUN, "")
    monkeypatch.setattr(state, "TOOL_LIMIT_S", 0.05)
    assert state.run_tool([str(tool)]) == (state.NOT_RUN, "")
