"""The twin's command line: its words, its sentences, its exit statuses; nothing here starts a machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from twin import __main__ as program
from twin import commands
from twin.errors import TwinError
from waiting import wait_for

TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Namespace]:
    """What the commands were called with."""
    seen: list[Namespace] = []
    for name in ("check", "build", "snapshot", "boot_named", "restore_named", "ssh", "stop", "run"):
        monkeypatch.setattr(commands, name, lambda words: seen.append(words) or 0)
    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    return seen


def words(seen: list[Namespace], *argv: str) -> dict[str, Any]:
    assert program.main(argv) == 0
    return {key: value for key, value in vars(seen.pop()).items() if key != "command"}


def test_a_command_takes_its_own_words_and_leaves_those_beyond_the_dashes(seen: list[Namespace]) -> None:
    assert words(seen, "build") == {"arch": "amd64", "words": []}
    assert words(seen, "ssh", "--name", "b", "--", "a b", "", "--name", "--", "-x") == {
        "name": "b",
        "user": "root",
        "words": ["a b", "", "--name", "--", "-x"],
    }
    assert words(seen, "run", "--arch", "arm64", "--nvme=1G", "--nvme=2G", "--l4t=orin", "--", "true") == {
        "arch": "arm64",
        "nvme": ["1G", "2G"],
        "l4t": "orin",
        "words": ["true"],
    }


@pytest.mark.parametrize("argv", [[], ["fly"], ["boot", "--na", "x"], ["run", "true"], ["stop", "twin"]])
def test_words_that_make_no_sense_are_refused_with_status_2(argv: list[str], seen: list[Namespace]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(argv)
    assert ended.value.code == 2
    assert seen == []


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["run"], "twin.run needs a command"),
        (["run", "--nvme", "1x", "--", "true"], "The disk '1x' can't be read"),
        (["run", "--nvme=1G", "--nvme=1G", "--nvme=1G", "--", "true"], "takes 2 NVMe disks, and 3 were asked for"),
        (["boot", "--arch", "mips"], "There is no twin for 'mips'"),
        (["restore", "--name", "../x"], "'../x' isn't"),
        (["ssh"], "No twin named twin runs"),
    ],
)
def test_what_the_user_can_mend_is_one_sentence_and_starts_nothing(
    argv: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("something was started")

    monkeypatch.setenv("RERIG_TWIN_CACHE", str(tmp_path))
    for name in ("boot", "restore"):
        monkeypatch.setattr(commands, name, start)
    for name in ("built_image", "booted_snapshot"):
        monkeypatch.setattr(commands, name, lambda architecture: None)
    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    assert program.main(argv) == 1
    out, errors = capsys.readouterr()
    assert (out, errors.count("\n")) == ("", 1)
    assert errors.startswith("twin: ")
    assert sentence in errors


def test_that_none_runs_is_no_failure_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RERIG_TWIN_CACHE", str(tmp_path))
    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    assert program.main(["stop"]) == 0
    assert program.main(["stop", "--all"]) == 0
    assert capsys.readouterr().out == "The twin twin was not running.\n"


@pytest.mark.parametrize("missing", ["qemu-system-aarch64", "mmdebstrap"])
def test_a_missing_tool_is_named_by_the_check(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {"qemu-system-x86_64", "qemu-system-aarch64", *commands.BUILDING} - {missing}:
        (tmp_path / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(TwinError, match=rf"^{missing} is missing; .*apt-get install --no-install-recommends "):
        commands.check(Namespace())
    (tmp_path / missing).symlink_to("/bin/true")
    assert commands.check(Namespace()) == 0
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(TwinError, match="takes root"):
        commands.check(Namespace())


@pytest.mark.parametrize("number", program.STOPPING)
def test_a_signal_ends_a_command_after_it_has_tidied_up(number: signal.Signals, tmp_path: Path) -> None:
    """A second one, of an impatient user, does not disturb that."""
    ready, tidied = tmp_path / "ready", tmp_path / "tidied"
    text = f"""
import os, pathlib, signal, sys
from twin import __main__ as program, commands
def build(words):
    try:
        pathlib.Path({str(ready)!r}).touch()
        signal.pause()
    finally:
        os.kill(os.getpid(), {number})
        pathlib.Path({str(tidied)!r}).touch()
commands.build = build
sys.exit(program.main(["build"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": str(TESTS)}, stderr=subprocess.PIPE, text=True
    )
    wait_for(ready.exists)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, "twin: interrupted.\n")
    assert tidied.exists()
