"""FilterTokensProblem and its schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program
from autotune.codegen.selection.sampling.schedule import MASS_BYTES, SamplingSchedule
from autotune.codegen.selection.vectors import skewed
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import FilterTokensProblem

_THREADS = 256  # of a block of the plain kernel


def emit(problem: FilterTokensProblem, schedule: SamplingSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(schedule, facts={"skewed": skewed(problem, schedule.vector_width)})


def emit_naive(problem: FilterTokensProblem) -> Program:
    """A block for each row, and sums over the row in turn."""
    call, shared = f"filter_naive<{_THREADS}>(arguments);", _THREADS // WARP * MASS_BYTES
    how, threads = ", by sums over the row in turn", problem.rows * _THREADS
    return _source(problem).plain(how, threads, call, block=_THREADS, shared_bytes=shared)


def _source(problem: FilterTokensProblem) -> KernelSource:
    return KernelSource(
        "filter_tokens",
        "selection/filter_tokens",
        problem,
        types=using(Element=problem.dtype, Output=problem.result_dtype),
        facts={"element_bits": problem.dtype.bits, "largest": True, "lengths": False},
        conditions={"short_edges": True},  # a row is gone through in many places
    )
