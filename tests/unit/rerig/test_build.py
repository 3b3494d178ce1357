"""From raw runs to result documents: every figure, doubt and reason, and the same document every time."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from raw_runs import (
    GIB,
    SECTORS,
    block_classified,
    dd_case,
    dd_text,
    end,
    fio_case,
    fio_text,
    good_dd,
    good_fio,
    raw_repeat,
    raw_run,
    record,
    residency,
    session,
    snapshot,
    start,
)
from rerig import judged
from rerig.build import build_result
from rerig.build_repeat import build_repeat
from rerig.rundir import RawRun


def codes(case: dict[str, Any], raw: Any, classified: dict[str, Any] | None = None) -> list[str]:
    _block, issues = build_repeat(case, raw, classified or block_classified(), None)
    return [found["code"] for found in issues]


def test_a_good_dd_repeat_has_its_exact_rate_and_no_doubt() -> None:
    block, issues = build_repeat(dd_case(), good_dd(1), block_classified(), None)
    assert issues == []
    assert block["bandwidth_bytes_per_s"] == GIB / 2.5
    assert block["bytes"] == GIB
    assert block["proof"] == {"verdict": "delivered", "delivered_bytes": GIB, "ratio": 1.0}
    assert block["process_read_bytes"] == GIB
    assert block["seed"] is None


def test_a_good_fio_repeat_has_the_tools_own_rate_its_seed_and_its_depth() -> None:
    block, issues = build_repeat(fio_case(), good_fio(2), block_classified(), None)
    assert issues == []
    assert block["bandwidth_bytes_per_s"] == round(GIB / 4)
    assert block["seed"] == 2
    assert block["fio"]["share_at_depth"] == 1.0
    assert block["fio"]["depth_by_device"] == 4.0
    assert block["fio"]["latency_mean_s"] == pytest.approx(150e-6)


def test_a_cached_buffered_read_is_doubtful_and_the_same_with_o_direct_is_valid() -> None:
    cached = raw_repeat(1, record(snapshot(), snapshot(), residency_before=residency(1.0)), stderr=dd_text(GIB, 0.3))
    assert codes(dd_case(direct=False), cached) == ["served_from_cache", "not_cold"]
    direct = good_dd(1, residency_before=residency(1.0))
    assert codes(dd_case(), direct) == []


def test_the_missing_bytes_are_named() -> None:
    what = record(snapshot(), snapshot(sectors=SECTORS // 2))
    _block, issues = build_repeat(dd_case(), raw_repeat(1, what, stderr=dd_text(GIB, 1.0)), block_classified(), None)
    assert issues[0]["actual"] == GIB // 2
    assert issues[0]["expected"] == GIB
    assert "536,870,912 bytes fewer" in issues[0]["what"]


def test_other_traffic_is_a_doubt_of_its_own() -> None:
    what = record(snapshot(), snapshot(sectors=SECTORS * 2))
    assert codes(dd_case(), raw_repeat(1, what, stderr=dd_text(GIB, 2.5))) == ["extra_traffic"]


def test_a_short_read_is_a_fault() -> None:
    what = record(snapshot(), snapshot(sectors=SECTORS // 2))
    assert codes(dd_case(), raw_repeat(1, what, stderr=dd_text(GIB // 2, 2.5))) == ["short_read"]


def test_dd_that_fails_gives_no_rate_although_it_prints_a_summary() -> None:
    complaint = "dd: error reading '/data/x': Invalid argument\n"
    text = complaint + "0+0 records in\n0+0 records out\n0 bytes copied, 0.001 s, 0.0 kB/s\n"
    raw = raw_repeat(1, record(snapshot(), snapshot(), exit_status=1), stderr=text)
    block, issues = build_repeat(dd_case(), raw, block_classified(), None)
    assert [found["code"] for found in issues] == ["tool_failed"]
    assert block["bandwidth_bytes_per_s"] is None
    assert "/data" not in json.dumps(block)


@pytest.mark.parametrize("text", ["", "rubbish", "1 bytes copied"])
def test_unreadable_output_is_a_fault(text: str) -> None:
    raw = raw_repeat(1, record(snapshot(), snapshot()), stderr=text)
    assert codes(dd_case(), raw) == ["tool_output_unreadable"]
    assert codes(fio_case(), raw_repeat(1, record(snapshot(), snapshot()), fio=text)) == ["tool_output_unreadable"]


def test_a_fio_that_counts_no_reads_keeps_its_rate() -> None:
    text = json.loads(fio_text(16384, 65536, 4.0))
    del text["jobs"][0]["read"]["total_ios"]
    text["jobs"][0]["read"]["iops"] = float("nan")
    what = record(snapshot(), snapshot(reads=16384, sectors=SECTORS, ticks_ms=16000))
    block, issues = build_repeat(fio_case(), raw_repeat(1, what, fio=json.dumps(text)), block_classified(), None)
    assert issues == []
    assert block["bandwidth_bytes_per_s"] == GIB / 4
    assert block["fio"]["ios"] == 16384
    assert block["fio"]["iops"] == 4096


def test_fio_without_an_output_file_is_a_fault() -> None:
    assert codes(fio_case(), raw_repeat(1, record(snapshot(), snapshot()), stderr="")) == ["tool_output_unreadable"]


def test_an_error_inside_fios_object_is_a_fault_although_it_exited_0() -> None:
    assert codes(fio_case(), good_fio(1, error=5)) == ["tool_failed"]


def test_a_read_that_hung_is_a_fault_of_its_own() -> None:
    raw = raw_repeat(1, record(snapshot(), snapshot(), exit_status=None, timed_out=True, unkillable=True), stderr="")
    assert codes(dd_case(), raw) == ["timed_out"]


def test_a_synchronous_engine_can_not_pass_for_depth_4() -> None:
    assert codes(fio_case(), good_fio(1, level="1", ticks_ms=4000)) == ["depth_levels_off", "depth_device_off"]


def test_a_run_under_2_seconds_is_a_doubt() -> None:
    assert codes(fio_case(), good_fio(1, seconds=1.9, ticks_ms=7600)) == ["short_run"]


def test_a_run_under_5_seconds_on_a_virtual_disk_is_a_doubt_since_its_limit_lets_a_burst_through() -> None:
    virtual = block_classified(storage_class="vm_disk")
    assert codes(dd_case(), good_dd(1, seconds=4.9), virtual) == ["short_run"]
    assert codes(dd_case(), good_dd(1, seconds=5.0), virtual) == []
    assert codes(dd_case(), good_dd(1, seconds=0.5)) == []
    assert codes(fio_case(), good_fio(1, seconds=4.9, ticks_ms=19600), virtual) == ["short_run"]
    assert codes(dd_case(kind="dd_reread", scratch_bytes=GIB), good_dd(1, seconds=0.5), virtual) == []


def test_where_nothing_counts_the_bytes_the_number_is_marked() -> None:
    classified = block_classified(proof={"source": "none", "device": None, "reason": "raid_redundancy"})
    _block, issues = build_repeat(dd_case(), good_dd(1), classified, None)
    assert [found["code"] for found in issues] == ["bytes_not_provable"]
    assert "array" in issues[0]["what"]


def test_coldness_that_can_not_be_seen_is_a_doubt_of_buffered_reads_only() -> None:
    raw = good_dd(1, residency_before=residency(None))
    assert codes(dd_case(direct=False), raw) == ["coldness_unknown"]
    assert codes(dd_case(), raw) == []


def a_run(
    cases: list[dict[str, Any]], repeats: dict[str, list[Any]], events: list[dict[str, Any]] | None = None
) -> RawRun:
    return raw_run(cases, repeats, None if events is None else [session(events)])


@pytest.fixture(autouse=True)
def _plain_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The evidence of these runs is cut short; its judge has tests of its own."""
    monkeypatch.setattr(judged, "classify", lambda _evidence: block_classified())


