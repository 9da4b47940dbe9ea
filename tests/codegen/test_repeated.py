"""Random values for large tensors."""

from math import isqrt

import numpy as np

from autotune.codegen.model import repeated


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
