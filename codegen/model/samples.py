"""Which rows of a large output are judged, where a reference of all of them takes too long."""

from __future__ import annotations

import numpy as np

from .problem import Array

_TILES = (8, 16, 32, 64, 128, 256)  # rows of a kernel's tiles


def sampled_rows(rows: int, seed: int, most: int) -> Array | None:
    """The rows, int64 and ascending, that are judged of so many; None if they are no more than `most`: all are.

    `most` of them are chosen by a hash of `seed`, `rows` and their number, one in each of as many equal parts. The
    first row and the last one are always there, and so are those on both sides of the first and the last edge of tiles.
    """
    if rows <= most:
        return None
    parts = np.arange(most + 1) * rows // most
    hashed = _mixed(np.arange(most, dtype=np.uint64) + _mixed(np.array([seed], np.uint64)) + np.uint64(rows))
    chosen = parts[:-1] + (hashed % np.diff(parts).astype(np.uint64)).astype(np.int64)
    edges = [edge for tile in _TILES if tile < rows for edge in (tile, (rows - 1) // tile * tile)]
    fixed = [0, rows - 1, *edges, *(edge - 1 for edge in edges)]
    return np.unique(np.concatenate([chosen, fixed])).astype(np.int64)


def _mixed(number: Array) -> Array:
    """The finaliser of SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014)."""
    number = (number ^ number >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ number >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed: Array = number ^ number >> np.uint64(31)
    return mixed