def only_case(result: dict[str, Any]) -> dict[str, Any]:
    return dict(result["cases"][0])


def test_the_same_raw_files_give_the_same_document() -> None:
    run = a_run([dd_case()], {"dd-8m.t1": [good_dd(n) for n in (1, 2, 3)]})
    assert build_result(copy.deepcopy(run)) == build_result(run)


def test_three_good_repeats_are_a_valid_case() -> None:
    result = build_result(a_run([dd_case()], {"dd-8m.t1": [good_dd(n) for n in (1, 2, 3)]}))
    assert only_case(result)["status"] == "measured"
    assert only_case(result)["validity"] == {"verdict": "valid", "issues": []}
    assert result["validity"]["verdict"] == "valid"
    assert result["run"]["complete"]
    assert result["machine"]["tools"]["fio"] == "3.33"


def test_repeats_that_differ_by_much_are_a_doubt() -> None:
    repeats = [good_dd(n, seconds) for n, seconds in ((1, 2.5), (2, 2.5), (3, 4.0))]
    case = only_case(build_result(a_run([dd_case()], {"dd-8m.t1": repeats})))
    assert [found["code"] for found in case["validity"]["issues"]] == ["spread_high"]


def test_two_repeats_are_too_few_for_a_spread() -> None:
    case = only_case(build_result(a_run([dd_case(repeats=2)], {"dd-8m.t1": [good_dd(1), good_dd(2)]})))
    assert [found["code"] for found in case["validity"]["issues"]] == ["few_repeats"]


