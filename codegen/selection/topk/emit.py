"""TopkProblem and a schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program
from autotune.codegen.selection.vectors import skewed
from autotune.codegen.source.kernel_source import KernelSource, using

from .cluster.schedule import ClusterSchedule
from .problem import TopkProblem
from .stream.schedule import ENTRY_BYTES, StreamSchedule
from .warps.schedule import WarpsSchedule

_THREADS = 256  # of a block of the plain kernel


def emit(problem: TopkProblem, schedule: StreamSchedule | WarpsSchedule | ClusterSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    kernel = schedule.kernel
    return _source(problem).scheduled(
        schedule,
        f"{kernel}/{kernel}",
        f"topk_{kernel}",
        facts={"skewed": skewed(problem, schedule.vector_width)},
        workspace_bytes=schedule.workspace_bytes(problem) if isinstance(schedule, StreamSchedule) else 0,
    )


def emit_naive(problem: TopkProblem) -> Program:
    """A block for each row, and a round through it for each result."""
    call, shared = f"topk_naive<{_THREADS}>(arguments);", _THREADS // WARP * ENTRY_BYTES
    threads = problem.rows * _THREADS
    how = ", a round through the row for each result"
    return _source(problem).plain(how, threads, call, block=_THREADS, shared_bytes=shared)


def _source(problem: TopkProblem) -> KernelSource:
    return KernelSource(
        "topk",
        "selection/topk",
        problem,
        types=using(Element=problem.dtype),
        facts={"element_bits": problem.dtype.bits},
        conditions={"short_edges": False},
        workspace=True,
    )
