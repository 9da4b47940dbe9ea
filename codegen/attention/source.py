"""What sources of attention and of its gradients state alike."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.source.problem_struct import double_constants

from .fragments.ranges import EXTREMES_OF
from .packed import PackedProblem
from .problem import HeadProblem


def head_facts(problem: HeadProblem) -> dict[str, int | bool]:
    """What a source is specialised for in any case, besides the problem's kinds."""
    return {
        "value_dim": problem.value_elements,
        "bounded_left": problem.bounded_left,
        "bounded_right": problem.bounded_right,
        "segmented": problem.segmented,
        "scored": problem.scored,
        "masked": problem.masked,
        "ranged": problem.ranged,
        **({"extremes_of": EXTREMES_OF} if problem.ranged else {}),
    }


def head_lines(problem: HeadProblem) -> Mapping[str, str]:
    """Constants of ``struct Problem`` in double precision."""
    return double_constants({"usual_scale": problem.usual_scale, "flushed": problem.flushed})


def head_sizes(problem: HeadProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    counts = {
        name: getattr(problem, name) for name in ("queries", "keys", "heads", "all_heads", "group", "low", "high")
    }
    counts |= {f"{table.name}_count": table.size for table in problem.tables}
    if problem.segmented:
        counts["sequences"] = problem.batch
    stated = problem.layouts.values()
    strides = {name: step for one in stated for name, step in zip(one.fields, one.strides, strict=True)}
    kinds = {"int": counts, "long long": strides}
    return {name: (kind, value) for kind, values in kinds.items() for name, value in values.items()}


def head_words(problem: HeadProblem) -> list[str]:
    """The problems that an unspecialised source serves: equal sources say the same."""
    with_or_in = {
        "keys bounded on the left": problem.bounded_left,
        "keys bounded on the right": problem.bounded_right,
        "softcap": problem.softcap,
        "sinks": problem.sinks,
        "packed sequences": problem.segmented,
        "the first diagonal": problem.segmented and problem.top_left,
        "offsets of keys": isinstance(problem, PackedProblem) and problem.cross,
    }
    heads = f"heads of {problem.head_dim} and {problem.value_elements} {problem.dtype}"
    return [heads, *(name for name, there in with_or_in.items() if there)]
