"""After a container this machine is as it was before, however the one who started it ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fast_traces import Traces, machine_state
from twin.container import Container
from twin.errors import TwinError
from twin.loop_disk import LoopDisk
from waiting import wait_for

pytestmark = pytest.mark.root
TESTS = Path(__file__).resolve().parents[1]
KINDS = {"processes", "link", "groups", "loop", "sockets"}  # never a mount: these are seen in its own namespace alone
# Starts a container that uses a disk, says its name, and goes on until it is ended.
STARTER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from twin.container import Container
from twin.errors import TwinError
from twin.loop_disk import LoopDisk
folder = Path(sys.argv[2])
with LoopDisk(folder / "disk.img", 64 * 2**20) as disk, Container(folder / "container", [disk]) as container:
    container.wait_ready()
    container.shell.script(f"mkfs.ext4 -q {disk.device}; mount {disk.device} /mnt; echo x > /mnt/file")
    disk.limit(bps_read=2**20)
    container.shell.run(["systemd-run", "sleep", "infinity"])
    print(container.name, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files with a short name, since sockets will be in it."""
    folder = Path(tempfile.mkdtemp(prefix="rerig-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


def test_nothing_is_left_after_a_stop(container_tree: Path, tmp_path: Path, temporary: Path) -> None:
    before = machine_state()
    with LoopDisk(tmp_path / "disk.img", 2**20) as disk, Container(tmp_path / "container", [disk]) as container:
        container.wait_ready()
        traces = Traces(container.name, tmp_path, temporary)
        assert set(traces.found()) == KINDS
        container.stop()
        assert set(traces.found()) == {"loop"}
    assert traces.found() == {}
    assert machine_state() == before


def test_nothing_is_left_of_one_that_can_not_start(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nothing").mkdir()
    monkeypatch.setattr("twin.container.amd64_tree", lambda: tmp_path / "nothing")
    monkeypatch.setattr("twin.container.secrets.token_hex", lambda _: "notatree")
    with pytest.raises(TwinError, match=r"^The container rerig-notatree does not start: Adding the twin's user failed"):
        Container(tmp_path / "container")
    assert Traces("rerig-notatree", tmp_path, temporary).found() == {}


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_nothing_is_left_after_the_death_of_who_started_it(
    container_tree: Path, tmp_path: Path, temporary: Path, number: signal.Signals
) -> None:
    before = machine_state()
    words = [sys.executable, "-I", "-B", "-c", STARTER, str(TESTS), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as starter:
        try:
            assert starter.stdout
            name = starter.stdout.readline().strip()
            assert name, starter.communicate()[1]
            traces = Traces(name, tmp_path, temporary)
            assert set(traces.found()) == KINDS
            starter.send_signal(number)
            starter.wait(60)
        finally:
            starter.kill()
    wait_for(lambda: not traces.found())
    assert machine_state() == before


@pytest.mark.slow
def test_no_process_outlives_the_killed_keeper(container_tree: Path, tmp_path: Path, temporary: Path) -> None:
    with Container(tmp_path / "container") as container:
        container.wait_ready()
        traces = Traces(container.name, tmp_path, temporary)
        os.kill(container.process, signal.SIGKILL)
        wait_for(lambda: not container.runs)
        container.shell.disconnect()
        wait_for(lambda: set(traces.found()) <= {"groups", "sockets"})
    assert set(traces.found()) <= {"groups"}
    for path in traces.found()["groups"]:
        subprocess.run(["find", path, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"], check=True)
