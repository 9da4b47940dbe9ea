"""The codes, scales and zero points of weights: the rule that kernels follow bit for bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from autotune.codegen.matmul.gemv.weights import SYMMETRIC_ZERO, Weights
from autotune.codegen.model.dtype import DType

_Numbers = npt.NDArray[np.float32]
_Array = npt.NDArray[Any]
_LARGEST = np.float32(DType.FLOAT32.largest)


class Quantised(NamedTuple):
    """What gemv reads of W: codes of shape (n, ⌈k/packed⌉), scales and zero points of a group each."""

    codes: _Array
    scales: _Array
    zeros: _Array


def steps_of(weights: Weights, *, zeros: bool) -> int:
    """Scales from 0 to the largest weight of a group, or, with a zero point, from the smallest one to the largest."""
    return 15 if zeros else {Weights.FP8: 448, Weights.INT8: 127, Weights.INT4: 7}[weights]


def codes_between(weights: Weights) -> tuple[int, int]:
    """The smallest and the largest code of whole numbers."""
    return (0, 15) if weights is Weights.INT4 else (-127, 127)


def quantised(w: _Array, weights: Weights, group_size: int, scale_dtype: DType, *, zeros: bool) -> Quantised:
    """W of shape (n, k) in the format of gemv's quantised weights.

    - A group's scale is its largest |w|, or its range with 0 in it if it has a zero point, divided by `steps_of` and
      rounded to `scale_dtype`, to its largest finite number at most. It is NaN if the range is not finite.
    - The inverse is 1 / scale in float32, to the largest finite number at most, and 0 for a scale of 0 or NaN.
    - The zero point is -lowest·inverse, and a code w·inverse: a product in float32, rounded to the nearest whole
      number, ties to even. To the code the zero point is added. Both are limited to `codes_between`; NaN becomes the
      smallest code. That of ``fp8`` is the product as float8_e4m3, ±448 at most.
    - The upper half of the last byte of a row with an odd number of codes of 4 bits is 0.
    """
    (n, k), rows, columns = w.shape, weights.scale_rows(group_size), group_size or w.shape[1]
    down, across = weights.scales_shape(n, k, group_size)
    padded = np.zeros((down * rows, across * columns), np.float32)
    padded[:n, :k] = w.astype(np.float32)
    groups = padded.reshape(down, rows, across, columns)
    with np.errstate(all="ignore"):
        if zeros:
            lowest = groups.min(axis=(1, 3), initial=0.0)
            spread = np.abs(groups.max(axis=(1, 3), initial=0.0) - lowest)  # rather than -0
        else:
            lowest, spread = np.zeros((down, across), np.float32), np.abs(groups).max(axis=(1, 3), initial=0.0)
        scales = _scales(spread, np.float32(steps_of(weights, zeros=zeros)), scale_dtype)
        exact = scales.astype(np.float32)
        inverse = np.where(exact > 0, np.minimum(np.float32(1) / exact, _LARGEST), np.float32(0))
        zero = _limited(np.rint(-lowest * inverse), weights) if zeros else _symmetric_zero(lowest, weights)
        product = groups * inverse[:, None, :, None]
        if weights is Weights.FP8:
            codes = np.clip(product, -448, 448).astype(DType.FLOAT8_E4M3.numpy)
        else:
            codes = _limited(np.rint(product) + zero[:, None, :, None], weights)
        codes = codes.reshape(padded.shape)[:n, :k]
    if weights is Weights.INT4:
        codes = _pairs(codes.astype(np.uint8))
    stored = codes.astype(weights.stored(scale_dtype).numpy)
    return Quantised(stored, scales, zero.astype(np.uint8))


def _scales(spread: _Numbers, steps: np.float32, dtype: DType) -> _Array:
    finite = np.minimum(spread / steps, np.float32(dtype.largest)).astype(dtype.numpy)
    return np.where(np.isfinite(spread), finite, np.array(np.nan, dtype.numpy))


def _symmetric_zero(like: _Numbers, weights: Weights) -> _Numbers:
    return np.full(like.shape, SYMMETRIC_ZERO if weights is Weights.INT4 else 0, np.float32)


def _limited(values: _Numbers, weights: Weights) -> _Numbers:
    """fmax and fmin return the number that is not NaN."""
    low, high = (np.float32(code) for code in codes_between(weights))
    limited: _Numbers = np.fmin(np.fmax(values, low), high)
    return limited


def _pairs(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Two codes in a byte, the first one in the lower half."""
    even = np.pad(codes, ((0, 0), (0, codes.shape[1] % 2)))
    return even[:, 0::2] | even[:, 1::2] << np.uint8(4)
