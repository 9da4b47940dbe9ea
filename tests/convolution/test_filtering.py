"""The matrices of minimal filtering: they compute filters exactly, in rational numbers, and state how terms grow."""

from fractions import Fraction
from random import Random

import pytest

from autotune.codegen.convolution.filtering import filtering


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


@pytest.mark.parametrize(("outputs", "taps"), [(2, 3), (4, 3), (3, 2), (1, 4), (6, 3)])
def test_outputs_are_those_of_the_filter(outputs, taps):
    random, found = Random(0), filtering(outputs, taps)
    g, d = ([Fraction(random.randrange(-9, 9), 7) for _ in range(count)] for count in (taps, outputs + taps - 1))
    products = [a * b for a, b in zip(times(found.filters, g), times(found.elements, d), strict=True)]
    assert times(found.results, products) == [sum(g[i] * d[k + i] for i in range(taps)) for k in range(outputs)]
    assert (found.outputs, found.side) == (outputs, outputs + taps - 1)


def test_terms_grow_by_what_the_matrices_say():
    # Of two outputs, the first sums 1·1·2 + 1·(3/2)·2 + 1·(3/2)·2 = 8 for three taps.
    assert filtering(2, 3).amplification == Fraction(8, 3) ** 2
    assert filtering(1, 3).amplification < filtering(2, 3).amplification < filtering(4, 3).amplification
