"""attention by fused multiply-adds: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.fields import field_specs
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm

_SPECS = field_specs(FlashSchedule)


def constraints(problem: AttentionProblem, schedule: FlashSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned loads"


def space(problem: AttentionProblem, spec: DeviceSpec) -> Space[FlashSchedule]:
    """All fields are drawn; blocks get smaller, and fewer on an SM, until there is room for them."""
    widths = tuple(width for width in _SPECS["vector_width"].values if width <= problem.widest)
    parameters = field_parameters(FlashSchedule, vector_width=widths)

    def build(draw: Draw) -> FlashSchedule:
        return _fitted(problem, FlashSchedule.from_dict(draw), spec)

    return Space(parameters, build)


def _fitted(problem: AttentionProblem, schedule: FlashSchedule, spec: DeviceSpec) -> FlashSchedule:
    while schedule.footprint(problem).shared_bytes > spec.shared_per_block:
        if schedule.tile_keys > _SPECS["tile_keys"].values[0]:
            schedule = replace(schedule, tile_keys=schedule.tile_keys // 2)
        elif schedule.rows_per_warp > 1:
            schedule = replace(schedule, rows_per_warp=schedule.rows_per_warp // 2)
        else:
            schedule = replace(schedule, threads=schedule.threads // 2)
    footprint = schedule.footprint(problem)
    resident = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    return replace(
        schedule, min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, 1 << (resident | 1).bit_length() - 1))
    )


def candidates(problem: AttentionProblem, spec: DeviceSpec) -> Iterator[FlashSchedule]:
    """The widest loads; as many queries of a block as leave every SM one."""
    usual = FlashSchedule(vector_width=problem.widest)
    for threads, rows in ((256, 8), (128, 8), (256, 4), (128, 4), (128, 2), (128, 1), (64, 1)):
        for keys in (64, 32):
            fitted = _fitted(problem, replace(usual, threads=threads, rows_per_warp=rows, tile_keys=keys), spec)
            if fitted.blocks(problem) >= spec.sm_count or rows == 1:
                yield fitted


def checks(problem: AttentionProblem, schedule: FlashSchedule) -> list[tuple[AttentionProblem, FlashSchedule]]:
    """See `small_problems`."""
    aligned = schedule.vector_width * problem.dtype.bytes
    return [(one, schedule) for one in small_problems(problem, schedule.block_rows, schedule.tile_keys, aligned)]
