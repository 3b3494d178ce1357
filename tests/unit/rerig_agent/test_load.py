"""Load that ends whatever happens: at the end of the block, when the agent is killed, with all that it has begun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rerig_agent
from rerig_agent.load import EVENTS_NAME, under_load
from rerig_agent.load_keeper import CORE_NAME, MOST_OUTPUT, NAME, descendants
from waiting import wait_for

CPU = min(os.sched_getaffinity(0))
# Holds a load until it is killed itself: an agent in the middle of a repeat.
HOLDER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from rerig_agent.load import under_load
with under_load(Path(sys.argv[2]), [int(sys.argv[3])], sys.argv[4:]):
    time.sleep(1000)
"""


def events(directory: Path) -> list[dict[str, Any]]:
    text = (directory / EVENTS_NAME).read_text() if (directory / EVENTS_NAME).exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def names(directory: Path) -> list[str]:
    return [event["event"] for event in events(directory)]


def alive(mark: str) -> list[str]:
    """The command lines that hold a word, of processes that have not ended."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - names only
        if name.isdigit():
            try:
                words = Path("/proc", name, "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            except OSError:
                continue
            if mark in words:
                found.append(" ".join(words))
    return found


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """A word that no other process has."""
    return "mark-" + tmp_path.name + "-" + str(os.getpid())


def stays(mark: str) -> list[str]:
    """A command that leaves a process in a session of its own, whose parent has ended, and goes on itself."""
    return ["sh", "-c", "setsid sh -c 'sleep 1000; :' $0 & sleep 1000; :", mark]


def test_a_processor_is_busy_while_the_block_lasts_and_nothing_is_left_after_it(tmp_path: Path, mark: str) -> None:
    with under_load(tmp_path, [CPU], stays(mark)) as load:
        wait_for(lambda: "loaded" in names(tmp_path) and len(alive(mark)) == 3)  # with the keeper, whose words they are
        core = next(event for event in events(tmp_path) if event["event"] == "core")
        assert os.sched_getaffinity(core["pid"]) == {CPU}
        assert CORE_NAME in Path(f"/proc/{core['pid']}/cmdline").read_text().split("\0")
        assert alive(NAME)
        ticks = busy(core["pid"])
        wait_for(lambda: busy(core["pid"]) > ticks)
        assert load.is_on()
    assert load.clean
    assert not load.is_on()
    assert alive(mark) == []
    assert not Path(f"/proc/{core['pid']}").exists()


def busy(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_agent_that_is_killed_takes_the_load_along(tmp_path: Path, mark: str, number: int) -> None:
    source = str(Path(rerig_agent.__file__).resolve().parents[1])
    argv = [sys.executable, "-c", HOLDER, source, str(tmp_path), str(CPU), *stays(mark)]
    with subprocess.Popen(argv) as holder:
        try:
            wait_for(lambda: "loaded" in names(tmp_path) and len(alive(mark)) == 4)
        finally:
            holder.send_signal(number)
    core = next(event for event in events(tmp_path) if event["event"] == "core")
    wait_for(lambda: alive(mark) == [] and not Path(f"/proc/{core['pid']}").exists())


def test_a_keeper_that_is_killed_is_noticed_and_its_children_die(tmp_path: Path) -> None:
    with under_load(tmp_path, [CPU], None) as load:
        wait_for(lambda: "loaded" in names(tmp_path))
        core = next(event for event in events(tmp_path) if event["event"] == "core")
        os.kill(load._keeper.pid, signal.SIGKILL)
        wait_for(lambda: not load.is_on())
        wait_for(lambda: not Path(f"/proc/{core['pid']}").exists())
    assert not load.clean


def test_a_command_that_cannot_be_started_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    with under_load(tmp_path, [CPU], ["rerig-no-such-tool"]) as load:
        wait_for(lambda: "loaded" in names(tmp_path))
        assert load.is_on()
    assert load.clean
    (error,) = [event for event in events(tmp_path) if event["event"] == "gpu-error"]
    assert error["error"] == "No such file or directory"


def test_a_command_that_ends_is_told_with_its_status_and_what_it_printed(tmp_path: Path) -> None:
    with under_load(tmp_path, [], [sys.executable, "-c", "print('warm'); raise SystemExit(3)"]):
        wait_for(lambda: "gpu-end" in names(tmp_path))
    assert events(tmp_path)[-1]["status"] == 3
    assert (tmp_path / "stdout").read_text() == "warm\n"


def test_of_a_command_that_prints_without_end_the_beginning_is_kept(tmp_path: Path) -> None:
    chatty = "import sys\nfor _ in range(64): sys.stdout.write('x' * 8192)\nsys.stdout.flush()\n"
    with under_load(tmp_path, [], [sys.executable, "-c", chatty]):
        wait_for(lambda: "gpu-end" in names(tmp_path))
    assert (tmp_path / "stdout").stat().st_size == MOST_OUTPUT


def test_a_processor_that_is_not_there_is_told(tmp_path: Path) -> None:
    with under_load(tmp_path, [1023], None) as load:
        wait_for(lambda: "loaded" in names(tmp_path))
    assert load.clean
    assert names(tmp_path)[0] == "core-error"


def test_every_process_below_another_is_found() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 1000 & wait"]) as shell:
        try:
            wait_for(lambda: len(descendants(shell.pid)) == 1)
            assert shell.pid in descendants(os.getpid())
        finally:
            for pid in [*descendants(shell.pid), shell.pid]:
                os.kill(pid, signal.SIGKILL)
