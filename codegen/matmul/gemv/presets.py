"""The ladder of gemv kernels, each rung one idea above the last (after Wang, Fast GEMV, 2023)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .fma.schedule import FmaSchedule
from .problem import GemvProblem, WeightOrder
from .schedule import WeightLoads

_BLOCKS = 1024  # that a split is for, a few for each SM of a large device


def coalesced(problem: GemvProblem) -> FmaSchedule:
    """Neighbouring threads read neighbouring elements of W: a warp for each output, or 32 outputs for each warp."""
    return FmaSchedule(threads=128, threads_per_output=32 if problem.order is WeightOrder.NK else 4)


def vectorised(problem: GemvProblem) -> FmaSchedule:
    """The widest loads."""
    return replace(coalesced(problem), vector_width=problem.vector_width("w"))


def unrolled(problem: GemvProblem) -> FmaSchedule:
    """Four loads of a thread in flight."""
    return replace(vectorised(problem), loads_in_flight=4)


def strips(problem: GemvProblem) -> FmaSchedule:
    """As many, of two strips, which share their elements of x."""
    return replace(unrolled(problem), strips=2, loads_in_flight=2, weight_loads=WeightLoads.NO_ALLOCATE)


def split(problem: GemvProblem) -> FmaSchedule:
    """Outputs shared by as many blocks as fill a device."""
    schedule = strips(problem)
    splits = min(_BLOCKS // max(1, schedule.groups(problem)), schedule.steps(problem), 32)
    return replace(schedule, splits=max(1, splits))


PRESETS: Mapping[str, Callable[[GemvProblem], Program]] = {
    "naive": emit_naive,
    "coalesced": lambda problem: emit(problem, coalesced(problem)),
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "unrolled": lambda problem: emit(problem, unrolled(problem)),
    "strips": lambda problem: emit(problem, strips(problem)),
    "split": lambda problem: emit(problem, split(problem)),
}
