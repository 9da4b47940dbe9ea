"""What tokens weigh, in NumPy, as weights.cuh computes it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WEIGHT_BITS = 44
_LOG2_E = np.float32(1.4426950408889634)
# 2^f = 1 + f (c0 + f (c1 + …)), a fit at Chebyshev's nodes from -1/2 to 1/2, the last coefficient first.
_POWER = (
    0.00015461447765119374,
    0.0013390866806730628,
    0.009618056938052177,
    0.055503569543361664,
    0.24022650718688965,
    0.6931471824645996,
    1.0,
)


def weights(logits: npt.NDArray[np.float32], scale: np.float32) -> npt.NDArray[np.uint64]:
    """floor(2^44 e^(scale·x - max)) of a row whose largest number is not NaN and not -infinity."""
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = logits * scale
        top = numbers.max()
        distance = np.where(numbers == top, np.float32(0), top - numbers)
        halvings = distance * _LOG2_E
        near = halvings < WEIGHT_BITS + 1
        halvings = np.where(near, halvings, np.float32(0))
    whole = np.rint(halvings)
    rest = whole - halvings
    power = np.full_like(rest, _POWER[0])
    for coefficient in _POWER[1:]:
        power = power * rest + np.float32(coefficient)
    bits = power.view(np.uint32).astype(np.uint64)
    mantissa = ((bits & 0x7FFFFF) | 0x800000) << np.uint64(WEIGHT_BITS - 23)
    places = whole.astype(np.uint64) + np.uint64(127) - (bits >> np.uint64(23))
    found: npt.NDArray[np.uint64] = np.where(near, mantissa >> places, np.uint64(0))
    return found


def weights_of_probabilities(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
    """floor(2^43 x / 2^e) of a row whose largest number is from 2^e on, and below 2^(e + 1); 0 of what is not positive.

    Subnormal numbers count as their bits do, and infinity as 2^128.
    """
    bits = np.where(numbers > 0, numbers, np.float32(0)).view(np.uint32).astype(np.uint64)
    exponents = bits >> np.uint64(23)
    mantissa = (bits & np.uint64(0x7FFFFF)) | np.where(exponents > 0, np.uint64(0x800000), np.uint64(0))
    exponents = np.maximum(exponents, np.uint64(1))
    places = np.minimum(exponents.max() - exponents, np.uint64(WEIGHT_BITS))
    found: npt.NDArray[np.uint64] = (mantissa << np.uint64(WEIGHT_BITS - 24)) >> places
    return found


def share_of(share: np.float32, mass: int) -> int:
    """The least whole number that is not below a share of a mass; the share is from 0 on, and below 1."""
    return -(-int(np.float64(share) * 2.0**64) * mass // 2**64)
