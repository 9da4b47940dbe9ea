"""The ladder of rope kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import RopeProblem
from .schedule import RopeSchedule

_WIDEST = 8


def units(problem: RopeProblem) -> RopeSchedule:
    """The widest accesses, in blocks that hold a head."""
    schedule = RopeSchedule(vector_width=min(_WIDEST, problem.widest))
    of_head = 1 << (schedule.units(problem) - 1).bit_length()
    return replace(schedule, threads=max(schedule.threads, of_head))


def several_heads(problem: RopeProblem) -> RopeSchedule:
    """Four heads of a thread share sines and cosines."""
    return replace(units(problem), heads_per_thread=4)


PRESETS: Mapping[str, Callable[[RopeProblem], Program]] = {
    "naive": emit_naive,
    "vectorised": lambda problem: emit(problem, units(problem)),
    "several_heads": lambda problem: emit(problem, several_heads(problem)),
}
