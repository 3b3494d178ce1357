"""What a run's exit status says: 0 only with a figure that can be used, and never less than the agent said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raw_runs import (
    block_classified,
    case_events,
    dd_case,
    end,
    good_dd,
    raw_repeat,
    raw_run,
    record,
    snapshot,
    start,
    target_evidence,
)
from rerig import judged, rerun
from rerig.outcome import Outcome
from rerig.rundir import REPEAT_FILES, RawRepeat

CASE = dd_case()


@pytest.fixture(autouse=True)
def _plain_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "classify", lambda _evidence: block_classified())


def failed(number: int) -> RawRepeat:
    """A repeat whose tool ended with an error."""
    return raw_repeat(number, record(snapshot(), snapshot(), exit_status=1), stdout="", stderr="dd: I/O error\n")


class FakeAgent:
    """Leaves a run directory with these repeats, as an agent does that was given the plan as data."""

    def __init__(self, status: int, repeats: list[RawRepeat]) -> None:
        self.status = status
        self.repeats = repeats

    def run(self, plan: dict[str, Any], run_dir: Path, on_event: Any) -> Outcome:
        """Write what an agent writes; nothing is run."""
        run_dir.mkdir(parents=True, exist_ok=True)
        numbers = [repeat.number for repeat in self.repeats]
        events = [start(), *case_events(CASE["id"], *numbers), end()]
        (run_dir / "plan.json").write_text(json.dumps(plan))
        (run_dir / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        (run_dir / "targets.json").write_text(json.dumps({"t1": target_evidence()}))
        for repeat in self.repeats:
            directory = run_dir / "cases" / CASE["id"] / f"r{repeat.number}"
            directory.mkdir(parents=True)
            for role, file in repeat.files.items():
                (directory / REPEAT_FILES[role]).write_text(file.text)
        on_event({"event": "run-end", "stopped_by": None})
        return Outcome(self.status)


@pytest.mark.parametrize(
    ("agents", "repeats", "status", "verdict"),
    [
        (0, [good_dd(1), good_dd(2), good_dd(3)], 0, "valid"),
        (0, [good_dd(1), failed(2), good_dd(3)], 1, "invalid"),
        (0, [failed(1), failed(2), failed(3)], 1, "invalid"),
        (0, [], 1, "not_measured"),
        (0, [good_dd(1)], 0, "doubtful"),
        (143, [good_dd(1), good_dd(2), good_dd(3)], 143, "valid"),
        (143, [failed(1)], 143, "invalid"),
    ],
)
def test_the_status_is_1_without_a_figure_that_can_be_used_and_the_agents_own_where_it_has_one(
    tmp_path: Path, agents: int, repeats: list[RawRepeat], status: int, verdict: str
) -> None:
    plan = raw_run([CASE], {CASE["id"]: []}).plan
    events: list[dict[str, Any]] = []
    finished = rerun.execute(FakeAgent(agents, repeats), plan, tmp_path, events.append)  # type: ignore[arg-type] # the verbs that execute() needs
    assert finished.status == status
    assert finished.path == tmp_path / plan["run_id"] / "result.json"
    assert json.loads(finished.path.read_text())["validity"]["verdict"] == verdict
    assert [event["event"] for event in events] == ["run-end"]
