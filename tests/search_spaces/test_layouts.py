"""How shapes and strides are read as rows."""

import pytest
from refusals import refused

from autotune.search_spaces.contract.layouts import Layout, Rows, rows


def layout(shape, strides):
    return Layout(shape, strides, "float32", 4, 8)


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((7,), (1,), (1, 7, 0)),
        ((5, 7), (7, 1), (5, 7, 7)),
        ((5, 7), (9, 1), (5, 7, 9)),
        ((2, 5, 7), (45, 9, 1), (10, 7, 9)),
        ((2, 1, 5, 7), (45, 99, 9, 1), (10, 7, 9)),
        ((1, 7), (3, 1), (1, 7, 0)),
        ((5, 1), (3, 9), (5, 1, 3)),
        ((0, 7), (7, 1), (0, 7, 0)),
        ((2, 5, 0), (0, 0, 1), (10, 0, 0)),
    ],
)
def test_leading_axes_are_joined(shape, strides, expected):
    assert rows("x", layout(shape, strides)) == Rows(*expected, alignment=8)


test_other_layouts_are_refused = refused(
    lambda shape, strides: rows("x", layout(shape, strides)),
    [
        (((), ()), r"x has shape \(\): expected rows along a last axis"),
        (((5, 7), (1, 5)), "expected contiguous rows that do not overlap"),
        (((5, 7), (14, 2)), "expected contiguous rows that do not overlap"),
        (((5, 7), (3, 1)), "expected contiguous rows that do not overlap"),
        (((5, 7), (0, 1)), "expected contiguous rows that do not overlap"),
        (((2, 5, 7), (36, 7, 1)), "rows that are not evenly spaced; call contiguous"),
        (((2, 5, 7), (7, 14, 1)), "rows that are not evenly spaced; call contiguous"),
    ],
)
