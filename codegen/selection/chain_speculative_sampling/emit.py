"""ChainSpeculativeSamplingProblem and its schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource

from .problem import ChainSpeculativeSamplingProblem
from .schedule import ChainSpeculativeSamplingSchedule


def emit(problem: ChainSpeculativeSamplingProblem, schedule: ChainSpeculativeSamplingSchedule) -> Program:
    """The source of a schedule."""
    return _source(problem).scheduled(schedule, function="speculate_block")


def emit_naive(problem: ChainSpeculativeSamplingProblem) -> Program:
    """A thread for each row."""
    return _source(problem).plain(", a thread for each row", problem.rows, "speculate_row(arguments);")


def _source(problem: ChainSpeculativeSamplingProblem) -> KernelSource:
    return KernelSource(
        "chain_speculative_sampling",
        "selection/chain_speculative_sampling",
        problem,
        scalars=problem.random_state.arguments,
    )
