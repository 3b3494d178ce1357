"""Two results side by side: joined on identity, then on the file's name; chance is not called a difference."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rerig.compare_results import compare_results

from .small_results import FIO_QD1, LOCAL_DD, NFS_DD, case, result
from .strategies import results

FLIPPED = {"only_in_a": "only_in_b", "only_in_b": "only_in_a"}


def only_row(a, b):
    (row,) = compare_results(a, b).rows
    return row


def test_a_clear_difference_is_told_with_its_interval():
    row = only_row(result(case(NFS_DD, [100e6, 101e6, 99e6])), result(case(NFS_DD, [120e6, 121e6, 119e6])))
    assert row.verdict == "differs"
    assert row.ratio == pytest.approx(1.2)
    assert row.words == "the second is 20.0 % faster (95 % interval +17.7 to +22.3 %)"


def test_a_slower_second_result_is_called_slower():
    row = only_row(result(case(NFS_DD, [100e6, 101e6, 99e6])), result(case(NFS_DD, [80e6, 81e6, 79e6])))
    assert row.words.startswith("the second is 20.0 % slower")


def test_a_difference_within_the_spread_is_not_called_one():
    row = only_row(result(case(NFS_DD, [100e6, 110e6, 90e6])), result(case(NFS_DD, [104e6, 114e6, 94e6])))
    assert row.verdict == "no_difference_shown"
    assert row.words.startswith("no difference shown (95 % interval -")


@pytest.mark.parametrize(("a", "b"), [([100e6], [120e6, 121e6]), ([100e6, 99e6], [120e6]), ([100e6], [120e6])])
def test_a_single_repeat_gives_a_ratio_but_no_interval_and_says_why(a, b):
    row = only_row(result(case(NFS_DD, a)), result(case(NFS_DD, b)))
    assert row.verdict == "undecided"
    assert row.difference_interval is None
    assert row.ratio == pytest.approx(1.2, rel=0.02)
    assert "a single repeat has no spread" in row.words
    assert any(note.endswith("a single repeat, so no interval") for note in row.notes)


def test_cases_with_another_read_ahead_are_not_joined():
    ahead = {**NFS_DD, "read_ahead_kb": 4096}
    rows = compare_results(result(case(NFS_DD, [1e8] * 2)), result(case(ahead, [1e8] * 2))).rows
    assert [row.verdict for row in rows] == ["only_in_a", "only_in_b"]
    assert only_row(result(case(ahead, [1e8] * 2)), result(case(ahead, [1e8] * 2))).verdict == "no_difference_shown"


def test_cases_of_another_identity_are_not_joined():
    rows = compare_results(result(case(NFS_DD, [1e8] * 2)), result(case({**NFS_DD, "direct": False}, [1e8] * 2))).rows
    assert [row.verdict for row in rows] == ["only_in_a", "only_in_b"]
    assert [row.words for row in rows] == ["only in the first result", "only in the second result"]


@pytest.mark.parametrize("key", list(FIO_QD1))
def test_every_parameter_of_an_identity_counts_in_the_join(key):
    other = {name: value for name, value in FIO_QD1.items() if name != key}
    rows = compare_results(result(case(FIO_QD1, [1e8] * 2)), result(case(other, [1e8] * 2))).rows
    assert [row.verdict for row in rows] == ["only_in_a", "only_in_b"]


def test_one_case_on_each_side_is_joined_whatever_the_files_are_called():
    b = result(case(NFS_DD, [1e8, 1e8]))
    b["targets"][0]["label"] = "other.bin"
    assert only_row(result(case(NFS_DD, [1e8, 1e8])), b).verdict == "no_difference_shown"


def test_several_targets_are_joined_by_their_files_names_not_their_order():
    a = result(case(NFS_DD, [1e8, 1e8], target="t1"), case(NFS_DD, [2e8, 2e8], target="t2"))
    b = copy.deepcopy(a)
    b["targets"][0]["label"], b["targets"][1]["label"] = "b.bin", "a.bin"
    rows = compare_results(a, b).rows
    assert [(row.target_a, row.target_b) for row in rows] == [("a.bin", "a.bin"), ("b.bin", "b.bin")]
    assert [row.ratio for row in rows] == [2.0, 0.5]


def test_a_target_that_the_other_result_lacks_stands_alone():
    a = result(case(NFS_DD, [1e8, 1e8], target="t1"), case(NFS_DD, [2e8, 2e8], target="t2"))
    b = result(case(NFS_DD, [1e8, 1e8], target="t2"))
    assert [(row.target_a, row.target_b, row.verdict) for row in compare_results(a, b).rows] == [
        ("a.bin", None, "only_in_a"),
        ("b.bin", "b.bin", "differs"),
    ]


def test_what_gave_no_figure_is_not_compared_and_says_on_which_side():
    skipped = case(LOCAL_DD, [], status="skipped", verdict="not_measured")
    row = only_row(result(case(LOCAL_DD, [1e9, 1e9])), result(skipped))
    assert (row.verdict, row.ratio, row.words) == ("not_compared", None, "not compared")
    assert row.notes == ("second: skipped: fio is not installed",)


def test_doubts_are_noted_on_their_side():
    doubtful = case(LOCAL_DD, [1e9, 1e9], verdict="doubtful", codes=["served_from_cache"])
    row = only_row(result(doubtful), result(case(LOCAL_DD, [1e9, 1e9]), codes=["state_changed"]))
    assert row.notes == ("first: doubtful: served_from_cache", "second: the whole run is doubtful: state_changed")


def test_doubts_are_left_out_where_nothing_is_compared():
    doubtful = case(LOCAL_DD, [1e9, 1e9], verdict="doubtful", codes=["served_from_cache"])
    assert only_row(result(doubtful, codes=["state_changed"]), result()).notes == ()


def test_equal_figures_without_any_spread_show_no_difference_and_unequal_ones_do():
    a, b = result(case(NFS_DD, [1e8] * 3)), result(case(NFS_DD, [1.01e8] * 3))
    assert only_row(a, a).verdict == "no_difference_shown"
    assert only_row(a, b).verdict == "differs"


SLOW_IS_FINE = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=settings().max_examples // 2
)


@SLOW_IS_FINE
@given(results())
def test_a_result_never_differs_from_itself(document):
    rows = compare_results(document, document).rows
    assert len(rows) == len(document["cases"])
    assert {row.verdict for row in rows} <= {"no_difference_shown", "undecided", "not_compared"}
    assert all(row.ratio in (None, 1.0) for row in rows)


@SLOW_IS_FINE
@given(results(), results(), st.data())
def test_joining_is_symmetric(a, other, data):
    """Also where both results hold the same identities, in another order and on other targets."""
    b = {
        **a,
        "cases": data.draw(st.permutations(a["cases"]))[: data.draw(st.integers(0, 4))],
        "targets": a["targets"][::-1],
    }
    for left, right in ((a, other), (a, b)):
        forth, back = compare_results(left, right).rows, compare_results(right, left).rows
        assert sorted((str(row.case_a), str(row.case_b), row.verdict) for row in forth) == sorted(
            (str(row.case_b), str(row.case_a), FLIPPED.get(row.verdict, row.verdict)) for row in back
        )


LOAD = {"kind": "power_budget", "load_s": 90, "gpu": True}


def loads(*powers):
    repeats = [
        {"partial": False, "input_power_highest_w": power, "tj_highest_c": 60 + power / 10, "gpu_clock": None}
        for power in powers
    ]
    return {**case(LOAD, []), "repeats": [{**repeat, "cpu_clock": None} for repeat in repeats]}


def test_two_loads_are_compared_in_each_of_their_quantities():
    rows = compare_results(result(loads(20.0, 20.1, 20.2)), result(loads(22.0, 22.1, 22.2))).rows
    assert [row.quantity for row in rows] == [
        "input_power_highest",
        "tj_highest",
        "gpu_clock_lowest",
        "cpu_clock_lowest",
    ]
    power, tj, gpu, _ = rows
    assert power.words == "the second is 10.0 % higher (95 % interval +8.8 to +11.1 %)"
    assert (tj.ratio, tj.verdict) == (None, "differs")
    assert tj.words == "the second is +0.2 °C away (95 % interval +0.2 to +0.2 °C)"
    assert (gpu.verdict, gpu.words) == ("not_compared", "not compared")
    assert gpu.notes == (
        "first: nothing there tells the lowest GPU clock",
        "second: nothing there tells the lowest GPU clock",
    )
