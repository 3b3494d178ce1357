"""The main job from end to end, on a real disk with real tools."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, cli_with_fio
from rerig.documents import load_valid_document
from waiting import wait_for

SMALL = ("--size", "32M", "--repeats", "2")


def scratch_files(directory: Path) -> list[Path]:
    return list(directory.rglob("rerig-scratch-*"))


def case_of(result: dict[str, Any], case_id: str) -> dict[str, Any]:
    return next(case for case in result["cases"] if case["id"] == case_id)


def only_run(directory: Path) -> Path:
    (run_dir,) = (path.parent for path in directory.glob("runs/*/journal.jsonl"))
    return run_dir


def test_a_scratch_file_is_measured_compared_and_removed(cli: Cli) -> None:
    done = cli.run("rerun", *SMALL)
    assert scratch_files(cli.directory) == []
    run_dir = only_run(cli.directory)
    result = load_valid_document(run_dir / "result.json", "rerig-result")
    assert {case["status"] for case in result["cases"]} == {"measured"}
    assert result["run"]["complete"]
    assert "First a scratch file of 32 MiB is written" in done.stderr
    assert "published" in done.stdout
    assert "×" in done.stdout
    assert "nas-vs-local-2026" in done.stdout or "jetson-moe-ssd-2026" in done.stdout


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory, real_fio: Path) -> tuple[dict[str, Any], Path]:
    """A result and its run directory, to be looked at alone."""
    cli = cli_with_fio(tmp_path_factory.mktemp("small"), real_fio)
    return cli.result(*SMALL), only_run(cli.directory)


def test_every_raw_file_is_kept_with_its_hash(small_run: tuple[dict[str, Any], Path]) -> None:
    result, run_dir = small_run
    files = [raw for case in result["cases"] for repeat in case["repeats"] for raw in repeat["raw"].values()]
    files += result["raw"]["files"]
    assert len(files) > 40
    for raw in files:
        assert hashlib.sha256((run_dir / raw["name"]).read_bytes()).hexdigest() == raw["sha256"]


def test_rates_are_the_tools_own_bytes_over_seconds(small_run: tuple[dict[str, Any], Path]) -> None:
    result, run_dir = small_run
    for case in result["cases"]:
        for repeat in case["repeats"]:
            assert repeat["bytes"] / repeat["duration_s"] == pytest.approx(repeat["bandwidth_bytes_per_s"], rel=2e-3)
            if "fio" in repeat["raw"]:
                raw = json.loads((run_dir / repeat["raw"]["fio"]["name"]).read_text())
                assert repeat["bandwidth_bytes_per_s"] == pytest.approx(raw["jobs"][0]["read"]["bw_bytes"], abs=1)


def test_without_fio_dd_still_runs_and_the_reason_and_cure_are_told(bare_cli: Cli) -> None:
    done = bare_cli.run("rerun", *SMALL)
    assert "apt-get install fio" in done.stdout
    result = load_valid_document(only_run(bare_cli.directory) / "result.json")
    assert case_of(result, "dd-8m.t1")["status"] == "measured"
    assert case_of(result, "rand-64k-qd1.t1")["reason"]["code"] == "fio_missing"


def test_a_users_files_are_read_only_and_shown_side_by_side(cli: Cli, model: Path) -> None:
    other = cli.directory / "b.gguf"
    other.write_bytes(os.urandom(24 * 2**20))
    model.chmod(0o400)
    before = (model.read_bytes(), model.stat().st_mtime_ns, model.stat().st_atime_ns)
    done = cli.run("rerun", "--path", str(model), "--path", str(other), "--repeats", "1")
    assert "t2/t1" in done.stdout
    assert model.name in done.stdout
    assert (model.stat().st_mtime_ns, model.read_bytes()) == (before[1], before[0])
    assert scratch_files(cli.directory) == []


def test_plan_only_prints_every_command_and_runs_none(cli: Cli, model: Path) -> None:
    done = cli.run("rerun", "--plan-only", "--path", str(model))
    commands = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert len(commands) == 3 + 5 + 5 * 3
    assert commands[0].startswith("dd 'if=")
    assert "iflag=direct" in commands[0]
    assert all("--readonly" in command for command in commands if command.startswith("fio"))
    assert "at most" in done.stdout
    assert not (cli.directory / "runs").exists()


@pytest.mark.slow
def test_the_plan_as_json_can_be_run_by_the_agent_alone(cli: Cli, model: Path) -> None:
    plan = cli.run("rerun", "--plan-only", "--json", "--path", str(model), "--repeats", "1").stdout
    (cli.directory / "plan.json").write_text(plan)
    cli.run("agent.build", "--out", "agent.pyz")
    agent = Cli(cli.directory, cli.environment)
    agent.argv = lambda *words: ["python3", str(cli.directory / "agent.pyz"), *words]  # type: ignore[method-assign] - the agent in rerig's place
    agent.run("run", "--plan", "plan.json", "--run-dir", "by-hand")
    cli.run("results.rebuild", "by-hand")
    assert load_valid_document(cli.directory / "by-hand" / "result.json")["run"]["complete"]
    assert "usage" in agent.run("--help").stdout


@pytest.mark.slow
def test_a_rebuilt_result_is_the_same_to_the_byte(cli: Cli, model: Path) -> None:
    cli.run("rerun", "--path", str(model), "--repeats", "1", "--label", "nas=4-bay, 10GbE")
    path = only_run(cli.directory) / "result.json"
    before = path.read_bytes()
    path.unlink()
    cli.run("results.rebuild", str(path.parent))
    assert path.read_bytes() == before
    assert json.loads(before)["labels"] == {"nas": "4-bay, 10GbE"}


def test_a_result_can_be_shown_validated_and_compared(cli: Cli, model: Path) -> None:
    result = str(only_run_of(cli, model))
    assert "sequential" in cli.run("results.show", result).stdout
    assert "valid" in cli.run("results.validate", "--", result, "runs").stdout
    assert "decide" in cli.run("results.compare", result, "--published", "jetson-moe-ssd-2026").stdout
    itself = cli.run("results.compare", result, "--with", result).stdout
    assert "differs" not in itself
    assert json.loads(cli.run("results.compare", result, "--with", result, "--json").stdout)["rows"]


def only_run_of(cli: Cli, model: Path) -> Path:
    cli.run("rerun", "--quiet", "--path", str(model), "--repeats", "2")
    return only_run(cli.directory) / "result.json"


def test_quiet_prints_the_results_path_alone(cli: Cli, model: Path) -> None:
    done = cli.run("rerun", "--quiet", "--path", str(model), "--repeats", "1")
    assert done.stderr == ""
    assert done.stdout.strip().endswith("/result.json")
    assert len(done.stdout.splitlines()) == 1


def test_json_prints_a_valid_document_alone(cli: Cli, model: Path) -> None:
    document = json.loads(cli.run("rerun", "--json", "--path", str(model), "--repeats", "1").stdout)
    assert document["format"] == "rerig-result"


def started(directory: Path, event: str) -> bool:
    return any(f'"{event}"' in path.read_text() for path in directory.glob("runs/*/journal.jsonl"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("event", ["undo-add", "repeat-start"])
def test_a_stopped_run_removes_its_scratch_file_and_keeps_what_it_has(
    cli: Cli, event: str, number: signal.Signals
) -> None:
    process = cli.start("rerun", "--size", "1G")
    wait_for(lambda: started(cli.directory, event))
    process.send_signal(number)
    _out, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert scratch_files(cli.directory) == []
    result = load_valid_document(only_run(cli.directory) / "result.json")
    assert result["run"]["stopped_by"] == "signal"
    assert not result["run"]["complete"]


@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next(cli: Cli) -> None:
    process = cli.start("rerun", "--size", "1G")
    wait_for(lambda: started(cli.directory, "repeat-start"))
    journal = next(iter(cli.directory.glob("runs/*/journal.jsonl"))).read_text().splitlines()
    agent = next(json.loads(line)["pid"] for line in journal if '"run-start"' in line)
    os.kill(agent, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode not in (0, None)
    assert scratch_files(cli.directory)
    done = cli.run("rerun", *SMALL)
    assert "removed the scratch file that a killed run had left" in done.stderr
    assert scratch_files(cli.directory) == []


SUITE = """\
format: rerig-suite
format_version: "1.0"
name: buffered
version: "1.0"
title: the same file with and without the page cache
scratch_bytes: 67108864
cases:
  - {name: cached, kind: dd_read, direct: false, block_bytes: 1048576, read_bytes: {default: 4294967296}, repeats: 3}
  - {name: direct, kind: dd_read, direct: true, block_bytes: 1048576, read_bytes: {default: 4294967296}, repeats: 3}
  - name: evicted
    kind: dd_read
    direct: false
    block_bytes: 1048576
    read_bytes: {default: 4294967296}
    repeats: 3
    evict: true
