"""Machines whose disk fills up, or whose file vanishes, while they measure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remote_runs import MEASURED, RemoteRuns, statuses
from ssh_bed import BedHost, SshBed, User
from waiting import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow]

USER = "kwakuquokka"
HOME = f"/home/{USER}"
MIB = 2**20
ON_DISK = ("--scratch", "/srv/gate")


def start(bed: SshBed, name: str = "box") -> BedHost:
    return bed.start(name, users=[User(USER)], gated=["dd", "fio"], disks={HOME: 48 * MIB})


@pytest.mark.parametrize(("tool", "after"), [("dd", 1), ("dd", 3), ("fio", 1)])
def test_a_disk_that_fills_is_told_in_one_sentence_and_the_run_is_resumed(
    bed: SshBed, tmp_path: Path, tool: str, after: int
) -> None:
    host, runs = start(bed), RemoteRuns(bed, tmp_path)
    host.gates.shut(tool, after)
    rerun = runs.cli.start(*runs.words(f"{USER}@box", more=("--quiet", *ON_DISK)))
    wait_for(lambda: rerun.poll() is not None or (host.path("/srv/gate") / f"{tool}.reached").exists(), 120)
    host.run(["sh", "-c", f"head -c 200M /dev/zero > {HOME}/filler; true"])
    host.gates.open(tool)
    _, said = rerun.communicate(timeout=300)
    assert rerun.returncode in (1, 75), said
    run_id = runs.ids()[0]
    line = said.splitlines()[-1]
    assert "No space left on device" in line or "The disk that holds the run is full" in line
    assert f"./inv rerun --resume {run_id}" in line
    assert runs.document()["run"]["complete"] is False
    done = runs.cli.run("rerun", "--quiet", "--resume", run_id, status=None)  # it is full still
    assert done.returncode in (1, 74, 75)
    assert "No space left on device" in done.stderr or "The disk that holds the run is full" in done.stderr
    host.run(["rm", f"{HOME}/filler"])
    runs.cli.run("rerun", "--quiet", "--resume", run_id)
    document = runs.document()
    assert statuses(document) == MEASURED
    assert document["run"]["complete"] is True
    assert "rerig-scratch" not in host.run(["find", "/srv", HOME]).decode()


def test_a_file_that_is_not_there_is_one_sentence(bed: SshBed, tmp_path: Path) -> None:
    start(bed)
    said = RemoteRuns(bed, tmp_path).refusal(f"{USER}@box", more=("--path", "/srv/model.bin"))
    assert said == 'Nothing can be measured. "model.bin" does not exist.'


def test_a_file_that_vanishes_spoils_what_comes_after_it_alone(bed: SshBed, tmp_path: Path) -> None:
    host, runs = start(bed), RemoteRuns(bed, tmp_path)
    for name in ("kept", "lost"):
        host.path(f"/srv/{name}.bin").write_bytes(os.urandom(20 * MIB))
    more = ("--path", "/srv/kept.bin", "--path", "/srv/lost.bin")
    runs.rerun(f"{USER}@box", more=more)
    undisturbed = runs.document()
    host.gates.shut("fio")
    rerun = runs.cli.start(*runs.words(f"{USER}@box", more=("--quiet", *more)))
    wait_for(lambda: rerun.poll() is not None or (host.path("/srv/gate") / "fio.reached").exists(), 120)
    host.path("/srv/lost.bin").unlink()
    host.gates.open("fio")
    _, said = rerun.communicate(timeout=300)
    assert rerun.returncode == 0, said
    document = runs.document()
    failed = {case for case, status in statuses(document).items() if status == "failed"}
    assert failed == {case for case in statuses(document) if case.startswith("rand") and case.endswith("t2")}
    kept = [case for case in document["cases"] if case["target"] == "t1"]
    assert [case["id"] for case in document["cases"]] == [case["id"] for case in undisturbed["cases"]]
    assert [case["status"] for case in kept] == ["measured"] * len(kept)
