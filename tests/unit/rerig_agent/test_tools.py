"""Which tools there are, as stub programs on PATH tell it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerig_agent import tools
from rerig_agent.tools import dd_name, fio_name, probe_tools


def stub(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n" + body + "\n")
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH beside the shell's own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("dd (coreutils) 9.1", "coreutils 9.1"),
        ("dd (GNU coreutils) 8.32", "coreutils 8.32"),
        ("dd (uutils coreutils) 0.2.2", "uutils coreutils 0.2.2"),
        ("dd 0.0.27", "dd 0.0.27"),
        ("BusyBox v1.36.1 (2024-01-01 00:00:00 UTC) multi-call binary.", "busybox 1.36.1"),
        ("dd (GNU coreutils) 9.4.29-3a6c", "coreutils 9.4.29"),
        ("dd (coreutils) 192.168.1.20", "coreutils 192.168.1"),
        ("dd (workstation) 9.4", "unknown"),
        ("rubbish", "unknown"),
    ],
)
def test_dd_is_named_by_its_first_line(line: str, name: str) -> None:
    assert dd_name(line) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("fio-3.33", "3.33"),
        ("fio-2.1.11", "2.1.11"),
        ("fio 3.1", "3.1"),
        ("fio-3.36-18-g1fc5-dirty", "3.36-18-g1fc5-dirty"),
        ("fio-3.36-workstation", "3.36"),
        ("fio-workstation", "unknown"),
    ],
)
def test_fio_is_named_by_its_first_line_without_what_a_builder_put_behind(line: str, name: str) -> None:
    assert fio_name(line) == name


def test_what_is_missing_is_none(folder: Path) -> None:
    assert probe_tools() == {"dd": None, "fio": None}


def test_fio_tells_its_version_and_engines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "io_uring_allowed", lambda: True)
    engines = r'printf "Available IO engines:\n\tlibaio\n\tio_uring\n"'
    stub(folder, "fio", f"case $1 in --version) echo fio-3.36;; *) {engines};; esac")
    assert probe_tools()["fio"] == {"version": "3.36", "engines": ["io_uring", "libaio"]}


def test_an_engine_that_the_kernel_forbids_is_not_offered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "io_uring_allowed", lambda: False)
    stub(folder, "fio", "case $1 in --version) echo fio-3.36;; *) echo libaio io_uring psync;; esac")
    assert probe_tools()["fio"]["engines"] == ["libaio", "psync"]


@pytest.mark.parametrize(
    "body", ["exit 0", "exit 127", 'echo "/home/person/bin/fio: error while loading shared libraries"; exit 127']
)
def test_a_tool_that_is_there_and_does_not_say_its_version_is_unknown(folder: Path, body: str) -> None:
    stub(folder, "dd", body)
    stub(folder, "fio", body)
    assert probe_tools() == {"dd": {"version": "unknown"}, "fio": {"version": "unknown", "engines": []}}


def test_tools_are_asked_in_the_c_locale(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "ko")
    stub(folder, "dd", 'echo "dd (coreutils) 9.$LC_ALL${LANGUAGE}"')
    assert probe_tools()["dd"] == {"version": "coreutils 9.C"}


def test_asking_for_io_uring_leaves_no_descriptor_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    tools.io_uring_allowed()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
