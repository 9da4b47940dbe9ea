"""The types that tensor cores multiply: how exact they are, numbers to verify them with."""

from __future__ import annotations

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array

FLOAT8 = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2)
DTYPES = (DType.BFLOAT16, DType.FLOAT16, DType.FLOAT32, *FLOAT8, DType.INT8)
EXACT_FLOAT8_TERMS = 128  # that are summed up by tensor cores, at most, before they are added to FP32 sums
SCALE_BLOCK = 128  # terms, and columns of op(B), that share a scale of a block
_FLOAT8_TERMS = 32  # terms of a product of tensor cores
_FLOAT8_ROUNDOFF = 2.0**-13  # roundoff of the sums in tensor cores
_TF32_ERROR = 2.0**-10  # error of a product of two numbers that are rounded to 10 bits of fraction


def largest_product(dtype: DType) -> float:
    """Of two of `random_numbers`."""
    return 2.0**14 if dtype is DType.INT8 else 1.0


def unit_error(dtype: DType, k: int, *, fast: bool = False) -> float:
    """How far a sum of k products may be off, in units of the sum S of their absolute values.

    Tensor cores add products to a sum 16 or 8 at a time, and cut off what is below the last bit of the largest term,
    which is no larger than S. Of float8 they add 32, and keep about 14 bits (DeepSeek-V3, arXiv:2412.19437, 3.3.2). Of
    float32 they multiply the first 11 bits, to which kernels and tensor copies round (TF32).
    """
    if dtype is DType.INT8:
        return 0.0
    exact = (k / 8 + 8) * DType.FLOAT32.roundoff
    if dtype is DType.FLOAT32:
        return exact + _TF32_ERROR
    if dtype not in FLOAT8:
        return exact
    return exact + _FLOAT8_ROUNDOFF * (1 + (k if fast else min(k, EXACT_FLOAT8_TERMS)) / _FLOAT8_TERMS)


def random_numbers(random: np.random.Generator, dtype: DType, count: int) -> Array:
    """Uniform numbers in [-1, 1), or all integers of 8 bits."""
    if dtype is DType.INT8:
        return random.integers(-128, 128, count, np.int8)
    return (random.random(count, np.float32) * np.float32(2) - np.float32(1)).astype(dtype.numpy)


def exact_numbers(random: np.random.Generator, dtype: DType, count: int) -> Array:
    """Whole numbers but 0 whose sums are exact: from -2 to 2, of float8 from -1 to 1."""
    numbers = np.array([-1, 1] if dtype in FLOAT8 else [-2, -1, 1, 2], np.float32)
    drawn: Array = random.choice(numbers, count).astype(dtype.numpy)
    return drawn


def largest_scale(dtype: DType) -> float:
    """Of `random_scales`: products become no larger than 1."""
    return 2.0**-7 if dtype is DType.INT8 else 1.0


def random_scales(random: np.random.Generator, dtype: DType, count: int) -> Array:
    """Between half of the largest and that."""
    return (random.uniform(0.5, 1, count) * largest_scale(dtype)).astype(np.float32)


def exact_scales(random: np.random.Generator, count: int) -> Array:
    """Powers of two."""
    return random.choice(np.array([0.5, 1, 2], np.float32), count)


def stored(results: Array, dtype: DType) -> Array:
    """Results in float64 as they are stored: of 8 bits the largest number where they are beyond it, integers whole."""
    if dtype.is_float:
        clipped: Array = np.clip(results, -dtype.largest, dtype.largest)
        return clipped if dtype.bits == 8 else results
    limits = np.iinfo(dtype.numpy)
    whole: Array = np.nan_to_num(np.rint(np.clip(results, limits.min, limits.max)))
    return whole if dtype.bits == 8 else whole.astype(dtype.numpy)
