"""What the programs of all kernels of attention have in common, and those of kernels without a schedule."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using
from autotune.codegen.source.problem_struct import double_constants

from .problem import AttentionProblem

_NAIVE_THREADS = 128
_MOST_REFERENCE_BLOCKS = 1 << 16  # each takes one row after the other


def source_of(problem: AttentionProblem) -> KernelSource:
    """The problem as its kernels see it."""
    return KernelSource(
        "attention",
        "attention/attention",
        problem,
        types=using(Element=problem.dtype),
        facts={
            "value_dim": problem.value_elements,
            "bounded_left": problem.bounded_left,
            "bounded_right": problem.bounded_right,
        },
        lines=double_constants({"usual_scale": problem.usual_scale, "flushed": problem.flushed}),
        sizes=_sizes(problem),
        workspace=True,
        scaled=("o",),
        served=_served(problem),
    )


def stored_vector(problem: AttentionProblem) -> int:
    """Elements of a store that heads of o are aligned for, and are whole ones."""
    return widest_divisor(problem.layouts["o"].vector_width, problem.value_elements)


def emit_naive(problem: AttentionProblem) -> Program:
    """A block for each row, which computes its scores twice."""
    return _naive(problem, "float", problem.rows)


def emit_reference(problem: AttentionProblem) -> Program:
    """The same in double precision for rows that are listed: the truth that others are compared with on a device."""
    return _naive(problem, "double", min(problem.rows, _MOST_REFERENCE_BLOCKS), reference=True)


def _naive(problem: AttentionProblem, number: str, blocks: int, *, reference: bool = False) -> Program:
    size = (DType.FLOAT64 if reference else DType.FLOAT32).bytes
    return source_of(problem).plain(
        f", a block for each row, in {number}",
        blocks * _NAIVE_THREADS,
        f"attention_naive<{_NAIVE_THREADS}, {number}>(arguments);",
        block=_NAIVE_THREADS,
        shared_bytes=size * (_NAIVE_THREADS + _NAIVE_THREADS // WARP),
        reference=reference,
    )


def _sizes(problem: AttentionProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    counts = {
        name: getattr(problem, name) for name in ("queries", "keys", "heads", "all_heads", "group", "low", "high")
    }
    stated = problem.layouts.values()
    strides = {name: step for one in stated for name, step in zip(one.fields, one.strides, strict=True)}
    kinds = {"int": counts, "long long": strides}
    return {name: (kind, value) for kind, values in kinds.items() for name, value in values.items()}


def _served(problem: AttentionProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    with_or_in = {
        "keys bounded on the left": problem.bounded_left,
        "keys bounded on the right": problem.bounded_right,
        "softcap": problem.softcap,
        "sinks": problem.sinks,
        "lse": problem.lse,
    }
    heads = f"heads of {problem.head_dim} and {problem.value_elements} {problem.dtype}"
    return ", ".join([heads, *(name for name, there in with_or_in.items() if there)])
