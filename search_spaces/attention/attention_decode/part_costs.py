"""What blocks of decoding do that have a part of a request's keys each, counted before anything is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, largest, smallest
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.time_model import MachineCosts
from autotune.search_spaces.machine.workload import Workload

_VECTOR = 4  # sums of values that are loaded at once
_STORES = 4  # of a sector of results, which threads store element by element
_WAITS = 2  # loads that a block waits for in turn, if it has keys or not: a length, then a page
_Counts = Sequence[tuple[int, int]]  # of how many requests each has how many


@dataclass(frozen=True)
class Costs(Coefficients, section="attention_decode"):
    """What blocks take whatever multiplies.

    Attributes:
        row: clocks in which a warp weighs the states of a row.
        vector: clocks in which a thread stores four sums of a row.
        state: clocks in which it adds those of a state.
        share: what a block of a fixed grid waits for until it has found its share, in latencies of loads.
        last: what the last block of some rows waits for until all parts are seen, in latencies of loads.
        cluster: likewise, of blocks of a cluster.
        on_way: bytes on their way to an SM by which device memory is busy, as a multiple of those of Little's law.
        dependent: warps of a scheduler that always have an instruction to issue. Of fewer, each waits for its own.
    """

    row: float
    vector: float
    state: float
    share: float
    last: float
    cluster: float
    on_way: float
    dependent: float


@dataclass(frozen=True)
class KernelCosts:
    """What each kernel takes for what all of them do.

    Attributes:
        weight: instructions of a weight that a thread computes, with its mask and its share of the largest logit.
        load: instructions of a load, or of a copy to a stage, with its page, address and bounds.
        start: what each part of a block waits for before its first keys, in latencies of loads.
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
        states: that a block adds, of its warps that have different keys; 0 if sums of all keys are in registers.
    """
    costs = Costs.of(spec)
    keys = [(count, problem.reached(length)) for count, length in problem.usual_lengths]
    tiles = [(count, ceil_div(some, keys_of_tile)) for count, some in keys]
    of_wait = max(1.0, tile.in_flight)  # steps
    blocks, longest, starts, parts = (_in_shares if schedule.grid_blocks else _in_parts)(
        problem, schedule, tiles, _WAITS * of_wait
    )
    filled = _all(keys) / largest(1, _all(tiles) * keys_of_tile)
    warps = tile.footprint.threads // WARP
    rows = smallest(schedule.rows, largest(1, problem.group * problem.queries))
    sums = rows * problem.value_elements
    split = parts > 1 and not schedule.cluster
    machine = MachineCosts.of(spec)
    latency = machine.latency_seconds * spec.clock_hz
    of_warp, vectors = ceil_div(rows, warps), ceil_div(ceil_div(sums, _VECTOR), tile.footprint.threads)
    adding = _adding(costs, of_warp, vectors, states) if states else 0.0
    if schedule.cluster:
        adding += _adding(costs, of_warp, ceil_div(vectors, parts), parts)
    if split:
        adding += _adding(costs, of_warp, vectors, parts)
    busy = costs.on_way * spec.bandwidth * machine.latency_seconds / spec.sm_count
    wanted = busy / largest(1.0, of_wait * filled * tile.bytes_loaded)
    idle = _idle(blocks, resident_blocks(tile.footprint, spec), wanted, spec)
    outside = starts * (kernel.start * latency + adding)
    if schedule.grid_blocks:
        outside += costs.share * latency
    return (
        replace(
            tile,
            blocks=blocks,
            memory_bytes=idle * kernel.memory * problem.usual_work.bytes,
            steps=largest(1, longest),
            dependent=costs.dependent,
            lines=filled * tile.lines,
            bytes_loaded=filled * tile.bytes_loaded,
            bytes_stored=sums * (WORD_BYTES if split else _STORES * problem.dtype.bytes),
            outside_clocks=outside,
            waits=kernel.waits + problem.sinks + (costs.cluster if schedule.cluster else costs.last * split),
        ),
    )


def _adding(costs: Costs, rows: int, vectors: int, states: int) -> float:
    """Clocks in which a warp adds so many rows of states, and each of its threads so many vectors."""
    return costs.row * rows + vectors * (costs.vector + costs.state * states)


def _idle(blocks: int, resident: int, wanted: float, spec: DeviceSpec) -> float:
    """How many times as long bytes take since the last wave has fewer blocks on an SM than are `wanted`."""
    of_wave = resident * spec.sm_count
    rest = blocks % of_wave / spec.sm_count
    if blocks <= of_wave or not rest:
        return 1.0
    return 1.0 + largest(0.0, wanted - rest) * spec.sm_count / blocks


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


def _in_parts(problem: AttentionDecodeProblem, schedule: Parts, tiles: _Counts, waits: float) -> _Blocks:
    """Of requests that are cut by their own lengths, with so many `tiles` each; `waits` are tiles, too."""
    of_part = [largest(schedule.part_tiles, ceil_div(some, schedule.splits)) for _, some in tiles]
    parts = [(count, ceil_div(some, of_one)) for (count, some), of_one in zip(tiles, of_part, strict=True)]
    longest = _most((count, smallest(of_one, some)) for (count, some), of_one in zip(tiles, of_part, strict=True))
    all_steps = _all(tiles) + waits * _all(parts)
    blocks = ceil(schedule.grid_heads(problem) * all_steps / (longest + waits))
    return _Blocks(blocks, longest, 1.0, largest(1, _most(parts)))


def _in_shares(problem: AttentionDecodeProblem, schedule: Parts, tiles: _Counts, waits: float) -> _Blocks:
    """Of a fixed grid, likewise."""
    heads = largest(1, schedule.grid_heads(problem))
    there = largest(1, schedule.blocks(problem) // heads)
    listed = sum(count * largest(1, some) for count, some in tiles)
    share = largest(schedule.part_tiles, ceil_div(listed, there), 1)
    parts = ceil_div(_most(tiles), share) + 1  # a share seldom begins where a request does
    return _Blocks(heads * ceil_div(listed, share), smallest(share, listed), 1.0 + problem.batch / there, parts)


def _all(of_requests: _Counts) -> int:
    """The sum of what so many requests have each."""
    return sum(count * some for count, some in of_requests)


def _most(of_requests: Iterable[tuple[int, int]]) -> int:
    """The most that any request has."""
    return largest(0, *(some * smallest(1, count) for count, some in of_requests))
