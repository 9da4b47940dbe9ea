"""Tensors whose gaps are so large that only their elements go to the emulator's process and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Tensor

_LARGE = 1 << 28  # bytes


def is_sparse(tensor: Tensor) -> bool:
    """Whether a buffer consists of pieces, and an access to a gap is an error."""
    return tensor.bytes > _LARGE and not tensor.dense


def offsets(tensor: Tensor) -> npt.NDArray[np.int64]:
    """Where the pieces of a sparse tensor begin, in bytes, in ascending order."""
    starts = np.zeros(1, np.int64)
    for extent, stride in _outer(tensor):
        starts = np.add.outer(starts, np.arange(extent, dtype=np.int64) * stride * tensor.dtype.bytes).reshape(-1)
    return starts


def piece_bytes(tensor: Tensor) -> int:
    """Bytes of each piece."""
    return (tensor.axes[-1][0] if _ends_in_runs(tensor) else 1) * tensor.dtype.bytes


def elements(tensor: Tensor, flat: Array) -> Array:
    """What a flat buffer has to hold: the elements of a sparse tensor, or all of it."""
    if not is_sparse(tensor):
        return flat
    extents, strides = zip(*tensor.axes, strict=True)
    bits = flat.view(f"u{flat.itemsize}")  # NumPy's array interface has no name for some types of ml_dtypes
    pieces = np.lib.stride_tricks.as_strided(bits, extents, [stride * flat.itemsize for stride in strides])
    return pieces.view(flat.dtype)


def _ends_in_runs(tensor: Tensor) -> bool:
    return tensor.axes[-1][1] == 1


def _outer(tensor: Tensor) -> tuple[tuple[int, int], ...]:
    return tensor.axes[:-1] if _ends_in_runs(tensor) else tensor.axes
