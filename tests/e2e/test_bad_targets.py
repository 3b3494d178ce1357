"""Files that can't be measured, odd names and odd places: one clear sentence, and the others are measured."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli

MIB = 2**20


def bad_target(kind: str, directory: Path) -> Path:
    """One thing that is no file to measure."""
    path = directory / ("bad-" + kind)
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "link":
        path.symlink_to(directory / "nowhere")
    elif kind == "empty":
        path.touch()
    elif kind == "tiny":
        path.write_bytes(b"x" * 100)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(64 * MIB)
    elif kind == "device":
        return Path("/dev/zero")
    return path


KINDS = ["directory", "fifo", "socket", "link", "empty", "tiny", "sparse", "device", "missing"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_not_be_measured_is_one_sentence_and_a_failure(cli: Cli, kind: str) -> None:
    path = bad_target(kind, cli.directory)
    done = cli.run("rerun", "--path", str(path), status=1)
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert path.name in done.stderr
    assert not (cli.directory / "runs").exists()


def test_the_others_are_still_measured(cli: Cli, model: Path) -> None:
    words = ["--repeats", "1"]
    for kind in KINDS:
        words += ["--path", str(bad_target(kind, cli.directory))]
    done = cli.run("rerun", "--json", *words, "--path", str(model))
    assert len([line for line in done.stderr.splitlines() if "bad-" in line or "zero" in line]) >= len(KINDS)
    import json

    result: dict[str, Any] = json.loads(done.stdout)
    assert sum("refusal" in target for target in result["targets"]) == len(KINDS)
    assert {case["status"] for case in result["cases"]} == {"measured"}


NAMES = [
    "a b",
    "it's",
    'say "hi"',
    "a:b",
    "a\nb",
    "-rf",
    "한글 모델",
    "x" * 255,
    "a\\:b",
    "$ncpus",
    " blank ends ",
    "a,b;c#d",
    "[glob]*?",
    "%s{0}",
    "~root",
    "10.0.0.1",
    "aa:bb:cc:dd:ee:ff",
]


SUITE = """\
format: rerig-suite
format_version: "1.0"
name: names
version: "1.0"
title: one read by each tool
scratch_bytes: 67108864
cases:
  - {name: dd, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {default: 4294967296}, repeats: 1}
  - {name: fio, kind: fio_read, direct: true, block_bytes: 65536, pattern: random, queue_depth: 4,
     engines: [io_uring, libaio], runtime_limit_s: 8, repeats: 1}
"""


@pytest.mark.slow
def test_any_file_name_is_measured_by_dd_and_fio(cli: Cli) -> None:
    (cli.directory / "names.yml").write_text(SUITE)
    folder = cli.directory / "with space: and colon"
    folder.mkdir()
    names = [*NAMES, os.fsdecode(b"m\xff\xfe.gguf")]
    words = []
    for name in names:
        (folder / name).write_bytes(os.urandom(5 * MIB + len(name)))
        words.append(f"--path={folder / name}")
    (cli.directory / "link").symlink_to(folder / NAMES[0])
    result = cli.result("--suite", "./names.yml", *words, "--path", "link")
    assert len(result["cases"]) == 2 * (len(names) + 1)
    assert [case["id"] for case in result["cases"] if case["status"] != "measured"] == []
    labels = [target["label"] for target in result["targets"]]
    assert all(label.isprintable() for label in labels)
    assert "m\\xff\\xfe.gguf" in labels
    assert result["targets"][-1]["size_bytes"] == 5 * MIB + len(NAMES[0])


@pytest.fixture
def memory_disk(tmp_path: Path) -> Iterator[Path]:
    mount_point = tmp_path / "ram"
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(mount_point)], check=True)
    try:
        yield mount_point
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)


@pytest.mark.root
def test_memory_is_no_disk(cli: Cli, memory_disk: Path) -> None:
    (memory_disk / "m.gguf").write_bytes(os.urandom(9 * MIB))
    done = cli.run("rerun", "--path", str(memory_disk / "m.gguf"), status=1)
    assert "tmpfs" in done.stderr
    done = cli.run("rerun", "--scratch", str(memory_disk), "--size", "16M", status=1)
    assert "tmpfs" in done.stderr
    assert list(memory_disk.iterdir()) == [memory_disk / "m.gguf"]


@pytest.fixture
def loop_disk(tmp_path: Path) -> Iterator[Path]:
    """An ext4 file system of 600 MB on a loop device."""
    image, mount_point = tmp_path / "disk.img", tmp_path / "disk"
    mount_point.mkdir()
    subprocess.run(["fallocate", "-l", "600M", str(image)], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mount_point)], check=True)
    try:
        yield mount_point
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)


@pytest.mark.root
@pytest.mark.slow
def test_two_file_systems_stand_side_by_side(cli: Cli, model: Path, loop_disk: Path) -> None:
    second = loop_disk / "b.safetensors"
    second.write_bytes(os.urandom(48 * MIB))
    os.sync()
    done = cli.run("rerun", "--path", str(model), "--path", str(second), "--repeats", "2")
    assert "t2/t1" in done.stdout
    assert "loop device" in done.stdout


@pytest.mark.root
def test_a_full_disk_is_told_before_a_byte_is_written(cli: Cli, loop_disk: Path) -> None:
    done = cli.run("rerun", "--scratch", str(loop_disk), "--size", "1G", status=None)
    assert done.returncode == 1
    assert "free space" in done.stdout + done.stderr
    assert [path.name for path in loop_disk.iterdir()] == ["lost+found"]


@pytest.mark.root
def test_a_read_only_disk_is_one_sentence(cli: Cli, loop_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(loop_disk)], check=True)
    done = cli.run("rerun", "--scratch", str(loop_disk), "--size", "16M", status=1)
    assert "write" in done.stderr
    done = cli.run("rerun", "--out", str(loop_disk / "runs"), "--size", "16M", status=1)
    assert "--out" in done.stderr
