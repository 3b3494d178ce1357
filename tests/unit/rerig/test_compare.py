"""Verdicts on published claims: each parameter and each side of each interval counts."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.compare import PARAMETERS, Difference, compare_with_published, judge_figure
from rerig.published import Figure, load_published
from rerig.schema import validate
from rerig.stats import Sample

from .small_results import FIO_QD1, LOCAL_DD, NFS_DD, case, result

NAS, JETSON = load_published("nas-vs-local-2026"), load_published("jetson-moe-ssd-2026")


def row_of(claim, *cases, published=NAS, **rest):
    rows = [row for row in compare_with_published(result(*cases, **rest), published).rows if row.claim == claim]
    assert len(rows) == 1
    return rows[0]


def claim_of(claim_id, published=NAS):
    return next(claim for claim in published["claims"] if claim["id"] == claim_id)


def published_with(claim):
    return {"id": "one", "claims": [claim]}


def test_a_rerun_of_the_nas_post_is_consistent():
    row = row_of("nfs-dd-8m", case(NFS_DD, [113e6, 114.2e6, 114.1e6]))
    assert row.verdict == "consistent"
    assert row.interval == (pytest.approx(111.14e6, abs=1e4), pytest.approx(116.19e6, abs=1e4))
    assert (row.published_n, row.our_n, row.target) == (3, 3, "a.bin")
    assert row.ratio == pytest.approx(row.our_mean / row.published_mean)


def test_a_faster_link_differs_by_how_much():
    row = row_of("nfs-dd-8m", case(NFS_DD, [1136.6e6, 1136.7e6, 1136.7e6]))
    assert row.verdict == "differs"
    assert row.words == "differs by +900 %"


def test_a_slightly_slower_disk_differs_by_one_decimal():
    row = row_of("local-dd-8m", case(LOCAL_DD, [1.40e9, 1.40e9, 1.40e9]))
    assert row.words == "differs by -3.7 %"


def test_a_read_ahead_that_was_set_is_another_measurement_than_one_that_was_not():
    row = row_of("nfs-dd-8m", case({**NFS_DD, "read_ahead_kb": 4096}, [114e6] * 3))
    assert row.verdict == "unlike"
    assert row.words == "unlike, not compared: read-ahead 4,096 KiB here, not set published"
    claim = copy.deepcopy(claim_of("nfs-dd-8m"))
    claim["identity"]["read_ahead_kb"] = 4096
    (row,) = compare_with_published(
        result(case({**NFS_DD, "read_ahead_kb": 4096}, [114e6] * 3)), published_with(claim)
    ).rows
    assert row.verdict == "consistent"


@pytest.mark.parametrize("parameter", PARAMETERS["dd_read"])
def test_deleting_a_parameter_on_our_side_makes_the_cases_unlike(parameter):
    identity = {key: value for key, value in NFS_DD.items() if key != parameter}
    row = row_of("nfs-dd-8m", case(identity, [114e6] * 3))
    assert row.verdict == "unlike"
    assert row.differences == (Difference(parameter, NFS_DD[parameter], "missing"),)
    assert row.ratio is None


@pytest.mark.parametrize("parameter", ["kind", "medium"])
def test_deleting_kind_or_medium_on_our_side_leaves_the_claim_without_a_case(parameter):
    identity = {key: value for key, value in NFS_DD.items() if key != parameter}
    assert row_of("nfs-dd-8m", case(identity, [114e6] * 3)).verdict == "not_measured"


@pytest.mark.parametrize("parameter", PARAMETERS["fio_read"])
def test_deleting_a_parameter_on_the_published_side_makes_the_cases_unlike_also_if_it_was_not_stated(parameter):
    claim = copy.deepcopy(claim_of("nvme-rand-64k-qd1", JETSON))
    ours = case(FIO_QD1, [200e6] * 3)
    assert row_of(claim["id"], ours, published=published_with(claim)).verdict == "too_loose"
    del claim["identity"][parameter]
    row = row_of(claim["id"], ours, published=published_with(claim))
    assert row.verdict == "unlike"
    assert [found.parameter for found in row.differences] == [parameter]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("direct", False), ("evict", True), ("block_bytes", 4194304), ("read_bytes", 4294967296)],
)
def test_a_stated_parameter_that_differs_makes_the_cases_unlike(parameter, value):
    row = row_of("nfs-dd-8m", case({**NFS_DD, parameter: value}, [114e6] * 3))
    assert row.verdict == "unlike"
    assert row.differences == (Difference(parameter, NFS_DD[parameter], value),)


def test_unlike_cases_say_what_differs_in_words():
    row = row_of("nfs-dd-8m", case({**NFS_DD, "direct": False, "block_bytes": 4194304}, [114e6] * 3))
    assert row.words == (
        "unlike, not compared: O_DIRECT off here, on published; block size 4,194,304 here, 8,388,608 published"
    )


def test_a_parameter_that_only_a_newer_result_knows_makes_the_cases_unlike():
    row = row_of("nfs-dd-8m", case({**NFS_DD, "threads": 2}, [114e6] * 3))
    assert row.differences == (Difference("threads", "missing", 2),)


def test_not_stated_on_our_side_matches_nothing():
    assert row_of("nfs-dd-8m", case({**NFS_DD, "block_bytes": "not stated"}, [114e6] * 3)).verdict == "unlike"


@pytest.mark.parametrize("ours", ["missing", "not stated"])
def test_a_parameter_that_the_post_does_not_state_must_still_be_known_here(ours):
    claim = claim_of("nfs-reread-250m")
    identity = {**claim["identity"], "block_bytes": ours}
    if ours == "missing":
        del identity["block_bytes"]
    row = row_of(claim["id"], case(identity, [114e6] * 5))
    assert row.differences == (Difference("block_bytes", "not stated", ours),)


def test_a_parameter_that_both_sides_lack_is_not_the_same_on_both():
    claim = copy.deepcopy(claim_of("nfs-dd-8m"))
    del claim["identity"]["block_bytes"]
    row = row_of("nfs-dd-8m", case(dict(claim["identity"]), [114e6] * 3), published=published_with(claim))
    assert row.differences == (Difference("block_bytes", "missing", "missing"),)


def test_the_nearest_case_is_the_one_shown_as_unlike():
    far = case({**NFS_DD, "direct": False, "block_bytes": 512, "read_bytes": 512}, [114e6], number=1)
    near = case({**NFS_DD, "read_bytes": 1073741824}, [114e6], number=2)
    assert row_of("nfs-dd-8m", far, near).case == "case-2.t1"


def test_the_other_file_size_of_the_reread_is_another_measurement():
    """30 whole blocks of a user's file are not the post's 253,815,318 bytes."""
    ours = {**NFS_DD, "kind": "dd_reread", "read_bytes": 251658240}
    assert row_of("nfs-reread-250m", case(ours, [114e6] * 5)).verdict == "unlike"
    row = row_of("nfs-reread-250m", case({**ours, "read_bytes": 253815318}, [114.2e6] * 5))
    assert row.verdict == "consistent"
    assert "block size not stated in the source; here 8,388,608" in row.notes
    assert any("편차 0.4%" in note for note in row.notes)


@pytest.mark.parametrize(("mean", "verdict"), [(113.4e6, "consistent"), (115.2e6, "consistent"), (115.4e6, "differs")])
def test_the_stated_spread_of_the_rereads_widens_their_interval(mean, verdict):
    """Five times 114 has no spread of its own; 0.4 % of it, stated beside it, is 0.456: 114 +- 0.80 +- 0.5."""
    ours = {**NFS_DD, "kind": "dd_reread", "read_bytes": 253815318}
    row = row_of("nfs-reread-250m", case(ours, [mean] * 5))
    assert row.verdict == verdict
    assert row.interval == (pytest.approx(112.699e6, abs=1e3), pytest.approx(115.301e6, abs=1e3))


def test_equal_values_without_a_stated_spread_say_what_gives_them_a_width():
    claim = copy.deepcopy(claim_of("nfs-dd-8m"))
    claim["figure"] = {"values": [114] * 5, "stated_sd": "not stated"}
    row = row_of("nfs-dd-8m", case(NFS_DD, [114.2e6] * 5), published=published_with(claim))
    assert row.verdict == "consistent"
    assert any("only its last digit" in note for note in row.notes)


def test_two_buffered_reads_of_which_one_was_evicted_first_are_unlike():
    """The one reads the page cache, the other the disk."""
    claim = copy.deepcopy(claim_of("nfs-dd-8m"))
    claim["identity"]["direct"] = False
    cached, cold = {**NFS_DD, "direct": False}, {**NFS_DD, "direct": False, "evict": True}
    assert row_of("nfs-dd-8m", case(cached, [114e6] * 3), published=published_with(claim)).verdict == "consistent"
    row = row_of("nfs-dd-8m", case(cold, [114e6] * 3), published=published_with(claim))
    assert row.words == "unlike, not compared: eviction before each repeat on here, off published"


def test_a_claim_about_the_network_is_not_answered_by_a_local_disk():
    row = row_of("nfs-dd-8m", case({**NFS_DD, "medium": "block"}, [114e6] * 3))
    assert row.verdict == "not_measured"
    assert row.notes == ("this result has no dd_read case on a network target",)


def test_what_the_post_does_not_state_is_noted_and_the_figure_is_too_loose():
    row = row_of("nvme-rand-64k-qd1", case(FIO_QD1, [311e6, 312e6, 313e6]), published=JETSON)
    assert row.verdict == "too_loose"
    assert row.interval is None
    assert row.ratio == pytest.approx(1.56)
    assert row.words == "published figure too loose to decide (ratio 1.56)"
    assert "the source states no number of repeats for this figure" in row.notes
    assert "fio engine not stated in the source; here io_uring" in row.notes
    assert "O_DIRECT not stated in the source; here on" in row.notes
    assert "eviction before each repeat not stated in the source; here off" in row.notes


def test_every_published_fio_point_finds_only_its_own_case():
    depths = [case({**FIO_QD1, "queue_depth": depth}, [1e8], number=depth) for depth in (1, 2, 4)]
    rows = {row.claim: row for row in compare_with_published(result(*depths), JETSON).rows}
    assert [rows[f"nvme-rand-64k-qd{depth}"].case for depth in (1, 2, 4)] == [c["id"] for c in depths]
    assert rows["nvme-rand-128k-qd8"].verdict == rows["nvme-seq-1m"].verdict == "unlike"


def test_doubts_of_the_case_and_of_the_run_are_noted_once_each():
    ours = case(NFS_DD, [114e6] * 3, verdict="doubtful", codes=["spread_high", "extra_traffic", "spread_high"])
    row = row_of("nfs-dd-8m", ours, codes=["background_load"])
    assert row.verdict == "consistent"
    assert "doubtful: spread_high, extra_traffic" in row.notes
    assert "the whole run is doubtful: background_load" in row.notes


@pytest.mark.parametrize(
    ("ours", "note"),
    [
        (case(NFS_DD, [114e6] * 3, verdict="invalid", codes=["short_read"]), "measured, but invalid: short_read"),
        (case(NFS_DD, [], status="skipped", verdict="not_measured"), "skipped: fio is not installed"),
        (case(NFS_DD, [], status="not_run", verdict="not_measured"), "not run: fio is not installed"),
        (case(NFS_DD, [None], status="failed", verdict="invalid", codes=["x"]), "failed: fio is not installed"),
        (case(NFS_DD, [114e6], status="failed", verdict="doubtful", codes=["x"]), "failed: fio is not installed"),
    ],
)
def test_what_gave_no_usable_figure_is_not_compared_and_says_why(ours, note):
    row = row_of("nfs-dd-8m", ours)
    assert (row.verdict, row.notes, row.ratio) == ("not_measured", (note,), None)


def test_a_repeat_that_failed_is_left_out_of_the_mean():
    row = row_of("nfs-dd-8m", case(NFS_DD, [114e6, None, 113e6]))
    assert (row.our_n, row.our_mean) == (2, 113.5e6)


def test_two_targets_answer_one_claim_in_a_row_each():
    first, second = case(NFS_DD, [114e6] * 3), case(NFS_DD, [57e6] * 3, target="t2")
    rows = compare_with_published(result(first, second), NAS).rows
    answers = [(row.target, row.verdict) for row in rows if row.claim == "nfs-dd-8m"]
    assert answers == [("a.bin", "consistent"), ("b.bin", "differs")]


def test_an_empty_result_measures_nothing():
    assert {row.verdict for row in compare_with_published(result(), NAS).rows} == {"not_measured"}


# The interval itself.


@pytest.mark.parametrize("direction", [-1, 1])
def test_just_inside_is_consistent_and_just_outside_differs(direction):
    figure = Figure(29.6, 0.3, 3, 0.1)
    half = 1.0541 + 0.05
    assert judge_figure(figure, Sample(3, 29.6 + direction * (half - 0.001), 0.1))[0] == "consistent"
    assert judge_figure(figure, Sample(3, 29.6 + direction * (half + 0.001), 0.1))[0] == "differs"


def test_half_the_last_digit_is_part_of_the_interval():
    ours = Sample(5, 114.4, 0.0)
    assert judge_figure(Figure(114.0, 0.0, 5, 1.0), ours)[0] == "consistent"
    assert judge_figure(Figure(114.0, 0.0, 5, 0.1), ours)[0] == "differs"


CHANCE = "our own repeats spread so far that this may be chance"
SINGLE = "a single repeat here: its own spread is unknown"


@pytest.mark.parametrize("direction", [-1, 1])
def test_a_difference_that_our_own_spread_could_explain_says_so(direction):
    """114 +- 0.5 published; three of our repeats with sd 1 put their mean within 2.484 (t of 2 degrees is 4.303)."""
    figure = Figure(114.0, 0.0, 5, 1.0)
    near, far = (Sample(3, 114.0 + direction * (0.5 + away), 1.0) for away in (2.47, 2.50))
    assert judge_figure(figure, near)[0] == judge_figure(figure, far)[0] == "differs"
    assert CHANCE in judge_figure(figure, near)[2]
    assert CHANCE not in judge_figure(figure, far)[2]


def test_our_own_spread_is_no_note_where_the_verdict_is_consistent_or_nothing_was_decided():
    assert CHANCE not in judge_figure(Figure(114.0, 0.0, 5, 1.0), Sample(3, 114.1, 9.0))[2]
    assert CHANCE not in judge_figure(Figure(114.0, None, None, 1.0), Sample(3, 150.0, 90.0))[2]


def test_repeats_of_ours_without_any_spread_differ_without_a_note():
    assert CHANCE not in judge_figure(Figure(114.0, 0.0, 5, 1.0), Sample(3, 115.0, 0.0))[2]


@pytest.mark.parametrize("mean", [114.0, 150.0])
def test_a_single_repeat_of_ours_says_that_its_spread_is_unknown(mean):
    verdict, _, notes = judge_figure(Figure(114.0, 0.5, 5, 1.0), Sample(1, mean, None))
    assert verdict == ("consistent" if mean == 114.0 else "differs")
    assert SINGLE in notes
    assert SINGLE not in judge_figure(Figure(114.0, 0.5, 5, 1.0), Sample(2, mean, 0.1))[2]


def test_a_spread_that_nothing_could_contradict_is_too_loose_inside_and_differs_outside():
    """2.25 with sd 0.67 and n 3 predicts 2.25 +- 2.35."""
    figure = Figure(2.25, 0.67, 3, 0.01)
    assert judge_figure(figure, Sample(3, 1.0, 0.1))[0] == "too_loose"
    assert judge_figure(figure, Sample(3, 9.0, 0.1))[0] == "differs"


def test_an_interval_of_just_half_the_figure_still_decides():
    assert judge_figure(Figure(100.0, 0.0, 3, 100.0), Sample(3, 120.0, 1.0))[0] == "consistent"
    assert judge_figure(Figure(100.0, 0.0, 3, 100.2), Sample(3, 120.0, 1.0))[0] == "too_loose"


@pytest.mark.parametrize(
    ("figure", "lacking"),
    [
        (Figure(200.0, None, None, 1.0), "number of repeats"),
        (Figure(200.0, 4.0, None, 1.0), "number of repeats"),
        (Figure(200.0, None, 5, 1.0), "spread"),
        (Figure(200.0, None, 1, 1.0), "spread"),
        (Figure(200.0, 0.0, 1, 1.0), "spread"),
    ],
)
def test_without_n_or_spread_nothing_is_decided_however_far_away(figure, lacking):
    verdict, interval, notes = judge_figure(figure, Sample(3, 1e6, 1.0))
    assert (verdict, interval) == ("too_loose", None)
    assert notes == (f"the source states no {lacking} for this figure",)


@pytest.mark.parametrize(("mean", "verdict"), [(129.9, "differs"), (130.6, "consistent"), (487.4, "differs")])
def test_a_range_is_its_own_interval_with_half_a_digit_on_each_side(mean, verdict):
    assert judge_figure(Figure(200.0, None, 8, 1.0, 131.0, 269.0), Sample(3, mean, 1.0))[0] == verdict


def test_a_range_says_how_often_chance_alone_leaves_it():
    _, _, notes = judge_figure(Figure(200.0, None, 8, 1.0, 131.0, 269.0), Sample(3, 300.0, 1.0))
    assert notes == ("the source gives a range of 8 repeats: by chance alone a new one lies outside in 2 cases of 9",)
    _, _, notes = judge_figure(Figure(200.0, None, None, 1.0, 131.0, 269.0), Sample(3, 300.0, 1.0))
    assert "without the number of repeats" in notes[0]


def test_a_range_as_wide_as_the_figure_decides_nothing_inside():
    assert judge_figure(Figure(309.0, None, 8, 1.0, 131.0, 487.0), Sample(3, 300.0, 1.0))[0] == "too_loose"


@given(
    mean=st.floats(1e6, 1e10),
    share=st.floats(1e-6, 0.05),
    n=st.integers(2, 30),
    m=st.integers(1, 30),
    sign=st.sampled_from([-1, 1]),
)
def test_moving_a_value_past_the_interval_changes_the_verdict(mean, share, n, m, sign):
    figure = Figure(mean, mean * share, n, mean * 1e-3)
    verdict, interval, _ = judge_figure(figure, Sample(m, mean, 1.0))
    assert interval is not None
    half = (interval[1] - interval[0]) / 2
    assert verdict in ("consistent", "too_loose")
    assert judge_figure(figure, Sample(m, mean + sign * half * 0.999, 1.0))[0] == verdict
    assert judge_figure(figure, Sample(m, mean + sign * half * 1.001, 1.0))[0] == "differs"


def test_a_comparison_is_of_documents_as_they_are_validated(request):
    path = request.config.rootpath / "schemas/examples/valid/result/nas-and-local-disk.json"
    document = json.loads(path.read_text("utf-8"))
    assert validate(document) == []
    rows = {(row.claim, row.target): row for row in compare_with_published(document, NAS).rows}
    assert rows["nfs-dd-8m", "flux.safetensors"].verdict == "differs"
    assert rows["local-dd-8m", "flux.safetensors"].verdict == "consistent"
    assert rows["nfs-reread-250m", "flux.safetensors"].verdict == "unlike"


LOAD = {"kind": "power_budget", "load_s": 90, "gpu": True}


def load_repeat(power=21.9, tj=73.2, gpu=1020e6, partial=False):
    return {
        "partial": partial,
        "input_power_highest_w": power,
        "tj_highest_c": tj,
        "gpu_clock": None if gpu is None else {"max_hz": 1020e6, "lowest_hz": gpu, "share_at_max": 1.0},
        "cpu_clock": None,
    }


def load_case(*repeats, identity=LOAD, **rest):
    return {**case(identity, [], **rest), "repeats": list(repeats)}


def test_a_whole_load_is_compared_with_each_figure_of_the_post():
    ours = load_case(load_repeat())
    power, tj, clock = (
        row_of(name, ours, published=JETSON) for name in ("load-90s-power", "load-90s-tj", "load-90s-gpu-clock")
    )
    assert (power.verdict, power.our_mean, power.published_mean) == ("too_loose", 21.9, 21.5)
    assert power.words == "published figure too loose to decide (ratio 1.02)"
    assert power.compared == "×1.02"
    assert (tj.ratio, tj.compared) == (None, "+2.1 °C")  # degrees Celsius have no ratio
    assert tj.words == "published figure too loose to decide (+2.1 °C)"
    assert (clock.compared, clock.our_mean) == ("×1", 1020e6)


def test_a_partial_load_is_compared_with_nothing_whatever_its_figures_are():
    partial = load_case(load_repeat(partial=True), verdict="doubtful", codes=["partial"])
    for row in compare_with_published(result(partial), JETSON).rows:
        assert row.our_mean is row.ratio is None
        assert row.compared == ""
    row = row_of("load-90s-power", partial, published=JETSON)
    assert row.verdict == "not_measured"
    assert row.notes == ("not every processor and the GPU were loaded, and a partial load is compared with nothing",)


def test_of_a_case_with_whole_and_partial_loads_the_whole_ones_are_compared():
    mixed = load_case(load_repeat(power=25.0, partial=True), load_repeat(), verdict="doubtful", codes=["partial"])
    row = row_of("load-90s-power", mixed, published=JETSON)
    assert (row.our_n, row.our_mean) == (1, 21.9)


def test_a_load_without_the_gpu_or_of_another_length_is_another_measurement():
    row = row_of("load-90s-power", load_case(load_repeat(), identity={**LOAD, "gpu": False}), published=JETSON)
    assert row.words == "unlike, not compared: load on the GPU off here, on published"
    row = row_of("load-90s-power", load_case(load_repeat(), identity={**LOAD, "load_s": 10}), published=JETSON)
    assert row.words == "unlike, not compared: seconds of load 10 here, 90 published"
    assert row_of("load-90s-power", published=JETSON).notes == ("this result has no power_budget case",)


def test_a_figure_that_nothing_tells_is_not_compared():
    row = row_of("load-90s-power", load_case(load_repeat(power=None)), published=JETSON)
    assert row.notes == ("nothing there tells the highest input power",)


def test_a_figure_of_celsius_that_differs_says_by_how_many_degrees():
    claim = copy.deepcopy(claim_of("load-90s-tj", JETSON))
    claim["figure"] = {"values": [71.1, 71.3, 71.2], "stated_sd": "not stated"}
    row = row_of(claim["id"], load_case(load_repeat()), published=published_with(claim))
    assert (row.verdict, row.words) == ("differs", "differs by +2.0 °C")
