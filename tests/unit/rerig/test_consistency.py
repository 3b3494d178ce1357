"""Where the contradictions inside a result begin, to the byte; schemas/examples/invalid holds one of each kind."""

import copy
import json

import pytest

from rerig.schema import SCHEMAS, validate

LOCAL = json.loads((SCHEMAS / "examples/valid/result/local-scratch-file.json").read_text("utf-8"))
DOUBTS = json.loads((SCHEMAS / "examples/valid/result/doubts-of-the-proof.json").read_text("utf-8"))
READ = 4294967296


@pytest.fixture
def result():
    return copy.deepcopy(LOCAL)


def with_proof(result, read, delivered, verdict):
    """The first repeat of dd, of which ``read`` bytes were read and as many asked."""
    repeat = result["cases"][0]["repeats"][0]
    repeat.update(asked_bytes=read, bytes=read, duration_s=1.0, bandwidth_bytes_per_s=float(read))
    repeat["proof"] = {"verdict": verdict, "delivered_bytes": delivered, "ratio": round(delivered / read, 6)}
    if verdict != "delivered":
        issue = {"code": verdict, "what": "x", "expected": None, "actual": None, "repeat": 1}
        result["cases"][0]["validity"] = {"verdict": "doubtful", "issues": [issue]}
    return result


@pytest.mark.parametrize(
    ("read", "delivered", "verdict"),
    [
        (10**9, 990_000_000, "delivered"),
        (10**9, 989_999_999, "served_from_cache"),
        (10**9, 1_020_000_000, "delivered"),
        (10**9, 1_020_000_001, "extra_traffic"),
        (10_000, 5904, "delivered"),  # within a page, whatever the ratio
        (10_000, 5903, "served_from_cache"),
        (10_000, 14_096, "delivered"),
        (10_000, 14_097, "extra_traffic"),
    ],
)
def test_the_verdict_of_a_proof_changes_at_its_limits(result, read, delivered, verdict):
    assert validate(with_proof(result, read, delivered, verdict)) == []
    others = {"delivered", "served_from_cache", "extra_traffic"} - {verdict}
    for other in others:
        (error,) = validate(with_proof(copy.deepcopy(LOCAL), read, delivered, other))
        assert error.startswith("/cases/0/repeats/0/proof/verdict: ")


@pytest.mark.parametrize(("off", "errors"), [(0.9e-6, 0), (2e-6, 1)])
def test_a_ratio_is_exact_to_its_six_decimals(result, off, errors):
    result["cases"][0]["repeats"][0]["proof"]["ratio"] = 1.0 + off
    assert len(validate(result)) == errors


@pytest.mark.parametrize("key", ["bytes", "delivered_bytes"])
def test_a_ratio_without_its_two_numbers_is_none(key):
    result = copy.deepcopy(DOUBTS)
    repeat = result["cases"][1]["repeats"][0]
    repeat["proof"].update(delivered_bytes=None if key == "delivered_bytes" else READ, ratio=1.0)
    if key == "bytes":
        repeat.update(bytes=None, duration_s=None, bandwidth_bytes_per_s=None)
    assert validate(result) == ["/cases/1/repeats/0/proof/ratio: a ratio needs delivered_bytes, and bytes above zero"]


@pytest.mark.parametrize(("factor", "errors"), [(1.0009, 0), (0.9991, 0), (1.0011, 1), (0.9989, 1)])
@pytest.mark.parametrize("case", [0, 2], ids=["dd", "fio"])
def test_every_tools_rate_is_bytes_over_seconds_to_a_thousandth(result, case, factor, errors):
    result["cases"][case]["repeats"][0]["bandwidth_bytes_per_s"] *= factor
    assert len(validate(result)) == errors


def test_a_doubt_may_be_named_for_the_whole_case():
    result = copy.deepcopy(DOUBTS)
    result["cases"][1]["validity"]["issues"] = [{**result["cases"][1]["validity"]["issues"][0], "repeat": None}]
    assert validate(result) == []


def test_a_doubt_that_is_named_for_another_repeat_does_not_count():
    result = copy.deepcopy(DOUBTS)
    result["cases"][0]["validity"]["issues"][0]["repeat"] = 1
    assert validate(result) == ["/cases/0/validity/issues: repeat 2 needs an issue 'extra_traffic'"]


