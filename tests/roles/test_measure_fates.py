"""What may become of a run that the role measure starts: each fate has a host of its own, in two plays."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_plays import LOCAL, Controller, Played, path_before, stub
from command_line import path_without_fio
from rerig.documents import load_valid_document
from waiting import wait_for

pytestmark = pytest.mark.slow

SUITE = """\
format: rerig-suite
format_version: "1.0"
name: small
version: "1.0"
title: two short reads
scratch_bytes: 4194304
cases:
  - {name: first, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {default: 4194304}, repeats: 1}
  - {name: second, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {default: 4194304}, repeats: 2}
"""
# Holds the call that follows the first one, as long as the gate is shut.
GATED_DD = """\
case $1 in --version) exec "{dd}" "$@" ;; esac
if [ -e "{gate}/shut" ] && [ -e "{gate}/one" ]; then
  : > "{gate}/reached"
  while [ -e "{gate}/shut" ]; do sleep 0.05; done
fi
: > "{gate}/one"
exec "{dd}" "$@"
"""
FAILING_DD = 'case $1 in --version) exec "{dd}" "$@" ;; esac\necho "dd: it burns" >&2\nexit 1\n'
# The role, on hosts whose programs differ.
PLAYBOOK = """\
- hosts: all
  gather_facts: false
  environment: {PATH: "{{ path }}"}
  roles: [measure]
- hosts: all
  gather_facts: false
  tasks:
    - debug: {var: measure_results}
"""


@dataclass
class Fates:
    """The hosts' folders, and what came of both plays."""

    folder: Path
    controller: Controller
    plain: Played = field(init=False)
    picked_up: Played = field(init=False)

    def host(self, name: str, dd: str = "", **variables: Any) -> Path:
        """Add a host; its folder, in which its gate is."""
        folder = self.folder / name
        gate = folder / "gate"
        gate.mkdir(parents=True)
        path = self.controller.path
        if dd:
            real = next(one for place in path.split(os.pathsep) if (one := Path(place) / "dd").exists())
            stub(folder / "bin", "dd", dd.format(dd=real, gate=gate))
            path = path_before(folder / "bin", path)
        own = {**LOCAL, "place": str(folder / "rerig"), "path": path, "measure_suites": ["small.yml"]}
        self.controller.hosts[name] = {**own, **variables}
        return folder

    def run_dir(self, name: str) -> Path:
        (found,) = (self.folder / name / "rerig" / "runs").iterdir()
        return found

    def document(self, path: Path) -> dict[str, Any]:
        return load_valid_document(path, "rerig-result")

    def again(self, name: str) -> str:
        return f"give the same command again with --limit {name} --extra-vars measure_resume={self.run_dir(name).name}."


@pytest.fixture(scope="module")
def fates(tmp_path_factory: pytest.TempPathFactory) -> Fates:
    """Everything that takes a play, since a play takes seconds; what each host came to is in the tests below."""
    folder = tmp_path_factory.mktemp("fates")
    controller = Controller(folder / "controller", path_without_fio())
    fates = Fates(folder / "hosts", controller)
    (controller.directory / "small.yml").write_text(SUITE, "utf-8")
    playbook = controller.directory / "fates.yml"
    playbook.write_text(PLAYBOOK, "utf-8")

    slow = fates.host("slow", GATED_DD, measure_limit_s=1)
    killed = fates.host("killed", GATED_DD)
    for one in (slow, killed):
        (one / "gate" / "shut").touch()
    fates.host("burning", FAILING_DD)
    absent = fates.host("absent")
    controller.hosts["absent"]["measure_paths"] = [str(absent / "none.bin")]
    in_the_way = fates.host("full")
    (in_the_way / "rerig").touch()
    files = fates.host("files", measure_out="~/kept", measure_size="2M")
    odd = [files / "a $HOME {1} 'b' 한글.bin", files / "-rf; x.bin"]
    for path in odd:
        path.write_bytes(os.urandom(3 * 2**20))
    controller.hosts["files"]["measure_paths"] = [*map(str, odd), str(files / "none.bin")]

    playing = controller.start(playbook, __measure_places=["{{ place }}"], measure_poll_s=1)
    wait_for((killed / "gate" / "reached").exists, 120)
    _kill(fates.run_dir("killed"))
    fates.plain = playing.end()

    controller.hosts = {name: controller.hosts[name] for name in ("slow", "killed")}
    for name in ("slow", "killed"):
        controller.hosts[name] |= {"measure_resume": fates.run_dir(name).name, "measure_limit_s": 600}
    for one in (slow, killed):
        (one / "gate" / "shut").unlink()
    fates.host("stranger", measure_resume="20260101T000000Z-0a0b0c")
    playing = controller.start(playbook, __measure_places=["{{ place }}"], measure_poll_s=1)
    fates.picked_up = playing.end()
    return fates


def _kill(run_dir: Path) -> None:
    start = json.loads((run_dir / "journal.jsonl").read_text("utf-8").splitlines()[0])
    os.kill(start["pid"], signal.SIGKILL)


def said(played: Played, host: str) -> str:
    """The last sentence that a host failed with, in one line."""
    words = played.output.rpartition(f"fatal: [{host}")[2].partition("TASK [")[0]
    return " ".join(words.split())


def result(fates: Fates, name: str) -> dict[str, Any]:
    return fates.document(fates.controller.directory / "runs" / fates.run_dir(name).name / "result.json")


def test_a_run_that_outlasts_the_limit_goes_on_and_is_picked_up(fates: Fates) -> None:
    assert "is not over after 1 s and goes on there" in said(fates.plain, "slow")
    assert fates.again("slow") in said(fates.plain, "slow")
    document = result(fates, "slow")
    assert [case["status"] for case in document["cases"]] == ["measured", "measured"]
    assert len(document["run"]["sessions"]) == 1


def test_a_run_that_was_killed_is_kept_and_goes_on_where_it_stood(fates: Fates) -> None:
    assert "was killed" in said(fates.plain, "killed")
    assert fates.again("killed") in said(fates.plain, "killed")
    document = result(fates, "killed")
    assert [case["status"] for case in document["cases"]] == ["measured", "measured"]
    assert [session["stopped_by"] for session in document["run"]["sessions"]] == ["killed", None]


def test_a_run_without_a_figure_is_kept_and_the_role_fails(fates: Fates) -> None:
    assert "Nothing could be measured: ./inv results.show" in said(fates.plain, "burning")
    assert {case["status"] for case in result(fates, "burning")["cases"]} == {"failed"}


def test_odd_names_are_measured_and_a_missing_file_is_told(fates: Fates) -> None:
    kept = list((fates.controller.directory / "home" / "kept").glob("*/result.json"))
    assert len(kept) == 1, fates.plain.output
    document = fates.document(kept[0])
    assert len(document["targets"]) == 3
    assert "none.bin" in fates.plain.output


@pytest.mark.parametrize(
    ("host", "sentence"),
    [("absent", "Nothing can be measured"), ("full", "There is no place for rerig on the host")],
)
def test_a_host_where_nothing_can_be_measured_gets_one_sentence(fates: Fates, host: str, sentence: str) -> None:
    assert sentence in said(fates.plain, host)


def test_a_run_that_is_not_on_the_host_is_not_gone_on_with(fates: Fates) -> None:
    assert "There is no run 20260101T000000Z-0a0b0c of this user on this host." in said(fates.picked_up, "stranger")
