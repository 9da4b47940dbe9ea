"""Tiles that sorts and merges try first."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.sorting.values import Values

MANY = 1 << 21  # keys, as of which a launch ahead finds the parts of tiles sooner than their blocks do
# Threads, keys of each, and blocks that fit on an SM at least.
_SHORT = ((256, 17, 1), (256, 11, 1), (512, 17, 1), (128, 17, 1))
_LONG = ((256, 25, 1), (256, 21, 5), (256, 17, 1), (256, 15, 1), (128, 21, 1))
_PAIRS = ((256, 17, 1), (256, 11, 1), (256, 15, 1), (256, 9, 1))
_WIDE = ((256, 11, 1), (256, 9, 1), (256, 7, 1), (128, 11, 1))  # keys of 8 bytes


def tile_shapes(dtype: DType, values: Values, keys: int) -> tuple[tuple[int, int, int], ...]:
    """For so many keys, best guess first."""
    if dtype.bytes > WORD_BYTES:
        return _WIDE
    if values is not Values.NONE:
        return _PAIRS
    return _LONG if keys >= MANY else _SHORT
