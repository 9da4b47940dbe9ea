"""MergeProblem and its schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.sorting.merging_source import merging_source
from autotune.codegen.source.kernel_source import KernelSource

from .problem import MergeProblem
from .schedule import MergeSchedule


def emit(problem: MergeProblem, schedule: MergeSchedule) -> Program:
    """A launch of a block for each tile."""
    return source_of(problem).scheduled(schedule)


def source_of(problem: MergeProblem) -> KernelSource:
    """What all kernels have in common."""
    return merging_source("merge", problem, problem.dtype, problem.values)
