"""Indices that are drawn are those that are allowed."""

import numpy as np
import pytest

from autotune.codegen.model.indices import Indices, Order, Spread


@pytest.mark.parametrize("indices", [Indices(9), Indices(9, -1, Order.DISTINCT), Indices(9, 3, Order.BOUNDS)], ids=str)
@pytest.mark.parametrize("count", [2, 7])
def test_what_is_drawn_is_allowed(indices: Indices, count: int) -> None:
    for seed in range(20):
        drawn = indices.drawn(np.random.default_rng(seed), count, np.int32)
        assert (drawn.shape, drawn.dtype, indices.why_invalid(drawn)) == ((count,), np.int32, "")


def test_some_segments_are_empty() -> None:
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
def test_what_is_not_allowed_is_said(indices: Indices, given: list[int], why: str) -> None:
    assert indices.why_invalid(np.array(given)) == why


def test_more_distinct_indices_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match=r"5 distinct indices 0 … 3: expected 4 at most"):
        Indices(3, order=Order.DISTINCT).drawn(np.random.default_rng(0), 5, np.int32)


@pytest.mark.parametrize(
    ("spread", "longest"), [(Spread.EVEN, (20, 40)), (Spread.RANDOM, (41, 250)), (Spread.LONG, (500, 700))]
)
def test_segments_are_as_long_as_stated(spread: Spread, longest: tuple[int, int]) -> None:
    allowed = Indices(1000, order=Order.BOUNDS)
    for seed in range(20):
        bounds = allowed.drawn(np.random.default_rng(seed), 51, np.int64, spread)
        assert not allowed.why_invalid(bounds)
        lengths = np.diff(bounds)
        assert longest[0] <= lengths.max() <= longest[1]
        assert np.median(lengths) >= 3 and (lengths == 0).any() == (spread is not Spread.EVEN)


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("most", [0, 1, 5])
def test_few_elements_have_segments_of_any_spread(spread: Spread, most: int) -> None:
    allowed = Indices(most, order=Order.BOUNDS)
    for count in (2, 3, 9):
        assert not allowed.why_invalid(allowed.drawn(np.random.default_rng(0), count, np.int64, spread))
