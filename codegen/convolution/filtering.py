"""The matrices of Winograd's minimal filtering, in rational numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Filtering:
    """F(outputs, taps): y = Aᵀ·[(G·g) ⊙ (Bᵀ·d)] are the neighbouring outputs y of a filter g over elements d, with a
    product for each element instead of one for each output and tap.

    S. Winograd, *Arithmetic Complexity of Computations*, 1980; for images, y = Aᵀ·[(G·g·Gᵀ) ⊙ (Bᵀ·d·B)]·A: A. Lavin and
    S. Gray, *Fast Algorithms for Convolutional Neural Networks*, 2016.

    Attributes:
        results: Aᵀ, of (outputs, outputs + taps - 1).
        filters: G, of (outputs + taps - 1, taps).
        elements: Bᵀ, square.
    """

    results: Matrix
    filters: Matrix
    elements: Matrix

    @property
    def outputs(self) -> int:
        """Side of the tiles of results."""
        return len(self.results)

    @property
    def side(self) -> int:
        """Side of the tiles that these see."""
        return len(self.elements)

    @property
    def amplification(self) -> Fraction:
        """By what the terms of a transformed sum of an image may exceed those of the sum, of operands up to 1."""
        products = [_sum(filter_row) * _sum(row) for filter_row, row in zip(self.filters, self.elements, strict=True)]
        most = max(sum(abs(a) * one for a, one in zip(row, products, strict=True)) for row in self.results)
        return (Fraction(most) / len(self.filters[0])) ** 2


def _sum(row: Sequence[Fraction]) -> Fraction:
    return sum(map(abs, row), Fraction(0))


@cache
def filtering(outputs: int, taps: int) -> Filtering:
    """F(outputs, taps) by polynomials at some points and infinity: the transpose of Toom and Cook's product.

    Points are 0, and both signs of powers of 2 about 1: 0, 1, -1 of F(2, 3), and 0, ½, -½, 2, -2 of F(4, 3), by which
    terms grow a fifth of what they do by 0, 1, -1, 2, -2.
    """
    side = outputs + taps - 1
    pairs = (side - 1) // 2
    signed = [sign * Fraction(2) ** (2 * i - (pairs - 1)) for i in range(pairs) for sign in (1, -1)]
    points = [Fraction(0), *signed][: side - 1]
    elements, filters = [], []
    for point in points:
        others = [other for other in points if other != point]
        scale = Fraction(1)
        for other in others:
            scale *= point - other
        elements.append((*_with_roots(others), Fraction(0)))
        filters.append(tuple(point**power / scale for power in range(taps)))
    elements.append(_with_roots(points))
    filters.append(tuple(Fraction(power == taps - 1) for power in range(taps)))
    results = tuple((*(point**power for point in points), Fraction(power == outputs - 1)) for power in range(outputs))
    return Filtering(results, tuple(filters), tuple(elements))


def _with_roots(roots: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The coefficients of the product of x - root, the constant one first."""
    found = [Fraction(1)]
    for root in roots:
        found = [low - root * high for low, high in zip((Fraction(0), *found), (*found, Fraction(0)), strict=True)]
    return tuple(found)
