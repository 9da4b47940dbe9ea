"""SoftmaxProblem and SoftmaxSchedule → Program."""

from __future__ import annotations

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

from .mask import Mask
from .problem import SoftmaxProblem
from .schedule import SoftmaxSchedule

ENTRY = "softmax"
_NAIVE_THREADS = 128


def emit(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members = _arguments(problem)
    footprint = schedule.footprint(problem)
    launch = footprint.launch(ENTRY, blocks(problem, schedule))
    facts = _facts(problem) | _vectors(problem, schedule)
    body = used_source("rows/softmax/softmax.cuh", "softmax_block", schedule.constants | facts)
    types = _types(problem)
    declared = problem_struct(types, facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, "softmax_block(arguments);")
    title = f"{_title(problem)} of rows, for {served(problem, schedule, _rows(problem))}"
    source = scheduled_source(title, schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,))


def emit_naive(problem: SoftmaxProblem) -> Program:
    """A thread for each row."""
    return _naive(problem, 1, reference=False)


def emit_reference(problem: SoftmaxProblem) -> Program:
    """A warp for each row, in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, 32, reference=True)


def blocks(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> int:
    """Blocks of the grid; none if there is nothing to write."""
    return schedule.blocks(problem.rows) if problem.columns else 0


def _naive(problem: SoftmaxProblem, lanes: int, reference: bool) -> Program:
    number = "double" if reference else "float"
    members, facts = _arguments(problem, reference), _facts(problem) | {"reference": reference}
    body = used_source("rows/softmax/naive.cuh", "softmax_naive", facts)
    weights = {"error_weight": problem.dtype, "lse_error_weight": DType.FLOAT32}
    types = _types(problem) + double_constants(
        {name: problem.error_weight(dtype) for name, dtype in weights.items()}, body
    )
    grid = ceil_div(problem.rows * lanes, _NAIVE_THREADS) if problem.columns else 0
    launch = Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    title = f"{_title(problem)} of {_rows(problem)} in {number}, {lanes} threads per row"
    return plain_program(title, members, declared, body, {launch: f"softmax_naive<{lanes}, {number}>(arguments);"})


def _types(problem: SoftmaxProblem) -> list[str]:
    mask = [f"using MaskElement = {problem.mask_dtype.cuda};"] if problem.has_mask else []
    return [f"using Element = {problem.dtype.cuda};", *mask]


def _sizes(problem: SoftmaxProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    kinds = {"rows": "long long", "columns": "int", "ldx": "long long", "ldy": "long long"}
    kinds |= {"queries": "int"} if problem.blocked else {}
    kinds |= {"heads": "int", "ldm": "long long"} if problem.has_mask else {}
    return {name: (kind, getattr(problem, name)) for name, kind in kinds.items()}


def _arguments(problem: SoftmaxProblem, reference: bool = False) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; logarithms of `reference` have scales."""
    wide = {tensor.name for tensor in problem.tensors if reference and tensor.role is Role.OUTPUT}
    pointers = pointer_arguments(problem.tensors, wide, wide.intersection(problem.logarithms))
    return (
        *pointers,
        *size_arguments(_sizes(problem)),
        Argument("temperature", "float", positive=True),
        *([Argument("causal_offset", "int")] if problem.causal else []),
    )


def _facts(problem: SoftmaxProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {
        "logarithm": problem.log,
        "lengths": problem.lengths,
        "causal": problem.causal,
        "mask": problem.has_mask,
        "added": problem.mask is Mask.ADD,
        "zero_rows": problem.zero_rows,
        "lse": problem.lse,
    }


def _vectors(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> dict[str, int | str]:
    """See `vector_facts`; `mask_width` elements of a mask are loaded at once."""
    mask = 1 if schedule.skewed(problem) or not problem.has_mask else problem.vector_width("m")
    own = {"mask_width": min(schedule.vector_width, mask), "heads_first": schedule.heads_first}
    return vector_facts(problem, schedule, own, masked=problem.masked and not schedule.skip)


def _title(problem: SoftmaxProblem) -> str:
    """What is computed."""
    return f"{ENTRY}: y = {'log_' if problem.log else ''}softmax(x / temperature)"


def _rows(problem: SoftmaxProblem) -> str:
    """The rows that an unspecialised source takes, and what it makes of them beside y."""
    with_or_in = [
        *(["with lengths"] if problem.lengths else []),
        *(["in causal blocks"] if problem.causal else []),
        *([f"with masks of {problem.mask_dtype}"] if problem.has_mask else []),
        *(["0 where all is -infinity"] if problem.zero_rows else []),
        *(["with their lse"] if problem.lse else []),
    ]
    return " ".join([problem.dtype, ", ".join(with_or_in)]).rstrip()
