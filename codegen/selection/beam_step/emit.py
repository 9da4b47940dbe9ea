"""BeamStepProblem and its schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program
from autotune.codegen.selection.topk.stream.schedule import ENTRY_BYTES
from autotune.codegen.selection.vectors import skewed
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import BeamStepProblem
from .schedule import BeamStepSchedule

_THREADS = 256  # of a block of the plain kernel


def emit(problem: BeamStepProblem, schedule: BeamStepSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {"skewed": skewed(problem, schedule.vector_width)}
    return _source(problem).scheduled(schedule, facts=facts, workspace_bytes=schedule.workspace_bytes(problem))


def emit_naive(problem: BeamStepProblem) -> Program:
    """A block for each request, and a round through its beams for each continuation."""
    call, shared = f"beam_step_naive<{_THREADS}>(arguments);", _THREADS // WARP * ENTRY_BYTES
    how, threads = ", a round through the beams for each continuation", problem.requests * _THREADS
    return _source(problem).plain(how, threads, call, block=_THREADS, shared_bytes=shared)


def _source(problem: BeamStepProblem) -> KernelSource:
    return KernelSource(
        "beam_step",
        "selection/beam_step",
        problem,
        types=using(Element=problem.dtype),
        facts={"element_bits": problem.dtype.bits, "largest": True, "lengths": False},
        conditions={"short_edges": False},
        workspace=True,
        served="any beams",
    )
