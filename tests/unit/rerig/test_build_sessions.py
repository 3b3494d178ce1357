"""Results of runs that were killed, stopped and resumed: what counts, what is doubtful, and what no journal breaks."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raw_runs import (
    GIB,
    block_classified,
    case_events,
    dd_case,
    end,
    fio_case,
    good_dd,
    good_fio,
    nfs_classified,
    raw_repeat,
    raw_run,
    record,
    session,
    snapshot,
    start,
    target_evidence,
)
from rerig import judged
from rerig.build import build_result
from rerig.errors import UserError
from rerig.rundir import RawRun, read_run
from rerig.schema import validate
from rerig.sessions import RawSession

DD, FIO = "dd-8m.t1", "rand-64k-qd4.t1"


@pytest.fixture(autouse=True)
def _plain_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece of evidence may bring what is judged of it along."""
    monkeypatch.setattr(judged, "classify", lambda evidence: block_classified(**evidence.get("judged", {})))


def a_run(*sessions: RawSession, **repeats: list[Any]) -> RawRun:
    """dd and fio, both whole unless told otherwise."""
    whole = {"dd": [good_dd(n) for n in (1, 2, 3)], "fio": [good_fio(n) for n in (1, 2, 3)], **repeats}
    return raw_run([dd_case(), fio_case()], {DD: whole["dd"], FIO: whole["fio"]}, list(sessions))


def killed(*events: dict[str, Any], **changes: Any) -> RawSession:
    """A first session that did dd and was killed inside fio."""
    did = [start(), *case_events(DD, 1, 2, 3), *case_events(FIO, 1, done=False, at="10:01:00"), *events]
    return session(did, **{"conditions_after": None, **changes})


def resumed(*events: dict[str, Any], **changes: Any) -> RawSession:
    """A second session, 3 minutes later, that measured fio anew."""
    did = [start("10:04:00", 2), {"event": "case-set-aside", "case": FIO, "to": f"unfinished/1/{FIO}"}]
    return session([*did, *case_events(FIO, 1, 2, 3), *events, end("10:05:00")], 2, **changes)


def codes(result: dict[str, Any]) -> list[str]:
    return [found["code"] for found in result["validity"]["issues"]]


def built(*sessions: RawSession, **repeats: list[Any]) -> dict[str, Any]:
    result = build_result(a_run(*sessions, **repeats))
    assert validate(result) == []
    return result


def test_a_resumed_run_is_an_undisturbed_one_but_for_its_times_and_sessions() -> None:
    undisturbed = built(session([start(), *case_events(DD, 1, 2, 3), *case_events(FIO, 1, 2, 3), end()]))
    result = built(killed(), resumed())
    assert result["validity"] == {"verdict": "valid", "issues": []}
    assert [(one["stopped_by"], one["gap_before_s"]) for one in result["run"]["sessions"]] == [
        ("killed", None),
        (None, 180.0),
    ]
    for document in (undisturbed, result):
        for key in ("started_at", "finished_at", "sessions"):
            del document["run"][key]
    assert result == undisturbed


def test_a_run_starts_with_its_first_session_and_ends_with_its_last() -> None:
    run = built(killed(), resumed())["run"]
    assert (run["started_at"], run["finished_at"]) == ("2026-03-01T10:00:00.000Z", "2026-03-01T10:05:00.000Z")
    assert run["complete"]
    run = built(killed(), session([start("10:04:00", 2)], 2))["run"]
    assert (run["finished_at"], run["stopped_by"], run["complete"]) == (None, "killed", False)


def test_the_machine_is_shown_before_the_first_session_and_after_the_last() -> None:
    quiet = {"boot_id": "one", "machine": "x86_64"}
    machine = built(
        killed(conditions_before={**quiet, "uptime_s": 1.0}),
        resumed(conditions_before={**quiet, "uptime_s": 2.0}, conditions_after={**quiet, "uptime_s": 3.0}),
    )["machine"]
    assert (machine["before"]["uptime_s"], machine["after"]["uptime_s"]) == (1, 3)


