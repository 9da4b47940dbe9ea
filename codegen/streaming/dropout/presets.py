"""The ladder of dropout kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import DropoutProblem
from .schedule import DropoutSchedule


def quads(problem: DropoutProblem) -> DropoutSchedule:
    """The four words of a counter serve four elements."""
    return DropoutSchedule(vector_width=min(4, problem.widest), items=1)


def vectorised(problem: DropoutProblem) -> DropoutSchedule:
    """The widest accesses."""
    return replace(quads(problem), vector_width=min(8, problem.widest))


def unrolled(problem: DropoutProblem) -> DropoutSchedule:
    """Four loads of a thread in flight."""
    return replace(vectorised(problem), items=4)


PRESETS: Mapping[str, Callable[[DropoutProblem], Program]] = {
    "naive": emit_naive,
    "quads": lambda problem: emit(problem, quads(problem)),
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "unrolled": lambda problem: emit(problem, unrolled(problem)),
}
