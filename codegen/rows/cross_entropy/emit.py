"""A LogitsProblem and its schedule → Program."""

from __future__ import annotations

from collections.abc import Collection

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import Role
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import double_constants, problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .logits_problem import LEAST, LogitsProblem
from .problem import CrossEntropyProblem
from .schedule import CrossEntropyBackwardSchedule, CrossEntropySchedule

_NAIVE_THREADS = 128


def emit(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, entry = _arguments(problem), name_of(problem)
    footprint = schedule.footprint(problem)
    launch = footprint.launch(entry, schedule.blocks(problem.rows))
    facts = _facts(problem) | vector_facts(problem, schedule)
    if isinstance(schedule, CrossEntropySchedule):
        facts |= {"bulk": schedule.bulk}
    else:
        facts |= {"early": False}
    file = "backward" if problem.lse_given else "cross_entropy"
    body = used_source(f"rows/cross_entropy/{file}.cuh", f"{entry}_block", schedule.constants | facts)
    declared = problem_struct(_types(problem), facts, _sizes(problem), schedule.specialize, body)
    title = f"{entry}: {served(problem, schedule, _rows(problem))}"
    kernel = footprint.entry(entry, f"{entry}_block(arguments);")
    source = scheduled_source(title, schedule, launch, members, declared, body, kernel)
    return Program(source, members, (launch,))


def emit_naive(problem: LogitsProblem) -> Program:
    """A thread for each row."""
    return _naive(problem, 1, reference=False)


def emit_reference(problem: LogitsProblem) -> Program:
    """A warp for each row, in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, 32, reference=True)


def name_of(problem: LogitsProblem) -> str:
    """The operator's, and its kernels'."""
    return "cross_entropy_backward" if problem.lse_given else "cross_entropy"


def _naive(problem: LogitsProblem, lanes: int, reference: bool) -> Program:
    number = "double" if reference else "float"
    written = [tensor.name for tensor in problem.tensors if tensor.role is Role.OUTPUT]
    members, entry = _arguments(problem, written if reference else ()), name_of(problem)
    facts = _facts(problem) | {"reference": reference}
    body = used_source("rows/cross_entropy/naive.cuh", "cross_entropy_naive", facts)
    numbers = {
        "sums_weight": problem.error_weight(DType.FLOAT32),
        "gradient_weight": problem.error_weight(problem.dtype),
        "least": LEAST,
    }
    types = _types(problem) + double_constants(numbers, body)
    grid = ceil_div(problem.rows * lanes, _NAIVE_THREADS)
    launch = Launch(entry, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    title = f"{entry}: {_rows(problem)} in {number}, {lanes} threads per row"
    return plain_program(
        title, members, declared, body, {launch: f"cross_entropy_naive<{lanes}, {number}>(arguments);"}
    )


def _types(problem: LogitsProblem) -> list[str]:
    return [f"using Element = {problem.dtype.cuda};"]


def _sizes(problem: LogitsProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    kinds = {"rows": "long long", "columns": "int", "ldx": "long long"}
    kinds |= {"ldd": "long long"} if problem.has_gradient else {}
    return {name: (kind, getattr(problem, name)) for name, kind in kinds.items()}


def _arguments(problem: LogitsProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; `wide` outputs have scales."""
    pointers = pointer_arguments(problem.tensors, wide, wide)
    return (
        *pointers,
        *size_arguments(_sizes(problem)),
        Argument("ignore_index", "long long"),
        *([Argument("label_smoothing", "float", probability=True)] if problem.smoothed else []),
        *([Argument("lse_square_scale", "float")] if problem.z_loss else []),
        *([Argument("softcap", "float", positive=True)] if problem.capped else []),
    )


def _facts(problem: LogitsProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {
        "smoothed": problem.smoothed,
        "z_loss": problem.z_loss,
        "capped": problem.capped,
        "gradient": problem.has_gradient,
        "shared_gradient": problem.shared_gradient,
        "lse": isinstance(problem, CrossEntropyProblem) and problem.lse,
        "saved": problem.lse_given,
    }


def _rows(problem: LogitsProblem) -> str:
    """What an unspecialised source computes."""
    parts = [f"rows of {problem.dtype}, targets of {problem.target_dtype}"]
    parts += ["smoothed labels"] if problem.smoothed else []
    parts += ["z-loss"] if problem.z_loss else []
    parts += ["capped"] if problem.capped else []
    parts += ["with lse"] if isinstance(problem, CrossEntropyProblem) and problem.lse else []
    parts += ["with gradients"] if problem.has_gradient else []
    parts += ["from one for all rows"] if problem.shared_gradient else []
    return ", ".join(parts)
