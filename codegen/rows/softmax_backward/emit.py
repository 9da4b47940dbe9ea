"""SoftmaxBackwardProblem and SoftmaxBackwardSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import double_constants, problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import SoftmaxBackwardProblem
from .schedule import SoftmaxBackwardSchedule

ENTRY = "softmax_backward"
_NAIVE_THREADS = 128


def emit(problem: SoftmaxBackwardProblem, schedule: SoftmaxBackwardSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = _arguments(problem), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, blocks(problem, schedule))
    facts = _facts(problem) | vector_facts(problem, schedule)
    body = used_source(
        "rows/softmax_backward/softmax_backward.cuh", "softmax_backward_block", schedule.constants | facts
    )
    declared = problem_struct(_types(problem), facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, "softmax_backward_block(arguments);")
    title = f"{ENTRY}: {served(problem, schedule, _rows(problem))}"
    source = scheduled_source(title, schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,))


def blocks(problem: SoftmaxBackwardProblem, schedule: SoftmaxBackwardSchedule) -> int:
    """Blocks of the grid; none if there is nothing to write."""
    return schedule.blocks(problem.rows) if problem.columns else 0


def emit_naive(problem: SoftmaxBackwardProblem) -> Program:
    """A thread for each row."""
    return _naive(problem, 1, reference=False)


def emit_reference(problem: SoftmaxBackwardProblem) -> Program:
    """A warp for each row, in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, WARP, reference=True)


def _naive(problem: SoftmaxBackwardProblem, lanes: int, reference: bool) -> Program:
    number = "double" if reference else "float"
    members, facts = _arguments(problem, reference), _facts(problem) | {"reference": reference}
    body = used_source("rows/softmax_backward/naive.cuh", "softmax_backward_naive", facts)
    types = _types(problem) + double_constants({"error_weight": problem.error_weight}, body)
    grid = ceil_div(problem.rows * lanes, _NAIVE_THREADS) if problem.columns else 0
    launch = Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: {_rows(problem)} in {number}, {lanes} threads per row"
    return plain_program(
        title, members, declared, body, {launch: f"softmax_backward_naive<{lanes}, {number}>(arguments);"}
    )


def _types(problem: SoftmaxBackwardProblem) -> list[str]:
    return [f"using Element = {problem.dtype.cuda};"]


def _sizes(problem: SoftmaxBackwardProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    kinds = {"rows": "long long", "columns": "int", "ldx": "long long", "ldd": "long long"}
    return {name: (kind, getattr(problem, name)) for name, kind in kinds.items()}


def _arguments(problem: SoftmaxBackwardProblem, reference: bool = False) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; that of `reference` states errors."""
    wide = ["dx"] if reference else []
    pointers = pointer_arguments(problem.tensors, wide, wide)
    return (*pointers, *size_arguments(_sizes(problem)), Argument("scale", "float"))


def _facts(problem: SoftmaxBackwardProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {"logarithm": problem.log}


def _rows(problem: SoftmaxBackwardProblem) -> str:
    """What an unspecialised source computes."""
    return f"gradient of {'log_' if problem.log else ''}softmax of rows of {problem.dtype}"
