"""SoftmaxBackwardProblem and SoftmaxBackwardSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.rows.programs import row_naive
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.kernel_source import KernelSource, using
from autotune.codegen.source.problem_struct import double_constants

from .problem import SoftmaxBackwardProblem
from .schedule import SoftmaxBackwardSchedule


def emit(problem: SoftmaxBackwardProblem, schedule: SoftmaxBackwardSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    source = _source(problem)
    rows = served(problem, schedule, source.served)
    return source.scheduled(schedule, facts=vector_facts(problem, schedule), served=rows)


def emit_naive(problem: SoftmaxBackwardProblem, *, reference: bool = False) -> Program:
    """See `row_naive`."""
    return row_naive(_source(problem), reference=reference)


def emit_reference(problem: SoftmaxBackwardProblem) -> Program:
    """See `row_naive`."""
    return emit_naive(problem, reference=True)


def _source(problem: SoftmaxBackwardProblem) -> KernelSource:
    return KernelSource(
        "softmax_backward",
        "rows/softmax_backward",
        problem,
        types=using(Element=problem.dtype),
        facts={"logarithm": problem.log},
        lines=double_constants({"error_weight": problem.error_weight}),
        scaled=("dx",),
        served=f"gradient of {'log_' if problem.log else ''}softmax of rows of {problem.dtype}",
    )
