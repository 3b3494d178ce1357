"""A repeat of a power budget: what is kept of it, how it ends when it is stopped, and a run that is resumed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from fake_machine import FakeMachine
from rerig_agent import power_samples
from rerig_agent.child import StopFlag, Stopped
from rerig_agent.journal import read_journal
from rerig_agent.load_keeper import CORE_NAME, descendants
from rerig_agent.plan_format import PlanError, parse_plan
from rerig_agent.power import run_power_repeat
from rerig_agent.power_samples import describe, take
from rerig_agent.run import Run
from rerig_agent.sessions import done_cases, is_complete
from waiting import wait_for

GPU = "/sys/class/devfreq/17000000.gpu"
TEGRASTATS = """#!/bin/sh
echo "$@" >'{folder}/words'
while :; do echo "RAM {folder}"; sleep 0.1; done
"""


def a_case(**parameters: Any) -> dict[str, Any]:
    wanted = {"load_s": 1, "cool_s": 0, "sample_s": 0.25, "gpu_load": None, **parameters}
    return {
        "id": "load.t1",
        "target": "t1",
        "identity": {"kind": "power_budget", "load_s": wanted["load_s"], "gpu": wanted["gpu_load"] is not None},
        "extent": "timed",
        "parameters": wanted,
        "repeats": [{"number": 1, "seed": 1}, {"number": 2, "seed": 2}],
        "limit_s": 60.0,
        "skip": None,
    }


def a_plan(**parameters: Any) -> dict[str, Any]:
    return {
        "format": "rerig-plan",
        "format_number": 1,
        "run_id": "power",
        "targets": [{"id": "t1", "label": "this machine", "origin": "machine"}],
        "cases": [a_case(**parameters)],
    }


def samples_of(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "samples.jsonl").read_text().splitlines()]


def cores_left() -> list[str]:
    """The loads below this process that go on."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if CORE_NAME in words:
            found.append(str(pid))
    return found


@pytest.fixture
def board(machine: FakeMachine) -> FakeMachine:
    """A fake machine with every sensor of a Jetson."""
    machine.write("/sys/class/thermal/thermal_zone0/type", "tj-thermal\n")
    machine.write("/sys/class/thermal/thermal_zone0/temp", "50218\n")
    machine.write("/sys/class/thermal/cooling_device0/type", "pwm-fan\n")
    machine.write("/sys/class/hwmon/hwmon0/name", "pwmfan\n")
    for file, text in (("name", "ina3221"), ("in1_label", "VDD_IN"), ("in1_input", "4960"), ("curr1_input", "912")):
        machine.write(f"/sys/class/hwmon/hwmon1/{file}", text + "\n")
    machine.write("/sys/class/hwmon/hwmon1/uevent", "")
    device = "/sys/devices/platform/17000000.gpu"
    for file, text in (("available_frequencies", "306000000 1020000000"), ("max_freq", "1020000000")):
        machine.write(f"{device}/devfreq/17000000.gpu/{file}", text + "\n")
    machine.write(f"{device}/devfreq/17000000.gpu/cur_freq", "306000000\n")
    machine.write(f"{device}/load", "12\n")
    (machine.root / "sys/class/devfreq").mkdir(parents=True)
    (machine.root / GPU.lstrip("/")).symlink_to("../../devices/platform/17000000.gpu/devfreq/17000000.gpu")
    machine.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "729600\n")
    machine.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1728000\n")
    return machine


def test_every_sensor_is_found_and_sampled(board: FakeMachine) -> None:
    found = describe(board.root)
    assert found == {
        "zones": {"thermal_zone0": "tj-thermal"},
        "monitors": {"hwmon1": ["curr1_input", "in1_input", "in1_label"]},
        "gpu": {
            "name": "17000000.gpu",
            "available_frequencies": "306000000 1020000000\n",
            "max_freq": "1020000000\n",
            "has_load": True,
        },
        "cpus": {"cpu0": {"scaling_max_freq": "1728000\n", "cpuinfo_max_freq": None}},
    }
    sample = take(found, board.root)
    assert sample["zones"] == {"thermal_zone0": "50218\n"}
    assert sample["monitors"]["hwmon1"] == {"in1_label": "VDD_IN\n", "in1_input": "4960\n", "curr1_input": "912\n"}
    assert sample["gpu"] == {"cur_freq": "306000000\n", "load": "12\n"}
    assert sample["cpus"] == {"cpu0": "729600\n"}
    assert all(line.startswith("cpu") for line in sample["stat"].splitlines())
    assert "cpu0 " in sample["stat"]


def test_a_sensor_that_goes_away_is_none_and_no_error(board: FakeMachine) -> None:
    found = describe(board.root)
    for path in ("/sys/class/thermal/thermal_zone0/temp", f"{GPU}/cur_freq"):
        (board.root / path.lstrip("/")).unlink()
    sample = take(found, board.root)
    assert sample["zones"] == {"thermal_zone0": None}
    assert sample["gpu"]["cur_freq"] is None


def test_a_machine_without_sensors_has_none(tmp_path: Path) -> None:
    assert describe(tmp_path) == {"zones": {}, "monitors": {}, "gpu": None, "cpus": {}}


