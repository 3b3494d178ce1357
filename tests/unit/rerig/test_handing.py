"""What the role measure hands over: a plan from a probe, and a run from an archive."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from raw_runs import GIB, block_classified, case_events, dd_case, end, good_dd, raw_run, start, target_evidence
from rerig import judged
from rerig.documents import load_valid_document
from rerig.errors import UserError
from rerig.handing import plan_to_file, receive_run
from rerig.rerun import Request
from rerig.rundir import REPEAT_FILES
from rerig.zipapp import agent_identity, build_agent

CASE = dd_case()
TOOLS = {"dd": {"version": "coreutils 9.1"}, "fio": {"version": "3.33", "engines": ["io_uring"]}}
GOOD = {"path": "/data/m.gguf", "evidence": {"size_bytes": 8 * GIB}, "classified": block_classified()}
REFUSED = {
    "path": "/ram/m.gguf",
    "evidence": {"size_bytes": None},
    "classified": {"refusal": "m.gguf is in RAM.", "refusal_code": "ram"},
}


def write_probe(path: Path, *targets: dict[str, Any]) -> Path:
    """What the agent's probe printed about these files."""
    path.write_text(json.dumps({"tools": TOOLS, "targets": targets, "scratch": None}))
    return path


def test_a_plan_is_written_for_the_agent_of_these_sources(tmp_path: Path) -> None:
    probe = write_probe(tmp_path / "probe.json", GOOD, REFUSED)
    request = Request(labels={"nas": "none"}, repeats=2, size_bytes=GIB)
    assert plan_to_file(probe, request, tmp_path / "plan.json") == ["m.gguf is in RAM."]
    plan = json.loads((tmp_path / "plan.json").read_text())
    built = build_agent(tmp_path / "agent.pyz")
    assert plan["agent"] == agent_identity() == {"version": built["version"], "sha256": built["sha256"]}
    assert plan["labels"] == {"nas": "none"}
    assert {len(case["repeats"]) for case in plan["cases"]} == {2}


def test_where_nothing_can_be_measured_no_plan_is_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^Nothing can be measured\. m\.gguf is in RAM\.$"):
        plan_to_file(write_probe(tmp_path / "probe.json", REFUSED), Request(), tmp_path / "plan.json")
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"targets": 3}',
        '{"targets": [], "tools": {}}',
        "x",
        pytest.param("[" * 20000, id="deep"),
        "\xff",
    ],
)
def test_what_is_no_probe_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "probe.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"probe\.json"):
        plan_to_file(tmp_path / "probe.json", Request(), tmp_path / "plan.json")


def packed(path: Path, run_id: str) -> Path:
    """A run as the agent packs it."""
    run = raw_run([CASE], {CASE["id"]: []})
    events = [start(), *case_events(CASE["id"], 1, 2, 3), end()]
    files = {
        "plan.json": json.dumps({**run.plan, "run_id": run_id}),
        "journal.jsonl": "".join(json.dumps(event) + "\n" for event in events),
        "targets.json": json.dumps({"t1": target_evidence()}),
    }
    for repeat in (good_dd(number) for number in (1, 2, 3)):
        for role, file in repeat.files.items():
            files[f"cases/{CASE['id']}/r{repeat.number}/{REPEAT_FILES[role]}"] = file.text
    with tarfile.open(path, "w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture(autouse=True)
def _plain_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "classify", lambda _evidence: block_classified())


def test_a_received_run_has_a_valid_result_whose_path_is_told(tmp_path: Path) -> None:
    run_id = "20260131T081500Z-1a2b3c"
    path = receive_run(packed(tmp_path / "run.tar", run_id), tmp_path / "runs")
    assert path == tmp_path / "runs" / run_id / "result.json"
    assert load_valid_document(path, "rerig-result")["run"]["id"] == run_id


@pytest.mark.parametrize("run_id", ["../x", "..", ".", "a/b", "", ".hidden"])
def test_a_run_that_calls_itself_oddly_is_not_unpacked(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(UserError, match="is no run"):
        receive_run(packed(tmp_path / "run.tar", run_id), tmp_path / "runs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.tar"]


@pytest.mark.parametrize("data", [b"", b"no tar" * 1000])
def test_what_is_no_archive_is_one_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "run.tar").write_bytes(data)
    with pytest.raises(UserError):
        receive_run(tmp_path / "run.tar", tmp_path / "runs")
    with pytest.raises(UserError, match="can't be read"):
        receive_run(tmp_path / "missing.tar", tmp_path / "runs")
