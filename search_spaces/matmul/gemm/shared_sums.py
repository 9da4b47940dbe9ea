"""gemm: what it takes to complete tiles whose blocks share them along k."""

from __future__ import annotations

from ....codegen.integers import ceil_div

_FAN_IN = 16  # of split_k_reduction.cuh
_WORDS = 4  # of a vector
_SLOWER = 25.0  # than the vectors of sgemm, by which the time model counts: text that is unrolled for each of them


def vectors_read(tiles: int, blocks: int, sums: float) -> float:
    """Vectors that a thread reads in turn: of each part of a tile, of 16 neighbours, then of all such groups."""
    sharers = max(2, ceil_div(blocks, tiles))
    parts = sharers if sharers <= _FAN_IN else _FAN_IN + ceil_div(sharers, _FAN_IN)
    return _SLOWER * parts * sums / _WORDS
