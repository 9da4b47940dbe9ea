"""SegmentedSortProblem and its schedule → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Counting, Repeat, Step
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.merging_source import merging_source
from autotune.codegen.sorting.passes import pass_arguments, taking, with_spares
from autotune.codegen.source.kernel_source import Entry, KernelSource, using

from .problem import SegmentedSortProblem
from .schedule import SegmentedSortSchedule

_FIRST_BYTES = 8  # of the number of the segment at a tile's first key
_THREADS = 128  # of a block that finds segments


def emit(problem: SegmentedSortProblem, schedule: SegmentedSortSchedule) -> Program:
    """Launches that find and sort the segments of tiles, and one for each time that runs become twice as long."""
    levels, tiles, values = schedule.levels(problem.columns), schedule.blocks(problem), problem.values
    finding = Entry("segmented_sort_find", "find_segments", ceil_div(tiles, _THREADS), Footprint(_THREADS))
    merging_blocks = ceil_div(tiles, schedule.tiles_per_block)
    merging = Entry("segmented_sort_merge", "merge_segments", merging_blocks, schedule.footprint(problem))
    others = (finding, *([merging] if levels else []))
    program = source_of(problem).scheduled(schedule, "segmented_sort", "sort_segments", *others)
    sort, find, *merge = program.launches
    steps: list[Step] = [find, sort.taking(**taking(values, target=["spare" if levels else "none"]))]
    turns = taking(values, source=["spare", "other"], target=["other", "spare"])
    steps += [Repeat(levels, (launch.taking(level=Counting(0, 1), **turns),)) for launch in merge]
    program = replace(program, steps=tuple(steps))
    return with_spares(program, problem.dtype, values, problem.columns, firsts=_FIRST_BYTES * tiles)


def source_of(problem: SegmentedSortProblem) -> KernelSource:
    """What all kernels have in common."""
    return merging_source(
        "segmented_sort",
        problem,
        problem.dtype,
        problem.values,
        [*pass_arguments(problem.values), Argument("firsts", "long long*")],
        using(Offset=problem.offset_dtype),
    )
