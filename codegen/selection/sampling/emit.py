"""SamplingProblem and SamplingSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program
from autotune.codegen.selection.vectors import skewed
from autotune.codegen.source.kernel_source import KernelSource, using

from .cluster.schedule import ClusterSchedule
from .problem import SamplingProblem
from .schedule import MASS_BYTES, SamplingSchedule

_THREADS = 256  # of a block of the plain kernel


def emit(problem: SamplingProblem, schedule: SamplingSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    file, function = ("cluster/cluster", "cluster") if isinstance(schedule, ClusterSchedule) else ("blocks", "blocks")
    facts = {"skewed": skewed(problem, schedule.vector_width)}
    return _source(problem).scheduled(schedule, file, f"sampling_{function}", facts=facts)


def emit_naive(problem: SamplingProblem) -> Program:
    """A block for each row, and sums over the row in turn."""
    call, shared = f"sampling_naive<{_THREADS}>(arguments);", _THREADS // WARP * MASS_BYTES
    how, threads = ", by sums over the row in turn", problem.rows * _THREADS
    return _source(problem).plain(how, threads, call, block=_THREADS, shared_bytes=shared)


def _source(problem: SamplingProblem) -> KernelSource:
    return KernelSource(
        "sampling",
        "selection/sampling",
        problem,
        types=using(Element=problem.dtype),
        facts={"element_bits": problem.dtype.bits, "largest": True, "lengths": False},
        conditions={"short_edges": False},
        scalars=problem.random_state.arguments,
    )
