"""The launch of kernels that use double_sums.cuh."""

from __future__ import annotations

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch

_TILE, _THREADS, _STEPS = 64, 256, 16


def launch(entry: str, rows: int, columns: int, batch: int) -> Launch:
    """A block for each tile of the results."""
    tiles = ceil_div(rows, _TILE) * ceil_div(columns, _TILE) * batch
    return Launch(entry, (tiles, 1, 1), (_THREADS, 1, 1), 2 * 8 * _STEPS * (_TILE + 1))
