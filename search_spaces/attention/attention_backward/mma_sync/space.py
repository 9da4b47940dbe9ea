"""attention_backward by the tensor cores of warps: which schedules are legal, which to draw from and to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention_backward.emit import statistics_blocks
from autotune.codegen.attention.attention_backward.mma_sync.schedule import PRODUCT, TILES, MmaSyncSchedule
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.footprint import Footprint
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.attention.tiles import heads_in_l2
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.resources import footprint_violations, grid_violations

_SPECS = field_specs(MmaSyncSchedule)
# Threads, rows of a warp, queries and keys of a stage that are tried first.
_TILES = ((128, 16, 32, 64), (256, 16, 32, 64), (128, 16, 64, 64), (256, 16, 64, 32), (128, 32, 32, 32))
_SPARE_REGISTERS = 16  # beyond the footprint, with which ptxas spills little


def constraints(problem: AttentionBackwardProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and the footprint of its first pass."""
    yield from grid_violations(statistics_blocks(problem))
    if schedule.vector_width > copied(problem):
        yield f"vector_width {schedule.vector_width} over the {copied(problem)} elements of aligned copies"
    yield from footprint_violations(spec, schedule.query_footprint(problem))


def copied(problem: AttentionBackwardProblem) -> int:
    """Elements of the widest copies that heads of operands are aligned for, and are whole ones."""
    return problem.widest_of("q", "k", "v", "dout")


def space(problem: AttentionBackwardProblem, spec: DeviceSpec) -> Space[MmaSyncSchedule]:
    """All fields are drawn, as upper bounds: a schedule gets as much as there is room for."""
    widths = tuple(width for width in _SPECS["vector_width"].values if width <= copied(problem))
    heads = tuple(count for count in _SPECS["heads_together"].values if count < 2 * max(1, problem.all_heads))
    parameters = field_parameters(MmaSyncSchedule, vector_width=widths, heads_together=heads)

    def build(draw: Draw) -> MmaSyncSchedule:
        return fitted(problem, MmaSyncSchedule.from_dict(draw), spec)

    return Space(parameters, build)


def fitted(problem: AttentionBackwardProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> MmaSyncSchedule:
    """The schedule with less of all that there are not enough registers or not enough shared memory for."""
    while any(one.registers > spec.registers_per_thread for one in _footprints(problem, schedule)):
        if schedule.warp_rows > PRODUCT:
            schedule = replace(schedule, warp_rows=PRODUCT)
        elif schedule.footprint(problem).registers > spec.registers_per_thread:
            smaller = _less(schedule.tile_queries)
            if schedule.tile_queries > 2 * PRODUCT or not schedule.together:
                schedule = replace(schedule, tile_queries=smaller)
            else:
                schedule = replace(schedule, together=False)
        else:
            schedule = replace(schedule, tile_keys=_less(schedule.tile_keys))
    while any(one.shared_bytes > spec.shared_per_block for one in _footprints(problem, schedule)):
        if schedule.stages > _SPECS["stages"].values[0]:
            schedule = replace(schedule, stages=schedule.stages - 1)
        elif max(schedule.tile_queries, schedule.tile_keys) > PRODUCT:
            queries, keys = _less(schedule.tile_queries), _less(schedule.tile_keys)
            schedule = replace(schedule, tile_queries=queries, tile_keys=keys)
        else:
            schedule = replace(schedule, threads=schedule.threads // 2)
    resident = min(_resident(spec, one) for one in _footprints(problem, schedule))
    return replace(schedule, min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, resident)))


def _footprints(problem: AttentionBackwardProblem, schedule: MmaSyncSchedule) -> tuple[Footprint, Footprint]:
    return schedule.footprint(problem), schedule.query_footprint(problem)


def _resident(spec: DeviceSpec, footprint: Footprint) -> int:
    registers = min(footprint.registers + _SPARE_REGISTERS, spec.registers_per_thread)
    return blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes)


def _less(rows: int) -> int:
    return TILES[max(0, TILES.index(rows) - 1)]


def candidates(problem: AttentionBackwardProblem, spec: DeviceSpec) -> Iterator[MmaSyncSchedule]:
    """Tiles that most devices have room for first."""
    together = heads_in_l2(problem, spec)
    for threads, rows, queries, keys in _TILES:
        for stages in _SPECS["stages"].values:
            wanted = MmaSyncSchedule(
                threads, rows, queries, keys, stages, vector_width=copied(problem), heads_together=together
            )
            yield fitted(problem, wanted, spec)


def checks(
    problem: AttentionBackwardProblem, schedule: MmaSyncSchedule
) -> list[tuple[AttentionBackwardProblem, MmaSyncSchedule]]:
    """See `small_problems`."""
    aligned, others = schedule.vector_width * problem.dtype.bytes, max(schedule.tile_queries, schedule.tile_keys)
    return [(one, schedule) for one in small_problems(problem, max(others, schedule.block_rows), others, aligned)]
