"""Rows of logits that are hard, among random ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Tensor

_Row = npt.NDArray[np.float32]


def hard_logits(random: np.random.Generator, tensor: Tensor) -> Array:
    """A flat buffer of normal numbers, but for a row of each kind of `_SPECIAL`; of a few rows half are special."""
    flat = repeated(
        lambda count: (4 * random.standard_normal(count, np.float32)).astype(tensor.dtype.numpy), tensor.size
    )
    rows, columns = tensor.shape
    for number, special in zip(some_rows(random, rows, len(_SPECIAL)), _SPECIAL, strict=False):
        if columns:
            row = tensor.view(flat)[number].astype(np.float32)
            special(row, random)
            tensor.view(flat)[number] = row
    return flat


def some_rows(random: np.random.Generator, rows: int, count: int) -> npt.NDArray[np.int64]:
    """Rows to make special, at most half of them."""
    return random.choice(rows, min(count, rows // 2), replace=False) if rows > 1 else np.zeros(0, np.int64)


def _large_offset(row: _Row, random: np.random.Generator) -> None:
    row += np.float32(1e4)


def _constant(row: _Row, random: np.random.Generator) -> None:
    row[:] = row[0]


def _largest_last(row: _Row, random: np.random.Generator) -> None:
    row[-1] = 40


def _partly_impossible(row: _Row, random: np.random.Generator) -> None:
    """-infinity here and there, and throughout the first half: a running maximum begins with it."""
    row[random.integers(0, row.size, row.size // 3)] = -np.inf
    row[: row.size // 2] = -np.inf
    row[-1] = 0


def _all_impossible(row: _Row, random: np.random.Generator) -> None:
    row[:] = -np.inf


def _infinite(row: _Row, random: np.random.Generator) -> None:
    row[random.integers(row.size)] = np.inf


def _not_a_number(row: _Row, random: np.random.Generator) -> None:
    row[random.integers(row.size)] = np.nan


_SPECIAL: tuple[Callable[[_Row, np.random.Generator], None], ...] = (
    _partly_impossible,
    _large_offset,
    _largest_last,
    _all_impossible,
    _infinite,
    _not_a_number,
    _constant,
)
