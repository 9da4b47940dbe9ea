"""merge: schedules that are tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.codegen.sorting.merge.schedule import MergeSchedule, Partition
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.sorting.tile_shapes import MANY, tile_shapes


def candidates(problem: MergeProblem, spec: DeviceSpec) -> Iterator[MergeSchedule]:
    """A launch ahead finds the parts of many tiles."""
    partition = Partition.AHEAD if problem.columns >= MANY else Partition.BLOCK
    for threads, items, blocks in tile_shapes(problem.dtype, problem.values, problem.columns):
        yield MergeSchedule(threads, items, blocks, partition=partition)
    yield MergeSchedule(partition=Partition.AHEAD, part_lanes=8)
    yield MergeSchedule()
