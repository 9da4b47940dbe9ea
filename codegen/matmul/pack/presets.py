"""The ladder of pack kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import PackProblem
from .schedule import PackSchedule

_MOST_HELD = 16  # vectors of a thread


def vectorised(problem: PackProblem) -> PackSchedule:
    """A warp for each group, with the widest loads; weights are read again for their codes."""
    width = max(problem.vector_width("w"), problem.weights.packed)
    return PackSchedule(threads_per_group=WARP, vector_width=width)


def held(problem: PackProblem) -> PackSchedule:
    """As many threads for a group as keep all of its weights in registers, a few vectors each."""
    schedule = vectorised(problem)
    threads = 1 << (max(1, schedule.vectors(problem) // 4) - 1).bit_length()
    schedule = replace(schedule, threads_per_group=min(schedule.threads, threads))
    rounds = 1 << (schedule.rounds(problem) - 1).bit_length()
    return replace(schedule, loads_in_flight=min(_MOST_HELD, rounds))


def several_groups(problem: PackProblem) -> PackSchedule:
    """Two groups of a thread, whose loads are in flight together."""
    return replace(held(problem), groups_per_thread=2)


PRESETS: Mapping[str, Callable[[PackProblem], Program]] = {
    "naive": emit_naive,
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "held": lambda problem: emit(problem, held(problem)),
    "several_groups": lambda problem: emit(problem, several_groups(problem)),
}
