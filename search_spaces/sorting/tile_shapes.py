"""Tiles that sorts and merges try first."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.sorting.values import Values

MANY = 1 << 21  # keys, as of which a launch ahead finds the parts of tiles sooner than their blocks do
# Threads, keys of each, and blocks that fit on an SM at least.
_NARROW = ((256, 17, 4), (256, 15, 1), (256, 21, 4), (512, 15, 1), (256, 11, 1), (128, 15, 1))
_WIDE = ((256, 11, 1), (256, 15, 1), (256, 9, 1), (512, 11, 1), (128, 11, 1))  # keys of 8 bytes, or with values


def tile_shapes(dtype: DType, values: Values) -> tuple[tuple[int, int, int], ...]:
    """Best guess first."""
    return _NARROW if dtype.bytes <= WORD_BYTES and values is Values.NONE else _WIDE
