"""How the twin is started: by this Python, from the folder of the tests alone, with its exit status and its signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rerig.tasks import twin as tasks
from rerig.upkeep import twin
from waiting import wait_for

SOURCES = Path(__file__).resolve().parents[4] / "src"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose twin is another program."""
    (tmp_path / "tests" / "twin").mkdir(parents=True)
    (tmp_path / "tests" / "twin" / "__init__.py").touch()
    monkeypatch.setattr(twin, "ROOT", tmp_path)
    return tmp_path


def program(clone: Path, text: str) -> None:
    (clone / "tests" / "twin" / "__main__.py").write_text(text, "utf-8")


def test_the_twin_gets_its_words_and_its_status_comes_back(clone: Path) -> None:
    program(clone, "import sys; sys.exit(7 if sys.argv[1:] == ['ssh', '--', 'a b', ''] else 1)")
    assert twin.run_twin(["ssh", "--", "a b", ""]) == 7


def test_nothing_of_the_current_folder_or_of_pythonpath_is_imported(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "twin.py").write_text("raise SystemExit(1)", "utf-8")
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PYTHONPATH", str(elsewhere))
    program(clone, "import sys; sys.exit(9 if sys.path[1:] and 'elsewhere' not in ' '.join(sys.path) else 2)")
    assert twin.run_twin([]) == 9


def test_a_twin_that_a_signal_ends_has_a_shells_status(clone: Path) -> None:
    program(clone, "import os; os.kill(os.getpid(), 9)")
    assert twin.run_twin([]) == 137


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_the_twins_to_handle(clone: Path, number: signal.Signals) -> None:
    """It stops its machine before it ends, and as long is waited."""
    program(
        clone,
        "import pathlib, signal, sys\n"
        "for number in (1, 2, 15): signal.signal(number, lambda number, frame: sys.exit(40 + number))\n"
        f"pathlib.Path({str(clone / 'started')!r}).touch()\n"
        "while True: signal.pause()\n",
    )
    start = f"import pathlib, sys; from rerig.upkeep import twin; twin.ROOT = pathlib.Path({str(clone)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{start}; sys.exit(twin.run_twin([]))"], env={**os.environ, "PYTHONPATH": str(SOURCES)}
    )
    wait_for((clone / "started").exists)
    process.send_signal(number)
    assert process.wait(timeout=60) == 40 + number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "import sys; print('twin: qemu is missing; get it.', file=sys.stderr); sys.exit(1)",
            "qemu is missing; get it.",
        ),
        ("import sys; sys.exit(0 if sys.argv[1:] == ['check'] else 1)", ""),
        ("import sys; sys.exit(3)", "its check ended with status 3"),
    ],
)
def test_what_is_missing_is_said_by_the_twin_itself(clone: Path, text: str, reason: str) -> None:
    program(clone, text)
    assert twin.missing_for_twin() == reason


MACHINE = {"arch": "arm64", "nvme": ["1G", "2G:ext4"], "l4t": "orin"}


@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        ("build", {"arch": "arm64"}, ["build", "--arch", "arm64"]),
        ("boot", {"nvme": []}, ["boot", "--arch", "amd64", "--name=twin"]),
        (
            "restore",
            {**MACHINE, "name": "two"},
            ["restore", "--arch", "arm64", "--name=two", "--l4t=orin", "--nvme=1G", "--nvme=2G:ext4"],
        ),
        ("ssh", {}, ["ssh", "--name", "twin", "--", "a b", "--", ""]),
        ("snapshot", {}, ["snapshot", "--arch", "amd64"]),
        ("stop", {"name": "two"}, ["stop", "--name", "two"]),
        ("stop", {"all": True}, ["stop", "--all"]),
        ("run", {"nvme": ["1G"]}, ["run", "--arch", "amd64", "--nvme=1G", "--", "a b", "--", ""]),
    ],
)
def test_each_task_is_one_command_of_the_twin(
    task: str, options: dict[str, Any], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(twin, "run_twin", lambda words: seen.append(list(words)) or 5)
    monkeypatch.setattr(tasks, "arguments", lambda context: ["a b", "--", ""])
    with pytest.raises(SystemExit) as ended:
        getattr(tasks, task).body(None, **options)
    assert (seen, ended.value.code) == ([words], 5)


def test_a_task_that_went_well_lets_the_next_one_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin, "run_twin", lambda words: 0)
    tasks.build.body(None)
