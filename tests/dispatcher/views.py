"""NumPy arrays in odd places and layouts."""

import numpy as np
from hypothesis import strategies as st

ODD_SIZES = (1, 5, 33, 41)  # none a multiple of a tile's side, so that few kernels serve all


def strided(shape, dtype="float32", *, column_major=False, gap=1, between=0, offset=0, seed=0):
    """A view of `shape` in memory of its own, all of which holds random numbers.

    Args:
        column_major: whether its matrices are transposed views.
        gap: elements between the rows (columns) of a matrix.
        between: elements between its matrices.
        offset: elements before it, from a multiple of 16 bytes on.
    """
    *batch, rows, columns = shape
    outer, inner = (columns, rows) if column_major else (rows, columns)
    leading = inner + gap
    stride = outer * leading + between
    count = batch[0] if batch else 1
    dtype = np.dtype(dtype)
    size = (offset + count * stride) * dtype.itemsize
    raw = np.random.default_rng(seed).integers(1, 255, size + 16, dtype=np.uint8)
    start = -raw.ctypes.data % 16
    memory = raw[start : start + size].view(dtype)
    if dtype == np.float32:
        memory[:] = np.random.default_rng(seed).uniform(-1, 1, memory.size)
    strides = (*(stride for _ in batch), leading, 1)
    view = np.lib.stride_tricks.as_strided(
        memory[offset:], (*batch, outer, inner), [words * dtype.itemsize for words in strides]
    )
    return view.swapaxes(-1, -2) if column_major else view


def layouts():
    """Arguments of `strided` with odd leading dimensions, so that accesses are one word wide."""
    return st.fixed_dictionaries(
        {
            "column_major": st.booleans(),
            "gap": st.just(0) | st.integers(0, 3),
            "between": st.integers(0, 3),
            "offset": st.integers(0, 3),
            "seed": st.integers(0, 99),
        }
    )
