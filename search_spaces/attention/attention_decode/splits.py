"""Into how many parts kernels of decoding cut the keys of a request."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.attention.small import small_problems

_MOST = 128


def most_splits(problem: AttentionDecodeProblem, tile_keys: int) -> int:
    """A power of two: the most parts of a tile or more each, that a request may have."""
    tiles = max(1, min(_MOST, ceil_div(problem.keys, tile_keys)))
    return 1 << tiles.bit_length() - 1


def usual_splits(problem: AttentionDecodeProblem, row_blocks: int, least_keys: int, blocks: int) -> int:
    """A power of two: the parts that make as many blocks or fewer, with some keys in each part."""
    wanted = min(blocks // max(1, row_blocks), most_splits(problem, least_keys))
    return 1 << max(1, wanted).bit_length() - 1


def small_parts(
    problem: AttentionDecodeProblem, rows: int, tile_keys: int, vector_width: int
) -> list[AttentionDecodeProblem]:
    """See `small_problems`; a cache has no more pages than requests have room for."""
    return small_problems(replace(problem, pages=0), rows, tile_keys, vector_width * problem.dtype.bytes)
