"""MergeProblem and its schedule → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.merging_source import merging_source
from autotune.codegen.sorting.tile_schedule import dividing, part_bytes
from autotune.codegen.source.kernel_source import KernelSource

from .problem import MergeProblem
from .schedule import MergeSchedule, Partition


def emit(problem: MergeProblem, schedule: MergeSchedule) -> Program:
    """A launch of a block for each tile, and one ahead that finds the parts of tiles, if blocks do not."""
    tiles = schedule.blocks(problem)
    ahead = [dividing("merge_divide", tiles, schedule.part_lanes)] if schedule.partition is Partition.AHEAD else []
    program = source_of(problem).scheduled(schedule, "merge", "merge_block", *ahead)
    merge, *divide = program.launches
    if not divide:
        return replace(program, steps=(merge.taking(parts=None),))
    return replace(program, steps=(*divide, merge)).in_workspace(parts=part_bytes(tiles))


def source_of(problem: MergeProblem) -> KernelSource:
    """What all kernels have in common."""
    return merging_source("merge", problem, problem.dtype, problem.values, [Argument("parts", "long long*")])
