"""Into how many parts kernels of decoding cut the keys of a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isqrt
from typing import NamedTuple, TypeVar

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.indices import Spread
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE

from .shares import shared

_MOST = 128
_MOST_TILES = 128  # that parts have at least
_LONG_BYTES = 1 << 19  # of keys and values of a part, beside which its results are some kilobytes
_INVARIANT = 4  # times as much, of which an H200 with 64 requests takes parts as fast as whole requests
_ADDED = 2.5  # bytes of sums that a block reads in the time of a byte of keys, about, on an H200
_CLUSTERS = (2, 4, 8)  # of 16, an H200 has too few at once
_CLUSTER_BYTES = 1 << 24  # of keys and values: of more, an H200 was slower by clusters
_UNEVEN_PARTS = {Spread.EVEN: 1, Spread.RANDOM: 4, Spread.LONG: 8}  # of a request, by which an H200 was fast
P = TypeVar("P", bound=Parts)


def most_splits(problem: AttentionDecodeProblem, tile_keys: int) -> int:
    """A power of two: the most parts of a tile or more each, that a request may have."""
    tiles = max(1, min(_MOST, ceil_div(problem.keys, tile_keys)))
    return _power_below(tiles)


class Cut(NamedTuple):
    """How keys are cut for blocks: into so many parts of a request at most, of so many tiles or more; or into shares of
    so many waves of blocks."""

    splits: int = 1
    part_tiles: int = 1
    waves: int = 0


def cut(problem: AttentionDecodeProblem, schedule: Parts, least_tiles: int, blocks: int) -> Iterator[Cut]:
    """The best guess first.

    Even batches need as many parts as make `blocks` blocks, each of some tiles, but not so many that one block takes
    longer to add them than to read its own keys. One long request among short ones needs more, or its few blocks are
    what all others wait for: these get shares, whatever their lengths, or large parts, so that shorter requests stay
    whole.

    Where a request must have the same bits in any batch, parts are so large that they cost full batches little.

    Args:
        problem: what is computed.
        schedule: of any parts.
        least_tiles: of a part.
        blocks: of the grid.
    """
    long_keys = max(1, _LONG_BYTES // problem.key_bytes)
    if problem.batch_invariant:
        tiles = min(_power_below(_INVARIANT * long_keys // schedule.tile_keys), _MOST_TILES)
        yield Cut(most_splits(problem, tiles * schedule.tile_keys), tiles)
        return
    wanted = min(blocks // max(1, schedule.row_blocks(problem)), most_splits(problem, least_tiles * schedule.tile_keys))
    most_seen = min(problem.keys, problem.window_left + problem.queries) if problem.window_left else problem.keys
    filling = _power_below(min(wanted, _most_added(problem, schedule, most_seen)))
    spread = Spread.EVEN if problem.full else problem.spread
    uneven = min(_power_below(most_seen // long_keys), _UNEVEN_PARTS[spread])
    if uneven > filling:
        yield Cut(waves=1)
        yield Cut(uneven, min(_power_below(long_keys // schedule.tile_keys), _MOST_TILES))
        return
    for splits in dict.fromkeys((filling, max(1, filling // 2), 2 * filling)):
        yield Cut(min(splits, most_splits(problem, schedule.tile_keys)))
    if problem.batch > 1:
        yield Cut(waves=1)


def _most_added(problem: AttentionDecodeProblem, schedule: Parts, keys: int) -> int:
    """Parts of so many keys of a head whose sums take about as long to add as the keys of one to read."""
    rows = min(schedule.rows, problem.group * problem.queries)
    sums = max(1, rows * problem.value_elements * WORD_BYTES)
    return isqrt(int(_ADDED * keys * problem.key_bytes) // sums)


def in_parts(
    problem: AttentionDecodeProblem,
    schedule: P,
    spec: DeviceSpec,
    least_tiles: int,
    blocks_of_sm: int,
    fitted: Callable[[AttentionDecodeProblem, P, DeviceSpec], P],
) -> Iterator[P]:
    """The schedule of each `cut` as `fitted` leaves it, best guess first."""
    for one in cut(problem, schedule, least_tiles, blocks_of_sm * spec.sm_count):
        parts = fitted(problem, schedule.replace(splits=one.splits, part_tiles=one.part_tiles), spec)
        yield from _with_and_without(problem, shared(problem, parts, spec, one.waves), spec)


def resident(problem: AttentionDecodeProblem, schedule: P, spec: DeviceSpec) -> P:
    """The schedule with no more parts than there are tiles, and no more blocks of an SM than it has room for."""
    taken = schedule.footprint(problem)
    registers = min(taken.registers, spec.registers_per_thread)
    room = blocks_per_sm(spec, taken.threads, registers, taken.shared_bytes)
    splits = min(schedule.splits, most_splits(problem, schedule.tile_keys))
    least = max(1, min(taken.min_blocks_per_sm, room))
    return clustered(problem, schedule.replace(splits=splits, min_blocks_per_sm=least))


def with_clusters(spec: DeviceSpec) -> tuple[bool, ...]:
    """Whether blocks may be clusters on a device."""
    return (False, True) if spec.compute_capability >= CLUSTERS_SINCE else (False,)


def outside_of_clusters(problem: AttentionDecodeProblem, schedule: Parts) -> Iterator[str]:
    """Why blocks of the same keys cannot be a cluster, if they must be one."""
    if not schedule.cluster:
        return
    if schedule.splits not in _CLUSTERS or schedule.grid_blocks:
        yield f"splits {schedule.splits} with cluster: expected 2, 4 or 8, without grid_blocks"
    if (rows := problem.group * problem.queries) > schedule.rows:
        yield f"{rows} rows with cluster: expected the {schedule.rows} of a block at most"


def _with_and_without(problem: AttentionDecodeProblem, schedule: P, spec: DeviceSpec) -> Iterator[P]:
    """The schedule, and the same with clusters where there may be such.

    Each SM has a block at most: of more, several would share an SM while others have none. So a schedule for any number
    of requests has none.
    """
    yield schedule
    in_clusters = clustered(problem, schedule.replace(cluster=with_clusters(spec)[-1]))
    read = problem.batch * problem.keys * problem.kv_heads * problem.key_bytes
    few = schedule.blocks(problem) <= spec.sm_count and read <= _CLUSTER_BYTES and not problem.batch_invariant
    if in_clusters.cluster and few:
        yield in_clusters


def clustered(problem: AttentionDecodeProblem, schedule: P) -> P:
    """The schedule, whose blocks are no clusters where they cannot be such."""
    return schedule.replace(cluster=False) if any(outside_of_clusters(problem, schedule)) else schedule


def _power_below(count: int) -> int:
    """The largest power of two that is no more, 1 at least."""
    return 1 << max(1, count).bit_length() - 1


def small_parts(
    problem: AttentionDecodeProblem, rows: int, tile_keys: int, vector_width: int
) -> list[AttentionDecodeProblem]:
    """See `small_problems`; a cache has no more pages than requests have room for."""
    return small_problems(replace(problem, pages=0), rows, tile_keys, vector_width * problem.dtype.bytes)


def on_few_blocks(small: list[AttentionDecodeProblem], schedule: P) -> list[tuple[AttentionDecodeProblem, P]]:
    """The schedule for small problems, by two parts or three blocks at most."""
    few = schedule.replace(splits=min(schedule.splits, 2), grid_blocks=min(schedule.grid_blocks, 3))
    return [(one, clustered(one, few)) for one in small]