"""


@pytest.mark.quiet
def test_a_cached_read_is_doubtful_and_the_same_with_o_direct_or_after_an_eviction_is_not(
    cli: Cli, model: Path
) -> None:
    (cli.directory / "buffered.yml").write_text(SUITE)
    model.read_bytes()
    result = cli.result("--suite", "./buffered.yml", "--path", str(model))
    cached = case_of(result, "cached.t1")
    assert cached["validity"]["verdict"] == "doubtful"
    found = {issue["code"]: issue for issue in cached["validity"]["issues"]}
    assert found["served_from_cache"]["expected"] - found["served_from_cache"]["actual"] > 0.9 * model.stat().st_size
    assert all(repeat["proof"]["verdict"] == "delivered" for repeat in case_of(result, "direct.t1")["repeats"])
    evicted = case_of(result, "evicted.t1")["repeats"]
    assert all(repeat["resident_before"] == 0 for repeat in evicted)
    assert all(repeat["proof"]["verdict"] != "served_from_cache" for repeat in evicted)


class OtherHost(Cli):
    """rerig on a machine that is called personhost."""

    def argv(self, *words: str) -> list[str]:
        rename = 'echo personhost >/proc/sys/kernel/hostname && exec "$@"'
        return ["unshare", "--uts", "sh", "-c", rename, "sh", *super().argv(*words)]


@pytest.mark.root
def test_a_result_holds_nothing_personal(cli: Cli) -> None:
    home = cli.directory / "home" / "personname"
    secret = home / "exports-of-nasname"
    secret.mkdir(parents=True)
    model = secret / "m.gguf"
    model.write_bytes(os.urandom(9 * 2**20))
    host = OtherHost(cli.directory, {**cli.environment, "HOME": str(home), "USER": "personname"})
    text = json.dumps(host.result("--path", str(model), "--repeats", "1"), ensure_ascii=False)
    for word in ("personhost", "personname", "nasname", str(cli.directory), *hardware_names()):
        assert word not in text, word
    assert re.search(r"(?<![0-9.])[0-9]{1,3}(\.[0-9]{1,3}){3}(?![0-9.])", text) is None
    assert re.search(r"([0-9a-f]{2}:){5}", text) is None
    kept = (cli.directory / only_run(cli.directory) / "targets.json").read_text()
    assert "personname" in kept, "the raw files are the user's own, and this test would see a name"


def hardware_names() -> list[str]:
    """MAC addresses, machine ids and serial numbers of this machine, where it has any."""
    found = []
    for pattern in (
        "sys/class/net/*/address",
        "sys/block/*/serial",
        "sys/block/*/device/serial",
        "sys/block/*/device/wwid",
        "sys/block/*/wwid",
        "etc/machine-id",
        "proc/sys/kernel/random/boot_id",
    ):
        for path in Path("/").glob(pattern):
            word = path.read_text(errors="replace").strip("\0\n ")
            if len(word) >= 6 and word != "00:00:00:00:00:00":
                found.append(word)
    return found
