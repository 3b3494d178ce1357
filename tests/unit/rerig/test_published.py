"""The published figures are the posts' own, digit by digit."""

import json

import pytest

from rerig.errors import UserError
from rerig.published import PUBLISHED, Figure, figure_of, list_published, load_published, published_ids


def claims(name):
    return {claim["id"]: claim for claim in load_published(name)["claims"]}


def values_claim(values, unit="MB/s", stated_sd="not stated", last_digit=1):
    return {"unit": unit, "figure": {"values": values, "stated_sd": stated_sd}, "last_digit": last_digit}


def test_both_posts_are_there():
    assert published_ids() == ["jetson-moe-ssd-2026", "nas-vs-local-2026"]
    assert [document["id"] for document in list_published()] == published_ids()


def test_the_nas_posts_figures_are_as_printed():
    found = claims("nas-vs-local-2026")
    assert {name: (claim["figure"]["values"], claim["unit"]) for name, claim in found.items()} == {
        "nfs-dd-8m": ([113, 114, 114], "MB/s"),
        "local-dd-8m": ([1.45, 1.45, 1.46], "GB/s"),
        "nfs-reread-250m": ([114] * 5, "MB/s"),
    }
    assert [claim["last_digit"] for claim in found.values()] == [1, 0.01, 1]
    assert [claim["identity"]["read_bytes"] for claim in found.values()] == [2 * 1024**3, 4 * 1024**3, 253_815_318]
    assert found["nfs-reread-250m"]["identity"]["block_bytes"] == "not stated"
    assert {claim["identity"]["evict"] for claim in found.values()} == {False}  # no root, so nothing was dropped


def test_the_stated_spread_of_the_rereads_is_four_tenths_of_a_percent_and_says_how_it_was_read():
    claim = claims("nas-vs-local-2026")["nfs-reread-250m"]
    assert claim["figure"]["stated_sd"] == pytest.approx(0.004 * 114)
    assert any("편차 0.4%" in note and "read as a standard deviation" in note for note in claim["notes"])


def test_the_jetson_posts_figures_are_as_printed():
    found = [claim for claim in claims("jetson-moe-ssd-2026").values() if claim["quantity"] == "bandwidth"]
    points = [
        (c["identity"]["pattern"], c["identity"]["block_bytes"], c["identity"]["queue_depth"], c["figure"]["mean"])
        for c in found
    ]
    assert points == [
        ("random", 65536, 1, 200),
        ("random", 65536, 2, 465),
        ("random", 65536, 4, 778),
        ("random", 131072, 8, 1618),
        ("sequential", 1048576, "not stated", 2515),
    ]
    for claim in found:
        assert claim["unit"] == "MB/s"
        assert claim["identity"]["engine"] == claim["identity"]["direct"] == "not stated"
        assert claim["figure"]["sd"] == claim["figure"]["n"] == "not stated"


def test_the_jetson_posts_power_budget_is_as_printed():
    found = [claim for claim in claims("jetson-moe-ssd-2026").values() if claim["quantity"] != "bandwidth"]
    assert [(claim["quantity"], claim["figure"]["mean"], claim["unit"], claim["last_digit"]) for claim in found] == [
        ("input_power_highest", 21.5, "W", 0.1),
        ("tj_highest", 71.1, "°C", 0.1),
        ("gpu_clock_lowest", 1020, "MHz", 1),
    ]
    for claim in found:
        assert claim["identity"] == {"kind": "power_budget", "load_s": 90, "gpu": True}
        assert claim["source"] == {"section": "구성할 때 주의할 점", "place": 'paragraph "전력과 메모리 예산"'}
    assert [figure_of(claim).mean for claim in found] == [21.5, 71.1, 1.02e9]


def test_every_claim_says_where_it_stands():
    for document in list_published():
        environments = {environment["id"] for environment in document["environments"]}
        for claim in document["claims"]:
            assert claim["environment"] in environments
            assert claim["source"]["section"]


def test_an_unknown_id_lists_the_known_ones():
    with pytest.raises(UserError, match=r"known are jetson-moe-ssd-2026, nas-vs-local-2026\."):
        load_published("nas")


def test_a_path_works_as_an_id_does():
    path = PUBLISHED / "nas-vs-local-2026.json"
    assert load_published(str(path)) == load_published("nas-vs-local-2026") == json.loads(path.read_text("utf-8"))


def test_printed_values_become_a_mean_and_a_spread_in_bytes_per_second():
    figure = figure_of(values_claim([1.45, 1.45, 1.46], "GB/s", last_digit=0.01))
    assert figure == Figure(
        pytest.approx(1.45333e9, rel=1e-5), pytest.approx(5.7735e6, rel=1e-4), 3, pytest.approx(1e7)
    )


def test_a_single_printed_value_has_no_spread():
    assert figure_of(values_claim([114])) == Figure(114e6, None, 1, 1e6)


def test_the_larger_one_of_the_stated_and_the_computed_spread_counts():
    assert figure_of(values_claim([114] * 5, stated_sd=0.456)).sd == pytest.approx(456e3)
    assert figure_of(values_claim([113, 114, 115], stated_sd=0.5)).sd == pytest.approx(1e6)
    assert figure_of(values_claim([113, 114, 115], stated_sd=2)).sd == pytest.approx(2e6)
    assert figure_of(values_claim([114], stated_sd=2)).sd == pytest.approx(2e6)


def test_what_is_not_stated_is_none():
    claim = {"unit": "MB/s", "figure": {"mean": 200, "sd": "not stated", "n": "not stated"}, "last_digit": 1}
    assert figure_of(claim) == Figure(200e6, None, None, 1e6)


def test_a_mean_keeps_its_spread():
    claim = {"unit": "MB/s", "figure": {"mean": 200, "sd": 4, "n": 5}, "last_digit": 1}
    assert figure_of(claim) == Figure(200e6, 4e6, 5, 1e6)


def test_a_range_has_ends_and_a_middle():
    claim = {"unit": "MB/s", "figure": {"low": 131, "high": 487, "n": 8}, "last_digit": 1}
    assert figure_of(claim) == Figure(309e6, None, 8, 1e6, 131e6, 487e6)
