"""The random state of a call: the scalars `seed` and `offset`, and an array `state` that is added to them."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType

from .layouts import Layout

_WORDS = (DType.UINT64, DType.INT64)


def random_pairs(state: Layout | None, rows: int = 1) -> int:
    """Pairs of seed and offset in device memory: 0 without an array, 1 of shape (2,), or `rows` of shape (rows, 2).

    Raises:
        ValueError: an array of another shape or dtype.
    """
    if state is None:
        return 0
    shapes = [(2,), *([(rows, 2)] if rows > 1 else [])]
    if state.shape not in shapes or state.dtype not in _WORDS:
        expected = " or ".join(map(str, shapes))
        raise ValueError(
            f"state has shape {state.shape} and dtype {state.dtype}: expected {expected} and uint64 or int64"
        )
    return 1 if state.shape == (2,) else rows
