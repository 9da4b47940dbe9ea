"""DropoutProblem and DropoutSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import DropoutProblem, Mask
from .schedule import DropoutSchedule

ENTRY = "dropout"
_NAIVE_THREADS = 256
_UINT_MAX = 2**32 - 1
_QUAD = 4  # elements with one counter


def emit(problem: DropoutProblem, schedule: DropoutSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = arguments(problem), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = _facts(problem, schedule)
    body = used_source(
        "streaming/dropout/dropout.cuh", "dropout_block", _conditions(problem) | facts | schedule.constants
    )
    index = "long long" if _wide(problem, schedule) else "int"
    types = [f"using Element = {problem.dtype.cuda};", f"using Index = {index};  // the number of a vector"]
    what = problem.key if schedule.specialize is Specialize.SHAPE else _served(problem, facts)
    declared = problem_struct(types, facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, "dropout_block(arguments);")
    source = scheduled_source(f"{ENTRY}: {what}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,))


def emit_naive(problem: DropoutProblem) -> Program:
    """One thread for each element, or for each byte of a mask of bits: the reference on a device."""
    members, known = arguments(problem), _conditions(problem)
    facts = {"packed_mask": problem.mask is Mask.BITS}
    body = used_source("streaming/dropout/naive.cuh", "dropout_naive", known)
    types = [f"using Element = {problem.dtype.cuda};"]
    per_thread = 8 if problem.mask is Mask.BITS else 1
    grid = ceil_div(problem.elements, _NAIVE_THREADS * per_thread)
    launch = Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: one thread for each element, {_served(problem, {})}"
    return plain_program(title, members, declared, body, {launch: "dropout_naive(arguments);"})


def arguments(problem: DropoutProblem) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    return (
        *pointer_arguments(problem.tensors),
        *size_arguments(_sizes(problem)),
        *problem.random_state.arguments,
        Argument("p", "double", probability=True),
    )


def _sizes(problem: DropoutProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    names = ("rows", "columns", "ldx", "ldy", *(["ldr"] if problem.residual else []))
    return {name: ("long long", getattr(problem, name)) for name in names}


def _conditions(problem: DropoutProblem) -> dict[str, int | str]:
    """What conditions in headers name beside facts and the schedule."""
    return {
        "bias": problem.bias,
        "residual": problem.residual,
        "state": problem.state,
        "half": problem.dtype is DType.FLOAT16,
        "stored_mask": problem.mask is not Mask.NONE,
    }


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
        "packed_mask": problem.mask is Mask.BITS,
        "few_elements": problem.elements + schedule.tile * width <= _UINT_MAX,
    }


def _wide(problem: DropoutProblem, schedule: DropoutSchedule) -> bool:
    """Whether the number of a vector, of those behind the last one, too, may take more than 31 bits."""
    return schedule.vectors(problem) + schedule.tile > INT_MAX


def _served(problem: DropoutProblem, facts: dict[str, int | str]) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    parts = ("bias" * problem.bias, "residual" * problem.residual, "state" * problem.state)
    mask = "" if problem.mask is Mask.NONE else f"a mask of {problem.mask}"
    words = [word for word in (*parts, mask) if word]
    served = f"{problem.dtype}{' with ' if words else ''}{', '.join(words)}"
    where = "in rows" if facts.get("by_rows") else ""
    return ", ".join(filter(None, (served, where, "ragged" if facts.get("ragged") else "")))
