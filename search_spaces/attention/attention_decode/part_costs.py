"""What blocks of decoding do that have a part of a request's keys each, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.hardware import SCHEDULERS, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload

_VECTOR = 4  # sums of values that are loaded at once
_WAITS = 2  # loads that a block waits for in turn, if it has keys or not: a length, then a page
_CLUSTER_WAITS = 2  # as long as it takes a block of a cluster to see the others' sums, about, on an H200
_KEPT = 64  # problems
_Tiles = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Costs(Coefficients, section="attention_decode"):
    """What blocks take whatever multiplies.

    Attributes:
        part: how long a vector of another part's sums takes to read, as a multiple of the model's for a cluster's.
        dependent: warps of a scheduler that always have an instruction to issue. Of fewer, each waits for its own.
    """

    part: float
    dependent: float


@dataclass(frozen=True)
class KernelCosts:
    """What each kernel takes for what all of them do.

    Attributes:
        weight: instructions of a weight that a thread computes, with its mask and its share of the largest logit.
        load: instructions of a load, or of a copy to a stage, with its page, address and bounds.
        start: what each part of a block waits for before its first keys, in steps.
        waits: what all wait for once, in latencies of loads: lengths, pages, instructions that run for the first time.
        memory: how long device memory takes for a byte, as a multiple of the model's time.
    """

    weight: float
    load: float
    start: float
    waits: float
    memory: float


def of_parts(
    problem: AttentionDecodeProblem,
    schedule: Parts,
    spec: DeviceSpec,
    tile: Workload,
    kernel: KernelCosts,
    *,
    keys_of_tile: int,
    states: int,
) -> tuple[Workload, ...]:
    """The launch of blocks that go through the tiles of a part each, and then add what was made of them.

    A block that has less to do than the longest counts as a share of it, so that requests may differ in length.

    Args:
        problem, schedule, spec: what is computed, and how.
        tile: with the counts of a tile of keys in place of a step's.
        kernel: what it takes.
        keys_of_tile: of a block.
        states: that a block adds, of its warps that have different keys.
    """
    costs = Costs.of(spec)
    cached_bytes, keys = _read(problem)
    tiles = -(-keys // keys_of_tile)
    of_wait = max(1.0, tile.in_flight)  # steps
    blocks, longest, starts, parts = (_in_shares if schedule.grid_blocks else _in_parts)(
        problem, schedule, tiles, _WAITS * of_wait
    )
    steps = max(1.0, longest + starts * kernel.start * of_wait)
    filled = float(keys.sum()) / max(1, int(tiles.sum()) * keys_of_tile)
    warps = tile.footprint.threads // WARP
    together = max(1, min(resident_blocks(tile.footprint, spec), ceil_div(blocks, spec.sm_count)))
    idle = max(1.0, costs.dependent * SCHEDULERS / (together * warps))
    share = longest / steps  # of the steps that have keys
    rows = min(schedule.rows, max(1, problem.group * problem.queries))
    sums = rows * problem.value_elements
    split = parts > 1 and not schedule.cluster
    return (
        replace(
            tile,
            blocks=blocks,
            memory_bytes=kernel.memory * cached_bytes,
            steps=steps,
            instructions=share * idle * tile.instructions,
            load_instructions=share * idle * tile.load_instructions,
            unit_clocks=share * tile.unit_clocks,
            shared_clocks=share * tile.shared_clocks,
            lines=share * filled * tile.lines,
            bytes_loaded=share * filled * tile.bytes_loaded,
            bytes_stored=sums * (WORD_BYTES if split else problem.dtype.bytes),
            sliced_words=ceil_div(states * sums, tile.footprint.threads) if states > 1 else 0,
            shared_vectors=costs.part * ceil_div(ceil_div(sums, _VECTOR), tile.footprint.threads) * parts
            if split
            else 0,
            waits=kernel.waits + problem.sinks + _CLUSTER_WAITS * schedule.cluster,
        ),
    )


class _Blocks(NamedTuple):
    """Blocks that are alike, of which each has the most tiles that one has.

    Attributes:
        blocks: how many.
        tiles: of keys.
        starts: parts that a block has one after the other.
        parts: of the keys of a request at most.
    """

    blocks: int
    tiles: int
    starts: float
    parts: int


def _in_parts(problem: AttentionDecodeProblem, schedule: Parts, tiles: _Tiles, waits: float) -> _Blocks:
    """Of requests that are cut by their own lengths, with so many `tiles` each; `waits` are tiles, too."""
    of_part = np.maximum(schedule.part_tiles, -(-tiles // schedule.splits))
    longest = int(np.minimum(of_part, tiles).max(initial=0))
    all_steps = int(tiles.sum()) + waits * schedule.splits * problem.batch
    blocks = ceil(schedule.row_blocks(problem) / max(1, problem.batch) * all_steps / (longest + waits))
    return _Blocks(blocks, longest, 1.0, int((-(-tiles // of_part)).max(initial=1)))


def _in_shares(problem: AttentionDecodeProblem, schedule: Parts, tiles: _Tiles, waits: float) -> _Blocks:
    """Of a fixed grid, likewise."""
    heads = max(1, schedule.grid_heads(problem))
    there = max(1, schedule.blocks(problem) // heads)
    listed = int(np.maximum(tiles, 1).sum())
    share = max(schedule.part_tiles, ceil_div(listed, there), 1)
    parts = ceil_div(int(tiles.max(initial=0)), share) + 1  # a share seldom begins where a request does
    return _Blocks(heads * ceil_div(listed, share), min(share, listed), 1.0 + problem.batch / there, parts)


@lru_cache(maxsize=_KEPT)
def _read(problem: AttentionDecodeProblem) -> tuple[int, npt.NDArray[np.int64]]:
    """The bytes of the problem, and the keys of each request that are read: to draw the lengths takes milliseconds."""
    return problem.work.bytes, np.array(problem.seen_keys, np.int64)
