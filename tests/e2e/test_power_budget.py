"""A power budget on this machine, whatever sensors it has: measured, told, rebuilt, and ended with its load."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from rerig.documents import load_valid_document
from waiting import wait_for

SUITE = """\
format: rerig-suite
format_version: "1.0"
name: short-load
version: "1.0"
title: A load of two seconds
cases:
  - name: load-2s
    kind: power_budget
    load_s: {load_s}
    cool_s: 0
    gpu_load: null
    repeats: 1
"""
BURN = "import time; print('warm'); time.sleep(600)"


class Load:
    """rerig with a short suite, in a folder."""

    def __init__(self, cli: Cli, load_s: int = 2) -> None:
        self.cli = cli
        (cli.directory / "short.yml").write_text(SUITE.format(load_s=load_s))
        self.words = ["rerun", "--suite", "./short.yml"]

    @property
    def run_dir(self) -> Path:
        (path,) = self.cli.directory.glob("runs/*")
        return path

    def result(self) -> dict[str, Any]:
        return load_valid_document(self.run_dir / "result.json", "rerig-result")


@pytest.fixture
def load(bare_cli: Cli) -> Load:
    return Load(bare_cli)


def test_a_load_is_measured_told_and_built_again(load: Load) -> None:
    shown = load.cli.run(*load.words, "--gpu-load", f"{sys.executable} -c {json.dumps(BURN)}")
    assert "2 s of load on every processor and the GPU" in shown.stdout
    assert "processors under load" in shown.stdout
    (case,) = load.result()["cases"]
    assert case["status"] == "measured"
    assert case["identity"] == {"kind": "power_budget", "load_s": 2, "gpu": True}
    # Nothing tells this machine's GPU to be loaded by a process that sleeps.
    assert case["repeats"][0]["partial"] is True
    assert (load.run_dir / case["repeats"][0]["raw"]["stdout"]["name"]).exists()
    assert BURN not in (load.run_dir / "result.json").read_text()
    first = load.result()
    (load.run_dir / "result.json").unlink()
    load.cli.run("results.rebuild", str(load.run_dir))
    assert load.result() == first


def test_what_the_machine_lacks_and_the_command_that_was_not_given_are_said_in_a_sentence_each(load: Load) -> None:
    shown = " ".join(load.cli.run(*load.words).stdout.split())
    assert "no command for the GPU was given (--gpu-load)" in shown
    missing = load.result()["cases"][0]["repeats"][0]["missing"]
    assert ("nothing here tells" in shown) == bool(missing)


def test_the_plan_names_the_load_and_its_time(load: Load) -> None:
    shown = load.cli.run(*load.words, "--plan-only", "--gpu-load", "/opt/burn --for '90 s'").stdout
    assert (
        "every processor under load for 2 s, then 0 s to cool down; on the GPU meanwhile: /opt/burn --for '90 s'"
        in shown
    )
    assert "1 run, about 2.0 s." in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--path", "model.bin"], "The suite short-load reads no file: leave out --path."),
        (["--scratch", "."], "The suite short-load reads no file: leave out --scratch."),
        (["--size", "1G"], "The suite short-load reads no file: leave out --size."),
        (["--gpu-load", "burn 'x"], '--gpu-load "burn \'x" has a quote that is not closed.'),
    ],
)
def test_words_that_mean_nothing_are_refused_with_one_sentence(load: Load, words: list[str], sentence: str) -> None:
    told = load.cli.run(*load.words, *words, status=2).stderr.strip()
    assert told.splitlines() == [f"./inv: {sentence}"]


def loads_of(pid: int) -> list[int]:
    """The keepers of loads that a process has begun."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - names only
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            parent = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if "rerig-load" in words and parent == pid:
            found.append(int(name))
    return found


def test_a_killed_agent_leaves_no_load_and_its_run_is_resumed(bare_cli: Cli) -> None:
    load = Load(bare_cli, load_s=3)
    process = load.cli.start(*load.words)
    wait_for(lambda: list(load.cli.directory.glob("runs/*/cases/load-2s.t1/r1/samples.jsonl")))
    journal = [json.loads(line) for line in (load.run_dir / "journal.jsonl").read_text().splitlines()]
    agent = next(event["pid"] for event in journal if event["event"] == "run-start")
    wait_for(lambda: loads_of(agent))
    (keeper,) = loads_of(agent)
    os.kill(agent, signal.SIGKILL)
    process.communicate(timeout=120)
    wait_for(lambda: not Path(f"/proc/{keeper}").exists())
    load.cli.run("rerun", "--resume", load.run_dir.name)
    result = load.result()
    assert [session["stopped_by"] for session in result["run"]["sessions"]] == ["killed", None]
    assert result["cases"][0]["status"] == "measured"
    assert any("unfinished/1/load-2s.t1" in file["name"] for file in result["raw"]["files"])
