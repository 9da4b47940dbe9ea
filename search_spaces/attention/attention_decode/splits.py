"""Into how many parts kernels of decoding cut the keys of a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.indices import Spread
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.attention.small import small_problems

_MOST = 128
_MOST_TILES = 64  # that parts have at least
_LONG_BYTES = 1 << 19  # of keys and values of a part, beside which its results are some kilobytes
_UNEVEN_PARTS = {Spread.EVEN: 1, Spread.RANDOM: 4, Spread.LONG: 8}  # of a request, by which an H200 was fast


def most_splits(problem: AttentionDecodeProblem, tile_keys: int) -> int:
    """A power of two: the most parts of a tile or more each, that a request may have."""
    tiles = max(1, min(_MOST, ceil_div(problem.keys, tile_keys)))
    return _power_below(tiles)


def cut(problem: AttentionDecodeProblem, schedule: Parts, least_tiles: int, blocks: int) -> Iterator[tuple[int, int]]:
    """How many parts requests are cut into at most, and how many tiles each part has at least; the best guess first.

    Even batches need as many parts as make `blocks` blocks, each of some tiles. One long request among short ones needs
    more, or its few blocks are what all others wait for. These parts are large, so that shorter requests stay whole.
    More parts than are needed cost an even batch some per cent: as many are taken as suit the spread of lengths, and
    where these may differ, no fewer.

    Args:
        problem: what is computed.
        schedule: of any parts.
        least_tiles: of a part.
        blocks: of the grid.
    """
    wanted = min(blocks // max(1, schedule.row_blocks(problem)), most_splits(problem, least_tiles * schedule.tile_keys))
    filling = _power_below(wanted)
    long_keys = max(1, _LONG_BYTES // problem.key_bytes)
    most_seen = min(problem.keys, problem.window_left + problem.queries) if problem.window_left else problem.keys
    uneven = min(_power_below(most_seen // long_keys), _UNEVEN_PARTS[problem.spread])
    if uneven > filling:
        yield uneven, min(_power_below(long_keys // schedule.tile_keys), _MOST_TILES)
        return
    for splits in dict.fromkeys((filling, max(1, filling // 2), 2 * filling)):
        yield min(splits, most_splits(problem, schedule.tile_keys)), 1


def _power_below(count: int) -> int:
    """The largest power of two that is no more, 1 at least."""
    return 1 << max(1, count).bit_length() - 1


def small_parts(
    problem: AttentionDecodeProblem, rows: int, tile_keys: int, vector_width: int
) -> list[AttentionDecodeProblem]:
    """See `small_problems`; a cache has no more pages than requests have room for."""
    return small_problems(replace(problem, pages=0), rows, tile_keys, vector_width * problem.dtype.bytes)
