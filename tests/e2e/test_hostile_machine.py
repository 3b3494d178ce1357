"""Servers that stop answering, tools that lie, signals and closed streams, full disks and damaged run directories."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from hanging_fuse import HangingFuse
from real_mounts import RealMounts
from rerig.documents import load_valid_document
from rerig.errors import UserError
from rerig.rerun import rebuild
from waiting import wait_for

pytestmark = pytest.mark.slow

MIB = 2**20
SUITE = """\
format: rerig-suite
format_version: "1.0"
name: short
version: "1.0"
title: one short read by each tool
scratch_bytes: 16777216
cases:
  - {name: dd, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {default: 4294967296}, repeats: 2,
     limit_s: 1}
  - {name: fio, kind: fio_read, direct: true, block_bytes: 65536, pattern: random, queue_depth: 4,
     engines: [io_uring, libaio], runtime_limit_s: 8, repeats: 1}
"""


@pytest.fixture
def short(cli: Cli) -> Cli:
    (cli.directory / "short.yml").write_text(SUITE)
    return cli


def only_result(directory: Path) -> dict[str, Any]:
    (path,) = directory.glob("runs/*/result.json")
    return load_valid_document(path, "rerig-result")


def stub(cli: Cli, name: str, body: str) -> None:
    folder = cli.directory / "stubs"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + body + "\n")
    (folder / name).chmod(0o755)
    cli.environment["PATH"] = f"{folder}{os.pathsep}{cli.environment['PATH']}"


@pytest.mark.root
def test_a_server_that_stops_answering_costs_its_own_cases_only(short: Cli, model: Path) -> None:
    point = short.directory / "nas"
    point.mkdir()
    with HangingFuse(point, 8 * MIB, answered_bytes=3 * MIB) as server:
        done = short.run("rerun", "--suite", "./short.yml", "--path", str(server.path), "--path", str(model))
    assert "did not answer in time" in done.stderr
    assert "can't be killed before the mount answers" in done.stderr
    cases = {case["id"]: case for case in only_result(short.directory)["cases"]}
    assert cases["dd.t1"]["reason"]["code"] == "timed_out"
    assert cases["fio.t1"]["status"] == "skipped"
    assert {cases[name]["status"] for name in ("dd.t2", "fio.t2")} == {"measured"}


@pytest.mark.parametrize("body", ["exit 0", "echo /home/personname/fio: no such library >&2; exit 127"])
def test_a_fio_that_does_not_run_costs_its_own_cases_only(short: Cli, model: Path, body: str) -> None:
    stub(short, "fio", body)
    result = short.result("--suite", "./short.yml", "--path", str(model))
    assert [(case["status"], (case["reason"] or {}).get("code")) for case in result["cases"]] == [
        ("measured", None),
        ("skipped", "fio_broken"),
    ]
    assert "personname" not in json.dumps(result)


RECORDS_ONLY = "echo '48+1 records in' >&2; echo '48+1 records out' >&2"


@pytest.mark.parametrize("says", ["exit 0", "echo bananas >&2", RECORDS_ONLY])
def test_a_run_without_a_single_figure_fails_although_its_tools_did_not(bare_cli: Cli, model: Path, says: str) -> None:
    (bare_cli.directory / "short.yml").write_text(SUITE)
    stub(bare_cli, "dd", f'[ "$1" = --version ] && echo "dd (coreutils) 9.1" && exit; {says}')
    bare_cli.run("rerun", "--suite", "./short.yml", "--path", str(model), status=1)
    case = only_result(bare_cli.directory)["cases"][0]
    assert case["reason"]["code"] == "tool_output_unreadable"
    assert ("GNU" in case["reason"]["sentence"]) == (says == RECORDS_ONLY)


def test_no_more_is_read_than_size_allows(cli: Cli, model: Path) -> None:
    cases = cli.result("--path", str(model), "--size", "1M", "--repeats", "1")["cases"]
    assert [case["id"] for case in cases if case["status"] == "skipped"] == ["dd-8m.t1", "reread-250m.t1"]
    assert all(repeat["bytes"] <= MIB for case in cases for repeat in case["repeats"])


def started(cli: Cli, *words: str, heed: Callable[[], object] | None = None) -> subprocess.Popen[str]:
    """rerig, a process group of its own as a terminal makes it, that has begun to read."""
    process = subprocess.Popen(
        cli.argv("rerun", *words),
        cwd=cli.directory,
        env=cli.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed,
    )
    wait_for(lambda: any('"repeat-start"' in path.read_text() for path in cli.directory.glob("runs/*/journal.jsonl")))
    return process


def test_ctrl_c_twice_at_a_terminal_still_cleans_up(cli: Cli) -> None:
    process = started(cli, "--size", "512M")
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)
    _out, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode == 128 + signal.SIGINT
    assert list(cli.directory.rglob("rerig-scratch-*")) == []
    assert only_result(cli.directory)["run"]["stopped_by"] == "signal"


def test_nohup_is_respected(short: Cli) -> None:
    process = started(short, "--suite", "./short.yml", heed=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert only_result(short.directory)["run"]["complete"]


def test_exit_statuses_survive_a_parent_that_ignores_its_children(short: Cli) -> None:
    process = started(short, "--suite", "./short.yml", heed=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert {case["status"] for case in only_result(short.directory)["cases"]} == {"measured"}


def closed(*descriptors: int) -> Callable[[], None]:
    """What a shell's ``2>&-`` does to a program."""

    def close() -> None:
        for descriptor in descriptors:
            os.close(descriptor)

    return close