def test_a_stopped_run_keeps_what_it_has_and_says_what_is_missing() -> None:
    events = [start(), end(stopped_by="signal")]
    cases = [dd_case(), fio_case()]
    result = build_result(a_run(cases, {"dd-8m.t1": [good_dd(1)], "rand-64k-qd4.t1": []}, events))
    assert not result["run"]["complete"]
    assert result["cases"][0]["status"] == "measured"
    assert {found["code"] for found in result["cases"][0]["validity"]["issues"]} == {"not_run", "few_repeats"}
    assert result["cases"][1]["status"] == "not_run"
    assert result["cases"][1]["reason"]["code"] == "not_run"
    assert [found["code"] for found in result["validity"]["issues"]] == ["stopped_early"]


def test_a_killed_agent_leaves_a_run_that_says_so() -> None:
    result = build_result(a_run([dd_case()], {"dd-8m.t1": [good_dd(1)]}, [start()]))
    assert result["run"]["stopped_by"] == "killed"
    assert result["run"]["finished_at"] is None
    assert not result["run"]["complete"]


def test_a_skipped_case_has_its_reason() -> None:
    skip = {"event": "case-skipped", "case": "rand-64k-qd4.t1", "code": "fio_missing", "sentence": "No fio."}
    result = build_result(a_run([fio_case()], {"rand-64k-qd4.t1": []}, [start(), skip, end()]))
    assert only_case(result)["status"] == "skipped"
    assert only_case(result)["reason"] == {"code": "fio_missing", "sentence": "No fio."}
    assert result["run"]["complete"]
    assert result["validity"]["verdict"] == "not_measured"


def test_a_refused_target_has_its_reason_without_its_name() -> None:
    sentence = '"m.gguf" lies on tmpfs, which is memory and no disk.'
    refused = {"event": "target-refused", "target": "t1", "code": "ram_file_system", "sentence": sentence}
    result = build_result(a_run([], {}, [start(), refused, end()]))
    assert result["targets"] == [
        {
            "id": "t1",
            "label": "m.gguf",
            "origin": "user",
            "refusal": {"code": "ram_file_system", "sentence": "The file lies on tmpfs, which is memory and no disk."},
        }
    ]


def test_a_pass_that_ran_out_of_time_is_marked() -> None:
    case = fio_case()
    cut = raw_repeat(
        1,
        record(snapshot(), snapshot(reads=8192, sectors=SECTORS // 2, ticks_ms=32000)),
        fio=fio_text(8192, 65536, 8.0),
    )
    assert only_case(build_result(a_run([case], {case["id"]: [cut]})))["extent"] == "time_limited"
    assert only_case(build_result(a_run([case], {case["id"]: [good_fio(1)]})))["extent"] == "one_pass"


def test_one_bad_case_makes_the_run_doubtful_and_only_bad_ones_invalid() -> None:
    failed = raw_repeat(1, record(snapshot(), snapshot(), exit_status=1), stderr="")
    mixed = build_result(
        a_run([dd_case(), fio_case()], {"dd-8m.t1": [failed], "rand-64k-qd4.t1": [good_fio(n) for n in (1, 2, 3)]})
    )
    assert mixed["validity"]["verdict"] == "doubtful"
    alone = build_result(a_run([dd_case(repeats=1)], {"dd-8m.t1": [failed]}))
    assert only_case(alone)["status"] == "failed"
    assert only_case(alone)["validity"]["verdict"] == "invalid"
    assert alone["validity"]["verdict"] == "invalid"


def test_a_reboot_during_the_run_is_a_doubt_and_the_boot_id_is_not_published() -> None:
    run = a_run([dd_case()], {"dd-8m.t1": [good_dd(n) for n in (1, 2, 3)]})
    conditions = run.sessions[0].conditions_after
    assert conditions is not None
    conditions["boot_id"] = "two"
    result = build_result(run)
    assert [found["code"] for found in result["validity"]["issues"]] == ["state_changed"]
    assert "boot_id" not in json.dumps(result)
