"""merge_sort: schedules that are tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.merge_sort.schedule import MergeSortSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.sorting.tile_shapes import MANY, tile_shapes

_FIRST_LEVELS = 5  # whose runs are so short that blocks find their parts at once


def candidates(problem: MergeSortProblem, spec: DeviceSpec) -> Iterator[MergeSortSchedule]:
    """Launches ahead find the parts of tiles of long runs."""
    every = MergeSortSchedule().block_levels
    for levels in (_FIRST_LEVELS, every) if problem.rows * problem.columns >= MANY else (every,):
        for threads, items, blocks in tile_shapes(problem.dtype, problem.values):
            yield MergeSortSchedule(threads, items, blocks, block_levels=levels)
