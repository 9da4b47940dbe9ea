"""Keys to sort, and what goes along with them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated

DTYPES = (
    DType.UINT32,
    DType.UINT8,
    DType.UINT16,
    DType.UINT64,
    DType.INT8,
    DType.INT16,
    DType.INT32,
    DType.INT64,
    DType.FLOAT16,
    DType.BFLOAT16,
    DType.FLOAT32,
    DType.FLOAT64,
)
# One float in so many is a NaN, an infinity or a zero, of either sign.
_SPECIAL_EVERY = 64
_PLACES = {1: 251, 2: 65521}  # primes, so that equal keys far apart differ
_FEW = 1 << 16  # keys; of more, NaN has no sign: other libraries, which are measured on them, order it by that


class Entropy(StrEnum):
    """Entropy of each bit of the keys: that of as many random words of which a bit is set in all (Thearling and Smith,
    An Improved Supercomputer Sorting Benchmark, 1992)."""

    FULL = "1.000"
    HALF = "0.544"
    LOW = "0.201"
    NONE = "0.000"

    @property
    def words(self) -> int:
        """Random words that are joined; 0 for a constant."""
        return {Entropy.FULL: 1, Entropy.HALF: 3, Entropy.LOW: 5, Entropy.NONE: 0}[self]


def random_keys(random: np.random.Generator, count: int, dtype: DType, entropy: Entropy) -> Array:
    """Random bits; of full entropy, some of the keys are equal, and some of the floats are special ones."""

    def draw(count: int) -> Array:
        bits = np.full(dtype.bytes * count, 0xFF if entropy.words else random.integers(1, 0x7F), np.uint8)
        for _ in range(entropy.words):
            bits &= np.frombuffer(random.bytes(bits.size), np.uint8)
        found = bits.view(f"u{dtype.bytes}")
        if dtype.is_float:
            infinity, nan = _bits((np.inf, np.nan), dtype)
            found[found & ~_sign(dtype) > infinity] = nan
        if entropy is Entropy.FULL and count:
            found[:: _SPECIAL_EVERY // 2] = found[0]
            if dtype.is_float:
                nans = (np.nan, -np.nan) if count < _FEW else (np.nan,)
                chosen = random.integers(0, count, count // _SPECIAL_EVERY)
                found[chosen] = random.choice(_bits((*nans, np.inf, -np.inf, 0.0, -0.0), dtype), chosen.size)
        return found

    return repeated(draw, count).view(dtype.numpy)


def _bits(numbers: ArrayLike, dtype: DType) -> Array:
    return np.asarray(numbers, np.float64).astype(dtype.numpy).view(f"u{dtype.bytes}")


def _sign(dtype: DType) -> Any:
    """The highest bit."""
    return np.dtype(f"u{dtype.bytes}").type(1 << (dtype.bits - 1))


def numbered(random: np.random.Generator, count: int, dtype: DType) -> Array:
    """Numbers that ascend from any one on, and tell places apart as far as their type allows."""
    places = min(count, _PLACES.get(dtype.bytes, count))
    numbers = np.arange(places, dtype=dtype.numpy) + dtype.numpy.type(random.integers(0, 0xFF))
    return np.resize(numbers, count)


def ordered(keys: Array, dtype: DType) -> Array:
    """Unsigned numbers in the order of the keys: -0 and 0 are equal, and so are all NaN, which are the largest."""
    bits, sign = keys.view(f"u{dtype.bytes}"), _sign(dtype)
    if dtype.is_float:
        magnitude = bits & ~sign
        found = np.where(bits & sign, ~bits, bits | sign)
        found[magnitude == 0] = sign
        found[magnitude > _bits(np.inf, dtype)] = ~sign | sign
        return found
    return bits ^ sign if np.issubdtype(keys.dtype, np.signedinteger) else bits


def compared(keys: Array, dtype: DType, descending: bool) -> Array:
    """Unsigned numbers that ascend in the order of a sort."""
    found = ordered(keys, dtype)
    return ~found if descending else found