def test_a_session_that_was_cut_off_before_it_looked_leaves_the_machine_to_the_next() -> None:
    quiet = {"boot_id": "one", "machine": "x86_64"}
    before, after = ({**quiet, "uptime_s": uptime_s} for uptime_s in (2.0, 3.0))
    machine = built(
        session([start()], conditions_before=None, conditions_after=None),
        resumed(conditions_before=before, conditions_after=after),
    )["machine"]
    assert (machine["before"]["uptime_s"], machine["after"]["uptime_s"]) == (2, 3)


def test_each_case_is_judged_with_the_evidence_of_the_session_that_measured_it() -> None:
    unproven = {"proof": {"source": "none", "device": None, "reason": "raid_redundancy"}}
    dd, fio = built(killed(), resumed(targets={"t1": target_evidence(judged=unproven)}))["cases"]
    assert {repeat["proof"]["verdict"] for repeat in dd["repeats"]} == {"delivered"}
    assert {repeat["proof"]["verdict"] for repeat in fio["repeats"]} == {"not_decidable"}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"conditions_before": {"boot_id": "two"}}, "the machine was rebooted between session 1 and session 2"),
        (
            {"conditions_before": {"boot_id": "one", "kernel_release": "6.1.0"}},
            "the kernel changed between session 1 and session 2",
        ),
        ({"targets": {"t1": target_evidence(modified_ns=7)}}, "the file t1 changed between session 1 and session 2"),
        (
            {"targets": {"t1": target_evidence(block_chain=[])}},
            "the storage under t1 changed between session 1 and session 2",
        ),
    ],
)
def test_what_differs_between_sessions_is_a_doubt(changes: dict[str, Any], what: str) -> None:
    result = built(killed(), resumed(conditions_after=None, **changes))
    assert [found["what"] for found in result["validity"]["issues"]] == [what]
    assert result["validity"]["verdict"] == "doubtful"
    assert {case["validity"]["verdict"] for case in result["cases"]} == {"valid"}


def test_a_session_that_gave_no_figure_raises_no_doubt() -> None:
    idle = session([start(boot_id="two")], conditions_before={"boot_id": "two"}, conditions_after=None)
    did = [start("10:04:00", 2), *case_events(DD, 1, 2, 3), *case_events(FIO, 1, 2, 3), end("10:05:00")]
    assert built(idle, session(did, 2))["validity"]["verdict"] == "valid"


def test_the_boot_that_only_the_journal_knows_is_compared_too() -> None:
    first = killed(conditions_before={})
    second = session([start("10:04:00", 2, boot_id="two"), *case_events(FIO, 1, 2, 3), end("10:05:00")], 2)
    second = RawSession(2, second.events, second.targets, {}, {})
    assert codes(built(first, second)) == ["state_changed"]


REFUSED = {"event": "target-refused", "target": "t1", "code": "hung", "sentence": '"m.gguf" did not answer.'}
SKIPPED = {"event": "case-skipped", "case": FIO, "code": "hung", "sentence": '"m.gguf" did not answer.'}


def test_a_refusal_of_a_later_session_hides_no_figure_that_was_measured_before() -> None:
    result = built(killed(), session([start("10:04:00", 2), REFUSED, SKIPPED, end("10:05:00")], 2), fio=[])
    assert result["targets"][0]["size_bytes"] == GIB
    dd, fio = result["cases"]
    assert dd["status"] == "measured"
    assert (fio["status"], fio["reason"]["sentence"]) == ("skipped", "The file did not answer.")


def test_a_refusal_is_gone_when_a_later_session_measured() -> None:
    refusing = session([start(), REFUSED, {**SKIPPED, "case": DD}, SKIPPED, end("10:01:00", "signal")])
    did = [start("10:04:00", 2), *case_events(DD, 1, 2, 3), *case_events(FIO, 1, 2, 3), end("10:05:00")]
    result = built(refusing, session(did, 2))
    assert "refusal" not in result["targets"][0]
    assert [case["status"] for case in result["cases"]] == ["measured", "measured"]
    assert result["validity"]["verdict"] == "valid"


