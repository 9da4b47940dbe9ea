"""attention by the tensor cores of warps: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention.mma_sync.schedule import KEYS, PRODUCT, MmaSyncSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.attention.tiles import heads_in_l2, too_many_splits, useful_splits, usual_splits
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm

_SPECS = field_specs(MmaSyncSchedule)
_LEAST_WARPS = _SPECS["threads"].values[0] // WARP
# Threads, queries of a warp and keys of a tile that are tried first.
_TILES = ((256, 16, 64), (128, 32, 64), (128, 16, 64), (128, 32, 32), (128, 16, 128), (64, 16, 64))
_SPARE_REGISTERS = 16  # beyond the footprint, with which ptxas spills little


def constraints(problem: AttentionProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned copies"
    yield from too_many_splits(problem, schedule.splits)


def applies(problem: AttentionProblem, spec: DeviceSpec) -> bool:
    """Whether there is anything to compute."""
    return problem.rows > 0


def space(problem: AttentionProblem, spec: DeviceSpec) -> Space[MmaSyncSchedule]:
    """All fields are drawn, as upper bounds: a schedule gets as much as there is room for."""
    widths = tuple(width for width in _SPECS["vector_width"].values if width <= problem.widest)
    heads = tuple(count for count in _SPECS["heads_together"].values if count < 2 * problem.all_heads)
    splits = useful_splits(problem, _SPECS["warp_rows"].values[0] * _LEAST_WARPS, spec)
    parameters = field_parameters(MmaSyncSchedule, vector_width=widths, heads_together=heads, splits=splits)

    def build(draw: Draw) -> MmaSyncSchedule:
        return fitted(problem, MmaSyncSchedule.from_dict(draw), spec)

    return Space(parameters, build)


def fitted(problem: AttentionProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> MmaSyncSchedule:
    """The schedule with fewer stages, keys and queries, until there are registers and shared memory for them."""
    while schedule.footprint(problem).registers + _SPARE_REGISTERS > spec.registers_per_thread:
        if schedule.tile_keys > 2 * PRODUCT:
            schedule = replace(schedule, tile_keys=_less(schedule.tile_keys))
        elif schedule.warp_rows > PRODUCT:
            schedule = replace(schedule, warp_rows=PRODUCT)
        elif schedule.queries_in_registers:
            schedule = replace(schedule, queries_in_registers=False)
        else:
            break
    while schedule.shared_bytes(problem) > spec.shared_per_block:
        if schedule.stages > _SPECS["stages"].values[0]:
            schedule = replace(schedule, stages=schedule.stages - 1)
        elif schedule.tile_keys > PRODUCT:
            schedule = replace(schedule, tile_keys=_less(schedule.tile_keys))
        else:
            schedule = replace(schedule, threads=schedule.threads // 2)
    footprint = schedule.footprint(problem)
    registers = min(footprint.registers + _SPARE_REGISTERS, spec.registers_per_thread)
    resident = blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes)
    return replace(schedule, min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, resident)))


def _less(keys: int) -> int:
    return KEYS[KEYS.index(keys) - 1]


def candidates(problem: AttentionProblem, spec: DeviceSpec) -> Iterator[MmaSyncSchedule]:
    """Tiles of as many queries as FlashAttention-2 has first, smaller ones if these are few."""
    usual = MmaSyncSchedule(vector_width=problem.widest, heads_together=heads_in_l2(problem, spec))
    splits = usual_splits(problem, usual.block_rows, spec)
    if splits > 1:
        yield fitted(problem, replace(usual, splits=splits), spec)
        yield fitted(problem, replace(usual, splits=splits, threads=64), spec)
    for threads, rows, keys in (
        (128, 32, 64),
        (256, 16, 64),
        (128, 16, 64),
        (128, 32, 32),
        (128, 16, 128),
        (64, 16, 64),
    ):
        for kept in (True, False):
            wanted = replace(usual, threads=threads, warp_rows=rows, tile_keys=keys, queries_in_registers=kept)
            yield fitted(problem, wanted, spec)
    yield fitted(problem, replace(usual, stages=3), spec)
    yield fitted(problem, replace(usual, min_blocks_per_sm=2), spec)


def checks(problem: AttentionProblem, schedule: MmaSyncSchedule) -> list[tuple[AttentionProblem, MmaSyncSchedule]]:
    """See `small_problems`."""
    aligned = schedule.vector_width * problem.dtype.bytes
    return [(one, schedule) for one in small_problems(problem, schedule.block_rows, schedule.tile_keys, aligned)]
