"""Decoding by fused multiply-adds: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.attention.attention_decode.mma_sync.space import suits
from autotune.search_spaces.attention.attention_decode.shares import changing_bits, space_of_shares
from autotune.search_spaces.attention.attention_decode.splits import (
    in_parts,
    on_few_blocks,
    outside_of_clusters,
    resident,
    small_parts,
    with_clusters,
)
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_SPECS = field_specs(FmaSchedule)
_BLOCKS_OF_SM = 4  # by which an H100 was fastest, or nearly so
_PART_TILES = 2  # of a part at least
_SHAPES = (  # rows at most, threads, and keys in flight
    (4, 64, 4),
    (8, 128, 2),
    (4, 128, 4),
    (2, 128, 4),
    (4, 256, 2),
    (4, 256, 4),
    (4, 128, 1),
)


def constraints(problem: AttentionDecodeProblem, schedule: FmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from changing_bits(problem, schedule)
    yield from outside_of_clusters(problem, schedule)
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned loads"


def space(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Space[FmaSchedule]:
    """All fields are drawn; what a thread has gets less until registers hold it, and parts no smaller than a tile."""
    widths = tuple(width for width in _SPECS["vector_width"].values if width <= problem.widest)
    rows = tuple(count for count in _SPECS["rows"].values if count <= max(1, problem.group * problem.queries))
    parameters = field_parameters(FmaSchedule, vector_width=widths, rows=rows, cluster=with_clusters(spec))
    return space_of_shares(problem, spec, FmaSchedule, parameters, _fitted)


def _fitted(problem: AttentionDecodeProblem, schedule: FmaSchedule, spec: DeviceSpec) -> FmaSchedule:
    while schedule.footprint(problem).registers > spec.registers_per_thread:
        if schedule.keys_in_flight > 1:
            schedule = replace(schedule, keys_in_flight=schedule.keys_in_flight // 2)
        elif schedule.lanes < WARP:
            schedule = replace(schedule, lanes=2 * schedule.lanes)
        else:
            schedule = replace(schedule, rows=schedule.rows - 1)
    while schedule.footprint(problem).shared_bytes > spec.shared_per_block:
        schedule = replace(schedule, threads=schedule.threads // 2)
    return resident(problem, schedule, spec)


def candidates(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Iterator[FmaSchedule]:
    """The widest loads; as few lanes for a key as have a vector each; as many parts as give every SM some blocks.

    Where rows are for tensor cores, few: an H200 took 1.2 times as long by any.
    """
    width = problem.widest
    vectors = max(1, problem.head_dim // width)
    lanes = next((count for count in _SPECS["lanes"].values if count >= vectors), WARP)
    all_rows = max(1, problem.group * problem.queries)
    shapes = _SHAPES[:1] if suits(problem, spec) else _SHAPES
    for most_rows, threads, loads in shapes:
        rows = ceil_div(all_rows, ceil_div(all_rows, most_rows))
        usual = _fitted(problem, FmaSchedule(threads, rows, lanes, loads, width), spec)
        yield from in_parts(problem, usual, spec, _PART_TILES, _BLOCKS_OF_SM, _fitted)


def checks(problem: AttentionDecodeProblem, schedule: FmaSchedule) -> list[tuple[AttentionDecodeProblem, FmaSchedule]]:
    """See `small_parts`."""
    small = small_parts(problem, min(schedule.rows, 4), schedule.tile_keys, schedule.vector_width)
    return on_few_blocks(small, schedule)