@pytest.mark.parametrize("descriptors", [(2,), (1, 2), (0, 1, 2)])
def test_a_run_goes_on_with_closed_streams(short: Cli, descriptors: tuple[int, ...]) -> None:
    process = started(short, "--suite", "./short.yml", heed=closed(*descriptors))
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert only_result(short.directory)["run"]["complete"]


def test_a_run_goes_on_when_nobody_reads_its_progress(short: Cli) -> None:
    process = short.start("rerun", "--suite", "./short.yml")
    assert process.stderr is not None
    process.stderr.readline()
    process.stderr.close()  # as '| head -n 1' does
    assert process.stdout is not None
    assert "Verdict" in process.stdout.read()
    process.stdout.close()
    assert process.wait(60) == 0
    assert only_result(short.directory)["run"]["complete"]
    assert list(short.directory.rglob("rerig-scratch-*")) == []


def test_a_killed_agent_is_said_and_what_it_measured_is_built(short: Cli, model: Path) -> None:
    process = started(short, "--size", "512M")
    (journal,) = short.directory.glob("runs/*/journal.jsonl")
    os.kill(json.loads(journal.read_text().splitlines()[0])["pid"], signal.SIGKILL)
    _out, errors = process.communicate(timeout=60)
    assert process.returncode == 75
    assert "The agent was killed by signal 9. What it had measured is kept: ./inv rerun --resume runs/" in errors
    assert only_result(short.directory)["run"]["stopped_by"] == "killed"
    short.run("results.rebuild", str(journal.parent))


def test_a_deleted_current_directory_is_one_sentence(short: Cli) -> None:
    gone = short.directory / "gone"
    gone.mkdir()

    def leave() -> None:
        os.chdir(gone)
        gone.rmdir()

    process = subprocess.run(
        short.argv("rerun"), env=short.environment, capture_output=True, text=True, preexec_fn=leave, timeout=60
    )
    assert process.returncode == 1
    assert process.stderr == "./inv: The current directory was deleted: go to another one first.\n"


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    with RealMounts() as mounts:
        disk = mounts.ext4_on_loop(tmp_path / "small.img", tmp_path / "small", 8 * MIB)
        with (disk / "filler").open("wb") as file:
            with contextlib.suppress(OSError):
                while True:
                    os.write(file.fileno(), bytes(4096))
            os.ftruncate(file.fileno(), file.tell() - 5 * 4096)
        yield disk


@pytest.mark.root
def test_a_disk_that_fills_under_the_run_directory_is_one_sentence(short: Cli, model: Path, full_disk: Path) -> None:
    words = ["--suite", "./short.yml", "--path", str(model), "--out", str(full_disk / "runs")]
    done = short.run("rerun", *words, status=1)
    assert "No space left on device" in done.stderr


@pytest.fixture
def run_dir(short: Cli, model: Path) -> Path:
    short.run("rerun", "--suite", "./short.yml", "--path", str(model))
    (path,) = short.directory.glob("runs/*/result.json")
    return path.parent


DAMAGES = ["", "[]", "null", '"x"', "{}", '{"format": "rerig-plan", "cases": [3]}', "\xff", "NaN", "[" * 20000]
FILES = ["plan.json", "targets.json", "conditions-after.json", "journal.jsonl", "cases/dd.t1/r1/record.json"]


def problem(run_dir: Path) -> str | None:
    """The sentence about a run directory that can't be built."""
    try:
        rebuild(run_dir)
    except UserError as error:
        return str(error)
    return None


def test_no_damage_to_a_run_directory_is_more_than_one_sentence(short: Cli, run_dir: Path) -> None:
    for name in [*FILES, "cases/dd.t1/r1/stderr", "cases/fio.t1/r1/fio.json"]:
        file = run_dir / name
        whole = file.read_bytes()
        for damage in DAMAGES:
            file.write_bytes(damage.encode("latin-1"))
            assert len((problem(run_dir) or "").splitlines()) <= 1, (name, damage)
        file.unlink()
        assert (problem(run_dir) is None) == (name != "plan.json"), name
        file.write_bytes(whole)
    assert problem(run_dir) is None
    (run_dir / "plan.json").write_text("[]")
    assert "its plan.json is no plan" in short.run("results.rebuild", str(run_dir), status=1).stderr