def test_the_last_refusal_of_a_file_that_was_never_measured_is_shown() -> None:
    sentence = '"m.gguf" does not exist.'
    later = {**REFUSED, "code": "missing", "sentence": sentence}
    result = built(
        session([start(), REFUSED]), session([start("10:04:00", 2), later, end("10:05:00")], 2), dd=[], fio=[]
    )
    assert result["targets"][0]["refusal"] == {"code": "missing", "sentence": "The file does not exist."}


def test_a_file_that_stopped_answering_later_was_not_refused() -> None:
    hung = {**REFUSED, "code": "hung_later"}
    result = built(session([start(), hung, end()]), dd=[], fio=[])
    assert result["targets"][0]["size_bytes"] == GIB


def test_a_refusal_that_only_the_evidence_holds_is_shown_too() -> None:
    refused = {"refusal": '"m.gguf" is empty.', "refusal_code": "empty"}
    only = session([start(), end()], targets={"t1": target_evidence(size_bytes=0, judged=refused)})
    result = built(only, dd=[], fio=[])
    assert result["targets"][0]["refusal"] == {"code": "empty", "sentence": "The file is empty."}


def test_what_lay_on_another_medium_when_it_was_measured_is_no_figure_of_its_case() -> None:
    network = nfs_classified()
    result = built(killed(), resumed(targets={"t1": target_evidence(judged=network)}))
    dd, fio = result["cases"]
    assert result["targets"][0]["medium"] == "block"
    assert dd["status"] == "measured"
    assert (fio["status"], fio["reason"]["code"], fio["repeats"]) == ("failed", "other_medium", [])
    alone = built(session([start(), end()], targets={"t1": target_evidence(judged=network)}), dd=[], fio=[])
    assert alone["targets"][0]["refusal"]["code"] == "other_medium"


def test_a_case_that_a_killed_session_began_was_not_run_whatever_was_said_before() -> None:
    begun = session([start("10:04:00", 2), {"event": "case-start", "case": FIO}], 2)
    assert built(killed(SKIPPED), begun, fio=[])["cases"][1]["status"] == "not_run"


def test_a_knob_that_could_not_be_set_is_the_reason_of_its_case() -> None:
    failed = {"event": "case-failed", "case": DD, "code": "knob_failed", "sentence": "The read-ahead can't be set."}
    case = built(session([start(), failed, end()]), dd=[])["cases"][0]
    assert (case["status"], case["reason"]["code"]) == ("failed", "knob_failed")
    assert case["validity"]["verdict"] == "not_measured"


@pytest.mark.parametrize(
    ("in_force", "found"),
    [(4096, []), (128, ["read_ahead_off"]), (None, ["read_ahead_off"]), ("4096", ["read_ahead_off"])],
)
def test_the_read_ahead_in_force_is_shown_and_another_than_asked_is_a_doubt(in_force: Any, found: list[str]) -> None:
    case = dd_case(direct=False, read_ahead_kb=4096)
    repeats = [good_dd(n, read_ahead_kb=in_force) for n in (1, 2, 3)]
    result = build_result(raw_run([case], {DD: repeats}))
    assert validate(result) == []
    (only,) = result["cases"]
    assert sorted({one["code"] for one in only["validity"]["issues"]}) == found
    shown = in_force if isinstance(in_force, int) else None
    assert {repeat["read_ahead_kb"] for repeat in only["repeats"]} == {shown}
    assert result["targets"][0]["read_ahead_kb"] == 128


def test_a_sentence_that_no_result_may_hold_is_left_out() -> None:
    for sentence in ("It lies in /home/person.", "Ask 192.168.1.20.", None, ["x"], "", "\ud800"):
        failed = {"event": "case-failed", "case": DD, "code": "Not A Code", "sentence": sentence}
        case = built(session([start(), failed, end()]), dd=[])["cases"][0]
        assert case["reason"] == {"code": "unknown", "sentence": "The reason is not told here."}


