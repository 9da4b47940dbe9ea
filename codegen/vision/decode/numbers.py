"""Exponentials in float32 that are the same bits in NumPy and on every device: products and sums, each rounded."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float32]
_LOG2_E, _LN2_HIGH, _LN2_LOW = (np.float32(value) for value in (1.44269504, 0.693359375, -2.12194440e-4))
# Of e^x for |x| up to half of ln 2 (Moshier, Methods and Programs for Mathematical Functions, 1989), behind 1 + x.
_TERMS = tuple(
    np.float32(value)
    for value in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
)
_LEAST = np.float32(-87)  # below, e^x counts as 0


def exponential(x: _Floats) -> _Floats:
    """e^x of numbers up to 0; 0 below −87."""
    inside = np.where(x >= _LEAST, x, np.float32(0))
    power = np.rint(inside * _LOG2_E)
    rest = inside - power * _LN2_HIGH - power * _LN2_LOW
    found = np.full_like(rest, _TERMS[0])
    for term in _TERMS[1:]:
        found = found * rest + term
    found = found * (rest * rest) + rest + np.float32(1)
    scaled = found * np.ldexp(np.float32(1), power.astype(np.int32))
    return np.where(x >= _LEAST, scaled, np.where(np.isnan(x), x, np.float32(0)))


def sigmoid(x: _Floats) -> _Floats:
    """1 / (1 + e^−x)."""
    power = exponential(-np.abs(x))
    found: _Floats = np.where(x >= 0, np.float32(1), power) / (np.float32(1) + power)
    return found


def expected_bin(logits: _Floats) -> _Floats:
    """Of bins along the second axis, the mean of their numbers, weighted by the softmax of their logits."""
    with np.errstate(invalid="ignore"):
        largest = logits[:, 0]
        for bin_ in range(1, logits.shape[1]):
            largest = np.where(logits[:, bin_] > largest, logits[:, bin_], largest)
        total, moment = np.zeros_like(largest), np.zeros_like(largest)
        for bin_ in range(logits.shape[1]):
            weight = exponential(logits[:, bin_] - largest)
            total, moment = total + weight, moment + weight * np.float32(bin_)
        return moment / total
