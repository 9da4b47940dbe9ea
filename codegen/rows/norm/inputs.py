"""Rows that are hard to normalise, among random ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Tensor

_Row = npt.NDArray[np.float32]


def normal(random: np.random.Generator, tensor: Tensor) -> Array:
    """A flat buffer of normal numbers."""
    return repeated(lambda count: random.standard_normal(count, np.float32).astype(tensor.dtype.numpy), tensor.size)


def hard_rows(random: np.random.Generator, tensor: Tensor, finite: bool = False) -> Array:
    """The same, but for a row of each kind of `_SPECIAL`; of a few rows half are special."""
    flat = normal(random, tensor)
    rows, columns = tensor.shape
    special = _SPECIAL[:_FINITE] if finite else _SPECIAL
    chosen = random.choice(rows, min(len(special), rows // 2), replace=False) if rows > 1 and columns else ()
    for number, change in zip(chosen, special, strict=False):
        row = tensor.view(flat)[number].astype(np.float32)
        change(row, random)
        tensor.view(flat)[number] = row
    return flat


def _far_from_zero(row: _Row, random: np.random.Generator) -> None:
    """PyTorch's layer_norm, which does not subtract a row's first element, has no right digit for a mean of 10^6."""
    row += 30


def _huge_first(row: _Row, random: np.random.Generator) -> None:
    row[0] = 3e4


def _huge_last(row: _Row, random: np.random.Generator) -> None:
    row[-1] = -3e4


def _constant(row: _Row, random: np.random.Generator) -> None:
    row[:] = 7


def _alternating(row: _Row, random: np.random.Generator) -> None:
    row[:] = 1000
    row[1::2] = -1000


def _zero(row: _Row, random: np.random.Generator) -> None:
    row[:] = 0


def _infinite(row: _Row, random: np.random.Generator) -> None:
    row[random.integers(row.size)] = np.inf


def _not_a_number(row: _Row, random: np.random.Generator) -> None:
    row[random.integers(row.size)] = np.nan


_SPECIAL: tuple[Callable[[_Row, np.random.Generator], None], ...] = (
    _far_from_zero,
    _huge_first,
    _huge_last,
    _constant,
    _alternating,
    _zero,
    _infinite,
    _not_a_number,
)
_FINITE = 6  # the first ones, which are finite
