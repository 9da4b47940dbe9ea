"""Bounds of medians and ratios, against the tables and by simulation."""

from math import inf

import numpy as np
import pytest

from autotune.base.confidence import Interval, lower_bound_exceeds, median_interval, ratio_interval


@pytest.mark.parametrize(
    ("count", "confidence", "rank"),
    # Conover, and any table of the sign test: the ranks of a 95 % or 99 % interval of the median.
    [(6, 0.95, 1), (8, 0.95, 1), (9, 0.95, 2), (10, 0.95, 2), (20, 0.95, 6), (25, 0.95, 8), (50, 0.95, 18),
     (8, 0.99, 1), (10, 0.99, 1), (20, 0.99, 4), (50, 0.99, 16)],
)  # fmt: skip
def test_bounds_are_the_ranks_of_the_tables(count, confidence, rank):
    samples = [float(number) for number in np.random.default_rng(0).permutation(count) + 1]
    interval = median_interval(samples, confidence)
    assert (interval.low, interval.high) == (rank, count + 1 - rank)
    assert interval.middle == (count + 1) / 2


@pytest.mark.parametrize(("count", "confidence"), [(1, 0.95), (5, 0.95), (7, 0.99)])
def test_few_samples_say_nothing(count, confidence):
    assert median_interval([2.0] * count, confidence) == Interval(-inf, 2.0, inf)


def test_the_true_median_is_inside_as_often_as_promised():
    chance = np.random.default_rng(1)
    median = np.exp(0.0)  # of a log-normal distribution, which has a tail to one side as times have
    inside = 0
    for _ in range(2000):
        interval = median_interval(np.exp(chance.normal(size=15)).tolist())
        inside += interval.low <= median <= interval.high
    assert 0.95 <= inside / 2000 <= 0.985  # 96.5 % for 15 samples, whose ranks are whole numbers


def test_a_ratio_is_taken_turn_by_turn_so_that_drift_cancels():
    drift = np.linspace(1.0, 2.0, 10)
    interval = ratio_interval((0.99 * drift).tolist(), drift.tolist())
    assert interval == Interval(*[pytest.approx(0.99)] * 3)
    apart = median_interval((0.99 * drift).tolist()), median_interval(drift.tolist())
    assert apart[0].high > apart[1].low, "taken apart the two cannot be told from each other"


def test_a_ratio_of_equals_has_one_inside():
    ours, theirs = np.random.default_rng(2).normal(1.0, 0.01, size=(2, 30)).tolist()
    assert ratio_interval(ours, theirs).low < 1 < ratio_interval(ours, theirs).high


def test_only_what_is_surely_slower_is_above():
    samples = [1.0 + number / 100 for number in range(10)]
    assert lower_bound_exceeds(samples, 0.999)
    assert not lower_bound_exceeds(samples, 1.0)
    assert lower_bound_exceeds(samples[:7], 0.5)
    assert not lower_bound_exceeds(samples[:6], 0.5), "six samples cannot be 99 % sure"


def test_no_samples_and_unequal_turns_are_errors():
    with pytest.raises(ValueError, match="a median of no samples"):
        median_interval([])
    with pytest.raises(ValueError, match="zip"):
        ratio_interval([1.0], [1.0, 2.0])
