"""DropoutProblem and DropoutSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import DropoutProblem, Mask
from .schedule import DropoutSchedule

_NAIVE_THREADS = 256
_UINT_MAX = 2**32 - 1
_QUAD = 4  # elements with one counter


def emit(problem: DropoutProblem, schedule: DropoutSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    generic = schedule.specialize is Specialize.NONE  # of sizes that are known, compilers know these ranges
    index = "long long" if _wide(problem, schedule) else "unsigned" if generic else "int"
    offset, facts = "int" if generic and _near(problem, schedule) else "long long", _facts(problem, schedule)
    return _source(problem, offset).scheduled(
        schedule,
        facts=facts,
        types=[
            f"using Index = {index};  // the number of a vector",
            f"using Offset = {offset};  // of an element",
        ],
        served=problem.key if schedule.specialize is Specialize.SHAPE else _served(problem, facts),
    )


def emit_naive(problem: DropoutProblem) -> Program:
    """One thread for each element, or for each byte of a mask of bits: the reference on a device."""
    threads = ceil_div(problem.elements, 8 if problem.mask is Mask.BITS else 1)
    return _source(problem).plain("", threads, block=_NAIVE_THREADS)


def _source(problem: DropoutProblem, offset: str = "long long") -> KernelSource:
    sizes = ("rows", "columns", "ldx", "ldy", *(["ldr"] if problem.residual else []))
    return KernelSource(
        "dropout",
        "streaming/dropout",
        problem,
        types=using(Element=problem.dtype),
        facts={
            "half": problem.dtype is DType.FLOAT16,
            "stored_mask": problem.mask is not Mask.NONE,
            "packed_mask": problem.mask is Mask.BITS,
        },
        sizes={name: (offset, getattr(problem, name)) for name in sizes},
        scalars=[*problem.random_state.arguments, Argument("p", "double", probability=True)],
        served=f"one thread for each element, {_served(problem, {})}",
    )


def _facts(problem: DropoutProblem, schedule: DropoutSchedule) -> dict[str, int | str]:
    """Whether vectors end with rows, and otherwise whether rows end within them; whether some are partly there;
    whether they begin within quads; whether bias and mask are accessed in vectors."""
    width, by_rows, wraps = schedule.vector_width, schedule.by_rows(problem), schedule.wraps(problem)
    columns = problem.columns if by_rows else problem.elements
    straddles = by_rows and columns % min(width, _QUAD) != 0
    return {
        "by_rows": by_rows,
        "wraps": wraps,
        "ragged": columns % width != 0,
        "straddles": straddles,
        "bias_vectors": not wraps and problem.align_bias >= width * problem.dtype.bytes and columns % width == 0,
        "mask_vectors": problem.align_mask >= width and (not by_rows or columns % width == 0),
        "few_elements": problem.elements + schedule.tile * width <= _UINT_MAX,
    }


def _wide(problem: DropoutProblem, schedule: DropoutSchedule) -> bool:
    """Whether the number of a vector, of those behind the last one, too, may take more than 31 bits."""
    return schedule.vectors(problem) + schedule.tile > INT_MAX


def _near(problem: DropoutProblem, schedule: DropoutSchedule) -> bool:
    """Whether the number of each element, of those behind the last one, too, takes at most 31 bits."""
    rows = problem.rows + (schedule.tile if schedule.by_rows(problem) else 0)
    longest = (problem.columns, problem.ldx, problem.ldy, problem.ldr)
    return all(rows * length + schedule.tile * schedule.vector_width <= INT_MAX for length in longest)


def _served(problem: DropoutProblem, facts: dict[str, int | str]) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    parts = ("bias" * problem.bias, "residual" * problem.residual, "state" * problem.state)
    mask = "" if problem.mask is Mask.NONE else f"a mask of {problem.mask}"
    words = [word for word in (*parts, mask) if word]
    served = f"{problem.dtype}{' with ' if words else ''}{', '.join(words)}"
    where = "in rows" if facts.get("by_rows") else ""
    return ", ".join(filter(None, (served, where, "ragged" if facts.get("ragged") else "")))
