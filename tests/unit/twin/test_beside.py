"""A command of this machine beside a twin: what it finds in its environment, and how it ends."""

from __future__ import annotations

import configparser
import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from twin import beside
from twin.errors import TwinError
from waiting import wait_for


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("RERIG_TWIN_CACHE", str(tmp_path / "cache"))
    config = tmp_path / "ssh config"
    config.write_text("Host twin\n    Port 2201\n", "utf-8")
    return SimpleNamespace(name="run-1", folder=tmp_path, shell=SimpleNamespace(config=config))


def test_a_command_finds_the_machine_as_the_host_twin(machine: Any, tmp_path: Path) -> None:
    show = (
        f"import json, os, pathlib; pathlib.Path({str(tmp_path / 'seen')!r}).write_text(json.dumps(dict(os.environ)))"
    )
    assert beside.run([sys.executable, "-c", show], beside.environment(machine)) == 0
    seen = json.loads((tmp_path / "seen").read_text("utf-8"))
    assert seen["RERIG_TWIN_HOST"] == "twin"
    assert seen["RERIG_TWIN_SSH_CONFIG"] == str(machine.shell.config)
    assert seen["ANSIBLE_SSH_COMMON_ARGS"] == f"-F '{machine.shell.config}'"
    assert Path(seen["HOME"], ".ssh", "config").read_text("utf-8") == machine.shell.config.read_text("utf-8")
    assert seen["RERIG_TWIN_CACHE"] == str(tmp_path / "cache")  # another home would hide it


def test_ansible_reads_the_inventory(machine: Any) -> None:
    inventory = beside.environment(machine)["ANSIBLE_INVENTORY"]
    parser = configparser.RawConfigParser(delimiters=(" ",))
    parser.read_string("[hosts]\n" + Path(inventory).read_text("utf-8"))
    assert dict(parser["hosts"]) == {"twin": "ansible_python_interpreter=/usr/bin/python3"}


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_commands_status_is_ours(script: str, status: int) -> None:
    assert beside.run(["sh", "-c", script], {}) == status


def test_a_command_that_is_none_is_told() -> None:
    with pytest.raises(TwinError, match=r"^no-such-command can't be started: No such file or directory\.$"):
        beside.run(["no-such-command"], {})


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_an_interrupted_command_is_ended_also_if_it_does_not_want_to(
    trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[subprocess.Popen[bytes]] = []

    def interrupt(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if timeout is None and not processes:
            wait_for((tmp_path / "ready").exists)
            processes.append(process)
            raise KeyboardInterrupt
        return real_wait(process, timeout)

    real_wait = subprocess.Popen.wait
    monkeypatch.setattr(subprocess.Popen, "wait", interrupt)
    monkeypatch.setattr(beside, "ENDING_S", 0.2)
    with pytest.raises(KeyboardInterrupt):
        beside.run(["sh", "-c", f"{trap}touch {tmp_path}/ready; exec tail -f /dev/null"], {})
    [process] = processes
    assert process.returncode == (-signal.SIGKILL if trap else -signal.SIGTERM)
