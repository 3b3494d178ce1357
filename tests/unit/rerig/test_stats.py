"""Intervals against figures that were computed elsewhere."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.stats import Sample, mean_half_width, prediction_half_width, sample_of, t_quantile, welch_interval

RATES = st.floats(min_value=1.0, max_value=1e11)


def test_the_t_quantile_is_the_one_of_the_tables():
    assert t_quantile(2) == pytest.approx(4.30265, abs=1e-5)
    assert t_quantile(4) == pytest.approx(2.77645, abs=1e-5)
    assert t_quantile(9, 0.90) == pytest.approx(1.83311, abs=1e-5)


@pytest.mark.parametrize(("sd", "half"), [(0.67, 2.35), (0.3, 1.05)])
def test_three_published_repeats_predict_three_new_ones_to_two_decimals(sd, half):
    assert prediction_half_width(sd, n=3, m=3) == pytest.approx(half, abs=0.005)


def test_a_prompt_rate_of_916_with_sd_42_predicts_148_to_each_side():
    assert prediction_half_width(42, n=3, m=3) == pytest.approx(148, abs=0.5)


def test_half_a_unit_of_the_last_digit_widens_the_prediction():
    bare = prediction_half_width(0.3, n=3, m=3)
    assert prediction_half_width(0.3, n=3, m=3, last_digit=0.1) == pytest.approx(bare + 0.05)


def test_more_new_repeats_narrow_the_prediction_but_not_below_the_published_uncertainty():
    many = prediction_half_width(1.0, n=3, m=10**9)
    assert many < prediction_half_width(1.0, n=3, m=3) < prediction_half_width(1.0, n=3, m=1)
    assert many == pytest.approx(t_quantile(2) / math.sqrt(3), rel=1e-6)


@pytest.mark.parametrize(("n", "m"), [(1, 3), (0, 3), (3, 0)])
def test_a_prediction_without_a_spread_is_refused(n, m):
    with pytest.raises(ValueError, match="two published values"):
        prediction_half_width(1.0, n=n, m=m)


def test_a_sample_has_the_mean_of_rates_and_the_sd_with_divisor_n_minus_one():
    assert sample_of([113.0, 114.0, 114.0]) == Sample(3, pytest.approx(113.6667, abs=1e-4), pytest.approx(0.57735))


def test_a_single_value_has_no_spread():
    assert sample_of([5.0]) == Sample(1, 5.0, None)


def test_no_values_have_no_mean():
    with pytest.raises(ValueError, match="no values"):
        sample_of([])


def test_the_interval_of_a_mean_agrees_with_scipys_own():
    from scipy import stats

    values = [10.0, 12.0, 11.0, 13.5]
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    sample = sample_of(values)
    half = mean_half_width(sample)
    assert (sample.mean - half, sample.mean + half) == pytest.approx((expected.low, expected.high))


def test_the_interval_of_a_mean_needs_two_values():
    with pytest.raises(ValueError, match="two values"):
        mean_half_width(Sample(1, 10.0, None))


def test_welch_agrees_with_scipys_own_test():
    from scipy import stats

    a, b = [10.0, 12.0, 11.0, 13.5], [15.0, 14.0, 20.0]
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert welch_interval(sample_of(a), sample_of(b)) == pytest.approx((expected.low, expected.high))


def test_welch_without_any_spread_is_the_difference_itself():
    assert welch_interval(Sample(3, 10.0, 0.0), Sample(2, 12.0, 0.0)) == (2.0, 2.0)


def test_welch_needs_two_values_on_each_side():
    with pytest.raises(ValueError, match="two values"):
        welch_interval(Sample(1, 10.0, None), Sample(3, 12.0, 1.0))


@given(st.lists(RATES, min_size=2, max_size=6), st.lists(RATES, min_size=2, max_size=6))
def test_welch_is_antisymmetric_and_holds_the_difference(a, b):
    low, high = welch_interval(sample_of(a), sample_of(b))
    back_low, back_high = welch_interval(sample_of(b), sample_of(a))
    assert (back_low, back_high) == pytest.approx((-high, -low))
    assert low <= sample_of(b).mean - sample_of(a).mean <= high
