"""merge_sort: schedules that are tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.merge_sort.schedule import MergeSortSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.sorting.tile_shapes import MANY, tile_shapes

_THREADS, _MOST_ITEMS = (64, 128, 256), 17  # of blocks that have a row each


def candidates(problem: MergeSortProblem, spec: DeviceSpec) -> Iterator[MergeSortSchedule]:
    """The smallest tile that has a short row; and of longer ones, launches ahead find the parts of many tiles."""
    keys = problem.rows * problem.columns
    for threads in _THREADS:
        items = max(5, ceil_div(problem.columns, threads)) | 1
        if items <= _MOST_ITEMS:
            yield MergeSortSchedule(threads, items)
    levels = 0 if keys >= MANY else MergeSortSchedule().block_levels
    for threads, items, blocks in tile_shapes(problem.dtype, problem.values, keys):
        yield MergeSortSchedule(threads, items, blocks, block_levels=levels)