ODD = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
NAMES = ["run-start", "run-end", "case-start", "case-done", "case-skipped", "case-failed", "case-set-aside"]
NAMES += ["repeat-start", "repeat-done", "target-refused", "undo-add", "undo-done", "anything else"]
TIMES = st.sampled_from(
    ["2026-03-01T10:00:00.000Z", "2026-03-01T09:00:00.5Z", "1970-01-01T00:00:01Z", "0001-01-01T00:00:00Z"]
)
FIELDS = {
    "at": TIMES | ODD,
    "monotonic_s": st.floats(allow_nan=False, allow_infinity=False) | ODD,
    "session": st.integers(-1, 4) | ODD,
    "case": st.sampled_from([DD, FIO]) | ODD,
    "target": st.sampled_from(["t1", "t2"]) | ODD,
    "code": st.sampled_from(["hung", "hung_later", "A B"]) | ODD,
    "sentence": st.sampled_from(["It hung.", "See /etc/passwd.", '"m.gguf" hung at 10.0.0.1.']) | ODD,
    "stopped_by": st.sampled_from([None, "signal", "error", "killed"]) | ODD,
    "boot_id": st.sampled_from(["one", "two"]) | ODD,
    "agent_sha256": st.sampled_from(["b" * 64, "c" * 64]) | ODD,
    "tools": st.fixed_dictionaries({"dd": st.fixed_dictionaries({"version": st.just("coreutils 9.1") | ODD}) | ODD})
    | ODD,
}
ODD_EVENTS = st.fixed_dictionaries({"event": st.sampled_from(NAMES)}, optional=FIELDS)
# Mostly what an agent writes, so that whole sessions come about.
EVENTS = st.lists(
    st.sampled_from(
        [
            start(),
            start(session=2),
            end(),
            end(stopped_by="signal"),
            REFUSED,
            SKIPPED,
            *case_events(DD, 1),
            *case_events(FIO, 1, 2, 3),
        ]
    )
    | ODD_EVENTS,
    max_size=12,
)


def a_directory(tmp_path: Path, lines: list[str]) -> Path:
    """A run directory with figures of dd alone, evidence of two sessions, and this journal."""
    run = a_run(session([]))
    (tmp_path / "plan.json").write_text(json.dumps(run.plan))
    (tmp_path / "journal.jsonl").write_text("\n".join(lines))
    for suffix in ("", "-2"):
        (tmp_path / f"targets{suffix}.json").write_text(json.dumps({"t1": target_evidence()}))
        (tmp_path / f"conditions-before{suffix}.json").write_text('{"boot_id": "one"}')
    repeat = tmp_path / "cases" / DD / "r1"
    repeat.mkdir(parents=True)
    raw = good_dd(1)
    (repeat / "record.json").write_text(json.dumps(raw.record))
    (repeat / "stderr").write_text(raw.files["stderr"].text)
    return tmp_path


@settings(
    max_examples=settings().max_examples * 3 // 2,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(events=EVENTS, cut=st.lists(st.integers(0, 300), max_size=4), data=st.data())
def test_no_journal_breaks_the_builder(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], cut: list[int], data: st.DataObject
) -> None:
    lines = [json.dumps(event) for event in events]
    for length in cut if lines else []:
        place = data.draw(st.integers(0, len(lines) - 1))
        lines[place] = lines[place][:length]
    try:
        run = read_run(a_directory(tmp_path_factory.mktemp("run"), lines))
    except UserError:
        return
    result = build_result(run)
    assert validate(result) == []
    assert [one["number"] for one in result["run"]["sessions"]] == list(range(1, len(run.sessions) + 1))
    assert build_result(copy.deepcopy(run)) == result


def test_a_failed_repeat_is_failed_whatever_a_journal_says_of_skipping() -> None:
    failed = raw_repeat(1, record(snapshot(), snapshot(), exit_status=1), stderr="")
    skipped = {**SKIPPED, "case": DD}
    case = built(session([start(), skipped, *case_events(DD, 1), end()]), dd=[failed])["cases"][0]
    assert (case["status"], case["reason"]["code"]) == ("failed", "tool_failed")
