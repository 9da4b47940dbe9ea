"""The ladder of causal_conv1d kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import CausalConv1dProblem
from .schedule import CausalConv1dSchedule


def widest(problem: CausalConv1dProblem) -> int:
    """Elements of the widest access that X and Y are aligned for.

    Steps of a channel may begin within a vector, as far behind it in both. Channels are whole vectors.
    """
    if problem.channels_last:
        return widest_divisor(min(problem.vector_width(operand) for operand in "xy"), problem.channels)
    aligned = min(problem.align_x, problem.align_y) // problem.dtype.bytes
    return widest_divisor(aligned, problem.ldx - problem.ldy, problem.stride_x - problem.stride_y)


def _vectors(problem: CausalConv1dProblem) -> Program:
    """Vectors of half the width of an access, which leave registers to long filters."""
    vector = min(widest(problem), 4 if problem.width <= 8 else 1)
    return emit(problem, CausalConv1dSchedule(vector=vector, loads=1, rounds=4))


PRESETS: Mapping[str, Callable[[CausalConv1dProblem], Program]] = {"naive": emit_naive, "vectors": _vectors}
