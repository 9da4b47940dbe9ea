"""Random values and indices of large tensors, and which of their rows are judged."""

from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.codegen.model import repeated
from autotune.codegen.model.indices import Indices, Order, Spread
from autotune.codegen.model.samples import sampled_rows


@pytest.mark.parametrize("indices", [Indices(9), Indices(9, -1, Order.DISTINCT), Indices(9, 3, Order.BOUNDS)], ids=str)
@pytest.mark.parametrize("count", [2, 7])
def test_what_is_drawn_is_allowed(indices, count):
    for seed in range(20):
        drawn = indices.drawn(np.random.default_rng(seed), count, np.int32)
        assert (drawn.shape, drawn.dtype, indices.why_invalid(drawn)) == ((count,), np.int32, "")


def test_some_segments_are_empty():
    found = Indices(1000, order=Order.BOUNDS).drawn(np.random.default_rng(0), 51, np.int64)
    assert (np.diff(found) == 0).any()


@pytest.mark.parametrize(
    ("indices", "given", "why"),
    [
        (Indices(3), [0, 3, 4], "element 2 is 4: expected 0 … 3"),
        (Indices(3, -1), [-2], "element 0 is -2: expected -1 … 3"),
        (Indices(3, order=Order.DISTINCT), [1, 2, 1], "1 comes 2 times: expected distinct indices"),
        (Indices(9, order=Order.BOUNDS), [0, 5, 4, 9], "element 2 is 4 after 5: expected ascending bounds"),
        (Indices(9, order=Order.BOUNDS), [0, 5, 8], "bounds from 0 to 8: expected 0 to 9"),
    ],
)
def test_what_is_not_allowed_is_said(indices, given, why):
    assert indices.why_invalid(np.array(given)) == why


def test_more_distinct_indices_than_there_are_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"5 distinct indices 0 … 3: expected 4 at most"):
        Indices(3, order=Order.DISTINCT).drawn(np.random.default_rng(0), 5, np.int32)


@pytest.mark.parametrize(
    ("spread", "longest"), [(Spread.EVEN, (20, 40)), (Spread.RANDOM, (41, 250)), (Spread.LONG, (500, 700))]
)
def test_segments_are_as_long_as_stated(spread, longest):
    allowed = Indices(1000, order=Order.BOUNDS)
    for seed in range(20):
        bounds = allowed.drawn(np.random.default_rng(seed), 51, np.int64, spread)
        assert not allowed.why_invalid(bounds)
        lengths = np.diff(bounds)
        assert longest[0] <= lengths.max() <= longest[1]
        assert np.median(lengths) >= 3 and (lengths == 0).any() == (spread is not Spread.EVEN)


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("most", [0, 1, 5])
def test_few_elements_have_segments_of_any_spread(spread, most):
    allowed = Indices(most, order=Order.BOUNDS)
    for count in (2, 3, 9):
        assert not allowed.why_invalid(allowed.drawn(np.random.default_rng(0), count, np.int64, spread))


@given(st.integers(0, 5000), st.integers(0, 2**32 - 1), st.integers(1, 100))
def test_rows_are_spread_and_edges_are_among_them(rows, seed, most):
    found = sampled_rows(rows, seed, most)
    assert (found is None) == (rows <= most)
    if found is not None:
        edges = {edge - side for edge in (8, 64, 256) if edge < rows for side in (0, 1)}
        assert edges | {0, rows - 1} <= {*found.tolist()}
        assert (np.diff(found) > 0).all() and found.max() < rows
        assert np.diff(found).max() <= 2 * -(-rows // most)
        np.testing.assert_array_equal(found, sampled_rows(rows, seed, most))


def test_seeds_and_sizes_choose_others():
    chosen = [sampled_rows(rows, seed, 50) for rows in (9000, 9001) for seed in (0, 1)]
    assert len({found.tobytes() for found in chosen if found is not None}) == 4


def test_values_repeat_after_a_period_that_no_row_divides(monkeypatch):
    monkeypatch.setattr(repeated, "PERIOD", 7)
    drawn = []

    def draw(count):
        drawn.append(count)
        return np.arange(count)

    values = repeated.repeated(draw, 16).reshape(4, 4)
    assert drawn == [7]
    assert len({tuple(row) for row in values}) == 4
    np.testing.assert_array_equal(values.flat, np.arange(16) % 7)
    assert repeated.repeated(draw, 5).tolist() == [0, 1, 2, 3, 4]
    assert repeated.repeated(draw, 0).size == 0


def test_no_length_of_rows_divides_the_period():
    assert all(repeated.PERIOD % length for length in range(2, isqrt(repeated.PERIOD) + 1))
