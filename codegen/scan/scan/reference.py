"""Scans by NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def scanned(
    x: Array,
    combine: np.ufunc,
    identity: Any,
    heads: npt.NDArray[np.bool_] | None,
    exclusive: bool,
    reverse: bool,
    init: Array | None,
) -> Array:
    """Each row of x scanned, in the type of x.

    Args:
        x: of shape (rows, columns).
        combine: such as ``np.add``.
        identity: what an exclusive scan begins with.
        heads: of a single row, whether a segment begins at a column.
        exclusive, reverse: see `ScanProblem`.
        init: of one element, if there is an initial value.
    """
    columns = x.shape[1]
    begins = [0, *(np.flatnonzero(heads[1:]) + 1), columns] if heads is not None and columns else [0, columns]
    y = np.empty_like(x)
    with np.errstate(invalid="ignore", over="ignore"):
        for begin, end in pairwise(begins):
            source, target = x[:, begin:end], y[:, begin:end]
            if reverse:
                source, target = source[:, ::-1], target[:, ::-1]
            running = combine.accumulate(source, axis=1, dtype=x.dtype)
            if exclusive and end > begin:
                target[:, 0], target[:, 1:] = identity, running[:, :-1]
            else:
                target[...] = running
        return y if init is None else combine(init, y)
