"""MergeSortProblem and its schedule → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Counting, Repeat, Step, Value
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.merging_source import merging_source
from autotune.codegen.sorting.passes import pass_arguments, sides, taking, with_spares
from autotune.codegen.sorting.tile_schedule import dividing, part_bytes
from autotune.codegen.sorting.values import Values
from autotune.codegen.source.kernel_source import Entry, KernelSource

from .problem import MergeSortProblem
from .schedule import MergeSortSchedule


def emit(problem: MergeSortProblem, schedule: MergeSortSchedule) -> Program:
    """A launch that sorts tiles, and one for each time that runs become twice as long."""
    levels, values = schedule.levels(problem.columns), problem.values
    tiles = schedule.blocks(problem)
    merging = Entry("merge_sort_merge", "merge_runs", tiles, schedule.footprint(problem))
    by_block = min(levels, schedule.block_levels)
    others = [merging] if levels else []
    others += [dividing("merge_sort_divide", tiles, schedule.part_lanes)] if by_block < levels else []
    program = source_of(problem).scheduled(schedule, "merge_sort", "sort_block", *others)
    sort, *merge = program.launches
    steps: list[Step] = [sort.taking(**taking(values, target=sides(levels)[:1]))]
    if by_block:
        turn = _turn(values, levels, 0)
        steps.append(Repeat(by_block, (merge[0].taking(parts=None, **turn),)))
    if by_block < levels:
        turn = _turn(values, levels, by_block)
        steps.append(Repeat(levels - by_block, tuple(launch.taking(**turn) for launch in reversed(merge))))
    program = replace(program, steps=tuple(steps))
    count = problem.rows * problem.columns
    return with_spares(program, problem.dtype, values, count, parts=part_bytes(tiles))


def _turn(values: Values, levels: int, first: int) -> dict[str, Value]:
    """What launches of merges take, from one of so many levels on."""
    left = levels - first
    return {"level": Counting(first, 1), **taking(values, source=sides(left), target=sides(left - 1))}


def source_of(problem: MergeSortProblem) -> KernelSource:
    """What all kernels have in common."""
    carried = f" with {problem.values}" * (problem.values.bytes > 0)
    served = f"{problem.dtype}{carried}{', descending' * problem.descending}"
    members = [*pass_arguments(problem.values), Argument("parts", "long long*")]
    one_row = {"one_row": problem.rows == 1}
    return merging_source(
        "merge_sort", problem, problem.dtype, problem.values, members, served=served, conditions=one_row
    )