def test_a_repeat_without_a_figure_has_nothing_to_prove(result):
    repeat = result["cases"][0]["repeats"][0]
    repeat.update(bytes=None, duration_s=None, bandwidth_bytes_per_s=None, exit_status=1)
    repeat["proof"] = {"verdict": "not_decidable", "delivered_bytes": None, "ratio": None}
    assert validate(result) == []


def test_a_fio_pass_that_ran_out_of_time_is_no_short_read(result):
    repeat = result["cases"][2]["repeats"][0]
    assert repeat["bytes"] < repeat["asked_bytes"]
    assert validate(result) == []


def with_sessions(result, *sessions):
    """A stopped run of these sessions: (started_at, ended_at, stopped_by, gap_before_s)."""
    keys = ("started_at", "ended_at", "stopped_by", "gap_before_s")
    found = [{"number": n, **dict(zip(keys, parts, strict=True))} for n, parts in enumerate(sessions, start=1)]
    result["run"].update(
        started_at=found[0]["started_at"],
        finished_at=found[-1]["ended_at"],
        stopped_by=found[-1]["stopped_by"],
        complete=False,
        sessions=found,
    )
    return result


@pytest.mark.parametrize(
    ("started", "ended", "errors"),
    [
        ("2026-11-30T18:42:00Z", "2026-11-30T18:42:00.000000+00:00", 0),
        ("2026-11-30T18:42:00.5Z", "2026-11-30T18:42:00.45+00:00", 1),
        ("2026-11-30T18:42:00.45Z", "2026-11-30T18:42:00.5+00:00", 0),
        ("2026-11-30T18:42:01Z", "2026-11-30T18:42:00.9Z", 1),
        ("2026-06-31T18:42:01Z", "2026-06-30T18:42:00Z", 0),  # no such day, so nothing is compared
        (None, "2026-11-30T18:42:00Z", 0),
    ],
)
def test_a_session_ends_no_earlier_than_it_starts(result, started, ended, errors):
    assert len(validate(with_sessions(result, (started, ended, "signal", None)))) == errors


@pytest.mark.parametrize(("gap_s", "errors"), [(60.0, 0), (60.001, 0), (60.01, 1), (None, 0), (0, 1)])
def test_a_gap_is_the_time_between_two_sessions(result, gap_s, errors):
    first = ("2026-11-30T18:42:00Z", "2026-11-30T18:43:00Z", "signal", None)
    second = ("2026-11-30T18:44:00Z", None, "killed", gap_s)
    assert len(validate(with_sessions(result, first, second))) == errors


def test_a_clock_may_be_set_back_between_sessions_but_a_gap_is_never_negative(result):
    first = ("2026-11-30T18:42:00Z", "2026-11-30T18:43:00Z", "signal", None)
    before_it = ("2026-11-29T18:44:00Z", "2026-11-29T18:45:00Z", "signal")
    assert validate(with_sessions(result, first, (*before_it, None))) == []
    (error,) = validate(with_sessions(result, first, (*before_it, -86340.0)))
    assert error.startswith("/run/sessions/1/gap_before_s: ")


def test_a_killed_session_has_no_end_of_its_own(result):
    (error,) = validate(with_sessions(result, ("2026-11-30T18:42:00Z", "2026-11-30T18:43:00Z", "killed", None)))
    assert error.startswith("/run/sessions/0/ended_at: ")


@pytest.mark.parametrize("read_ahead_kb", [None, 128])
def test_a_read_ahead_that_was_not_in_force_must_be_named(result, read_ahead_kb):
    case = result["cases"][0]
    case["identity"].update(direct=False, read_ahead_kb=4096)
    for repeat in case["repeats"]:
        repeat["read_ahead_kb"] = 4096
    assert validate(result) == []
    case["repeats"][0]["read_ahead_kb"] = read_ahead_kb
    assert validate(result) == ["/cases/0/validity/issues: repeat 1 needs an issue 'read_ahead_off'"]


@pytest.mark.parametrize("verdict", ["doubtful", "invalid", "not_measured"])
def test_only_a_valid_run_contradicts_its_doubtful_cases(result, verdict):
    result["validity"]["verdict"] = verdict
    assert validate(result) == []