def test_a_repeat_keeps_its_samples_and_what_was_loaded(board: FakeMachine, tmp_path: Path) -> None:
    ticks: list[float] = []
    directory = tmp_path / "r1"
    record = run_power_repeat(a_case(cool_s=0.5), directory, StopFlag(), ticks.append, board.root)
    assert json.loads((directory / "record.json").read_text()) == record
    assert (record["exit_status"], record["error"], record["unkillable"]) == (0, None, False)
    assert record["cpus"] == sorted(os.sched_getaffinity(0))
    assert record["load_s"] >= 1
    samples = samples_of(directory)
    assert [sample["phase"] for sample in samples] == sorted((sample["phase"] for sample in samples), reverse=True)
    assert {sample["phase"] for sample in samples} == {"load", "cool"}
    assert samples[0]["zones"] == {"thermal_zone0": "50218\n"}
    assert [sample["at_s"] for sample in samples] == sorted(sample["at_s"] for sample in samples)
    events = [json.loads(line)["event"] for line in (directory / "load.jsonl").read_text().splitlines()]
    assert events == ["core"] * len(record["cpus"]) + ["loaded"]
    assert ticks == sorted(ticks)
    assert cores_left() == []


def test_tegrastats_runs_beside_the_load_and_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin/tegrastats"
    program.parent.mkdir()
    program.write_text(TEGRASTATS.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent) + os.pathsep + os.environ["PATH"])
    record = run_power_repeat(a_case(sample_s=0.5), tmp_path / "r1", StopFlag(), lambda _s: None, tmp_path / "none")
    assert record["tegrastats"] == str(program)
    assert (tmp_path / "words").read_text() == "--interval 500\n"
    assert (tmp_path / "r1/tegrastats").read_text().startswith(f"RAM {tmp_path}\n")
    size = (tmp_path / "r1/tegrastats").stat().st_size
    assert size == (tmp_path / "r1/tegrastats").stat().st_size


def test_a_tegrastats_that_cannot_be_started_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_samples, "find_tegrastats", lambda: str(tmp_path / "gone"))
    record = run_power_repeat(a_case(), tmp_path / "r1", StopFlag(), lambda _s: None, tmp_path / "none")
    assert record["exit_status"] == 0
    assert (tmp_path / "r1/tegrastats").read_bytes() == b""


def test_a_load_is_ended_when_the_user_asks_to_stop(tmp_path: Path) -> None:
    stop = StopFlag()

    def tick(elapsed_s: float) -> None:
        if elapsed_s > 0.3:
            stop._remember(signal.SIGTERM, None)

    with pytest.raises(Stopped):
        run_power_repeat(a_case(load_s=600), tmp_path / "r1", stop, tick, tmp_path / "none")
    assert cores_left() == []
    assert not (tmp_path / "r1/record.json").exists()


def test_a_load_that_dies_ends_the_repeat_with_its_reason(tmp_path: Path) -> None:
    def tick(_elapsed_s: float) -> None:
        for pid in cores_left():  # their keeper, that is
            parent = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[1]
            os.kill(int(parent), signal.SIGKILL)

    record = run_power_repeat(a_case(load_s=600), tmp_path / "r1", StopFlag(), tick, tmp_path / "none")
    assert (record["exit_status"], record["error"]) == (1, "the load ended before its time")
    wait_for(lambda: cores_left() == [])


def start(run_dir: Path, plan: dict[str, Any], events: list[Any], resume: bool = False, stop_at: int = 0) -> int:
    run_dir.mkdir(parents=True, exist_ok=True)
    stop = StopFlag()

    def emit(event: str, **data: Any) -> None:
        events.append((event, data.get("number")))
        if (event, data.get("number")) == ("repeat-start", stop_at):
            stop._remember(signal.SIGTERM, None)

    return Run(plan, run_dir, stop, emit, resume, run_dir.parent / "none").execute()


def test_a_run_that_was_stopped_is_resumed_and_measures_the_case_anew(tmp_path: Path) -> None:
    run_dir, events = tmp_path / "runs/run", []  # type: ignore[var-annotated] # events of two kinds
    assert start(run_dir, a_plan(), events, stop_at=2) == 128 + signal.SIGTERM
    assert (run_dir / "cases/load.t1/r1/record.json").exists()
    assert start(run_dir, a_plan(), events, resume=True) == 0
    assert is_complete(read_journal(run_dir))
    assert set(done_cases(read_journal(run_dir))) == {"load.t1"}
    assert sorted(path.parent.name for path in run_dir.glob("cases/load.t1/*/record.json")) == ["r1", "r2"]
    assert (run_dir / "unfinished/1/load.t1/r1/samples.jsonl").exists()
    assert json.loads((run_dir / "targets.json").read_text()) == {"t1": {"kind": "machine"}}
    assert ("tick", 1) in events
    assert cores_left() == []


def broken(**changes: Any) -> dict[str, Any]:
    plan = a_plan()
    plan["cases"][0]["parameters"].update(changes)
    return plan


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"load_s": 0}, "a time in the parameters of a case is not above zero"),
        ({"cool_s": -1}, "a time in the parameters of a case is not above zero"),
        ({"sample_s": "1"}, "the plan is incomplete: sample_s of the parameters of a case is missing"),
        ({"gpu_load": "burn --now"}, "gpu_load of a case is no list of words"),
        ({"gpu_load": []}, "gpu_load of a case is no list of words"),
    ],
)
def test_a_plan_with_an_impossible_load_is_refused(changes: dict[str, Any], sentence: str) -> None:
    assert parse_plan(json.dumps(a_plan()).encode()) == a_plan()
    with pytest.raises(PlanError) as caught:
        parse_plan(json.dumps(broken(**changes)).encode())
    assert str(caught.value).startswith(sentence)


def test_a_load_on_a_file_is_refused() -> None:
    plan = a_plan()
    plan["targets"] = [{"id": "t1", "label": "m", "path": "/data/m"}]
    with pytest.raises(PlanError, match="of another kind"):
        parse_plan(json.dumps(plan).encode())
