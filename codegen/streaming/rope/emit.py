"""RopeProblem and RopeSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import INT_MAX, ceil_div, widest_divisor
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import Angles, Positions, RopeProblem
from .schedule import RopeSchedule

ENTRY = "rope"
_NAIVE_THREADS = 128
_TABLE_WIDTH = 4  # floats of the widest access
_SCALING = ("theta", "factor", "low_freq_factor", "high_freq_factor", "old_context")
_STRIDES = tuple(f"{kind}{operand}" for operand in "qkrs" for kind in ("ld", "stride_"))


def emit(problem: RopeProblem, schedule: RopeSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = arguments(problem, problem.dtype), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, blocks(problem, schedule))
    facts = _facts(problem) | {"table_width": _table_width(problem, schedule)}
    body = used_source("streaming/rope/rope.cuh", "rope_block", _conditions(problem) | schedule.constants)
    index = "long long" if _wide(problem, schedule) else "int"
    types = [f"using Element = {problem.dtype.cuda};", f"using Index = {index};  // the number of a group of heads"]
    what = problem.key if schedule.specialize is Specialize.SHAPE else _served(problem)
    declared = problem_struct(types, facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, "rope_block(arguments);")
    source = scheduled_source(f"{ENTRY}: {what}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,))


def emit_naive(problem: RopeProblem) -> Program:
    """A thread for each pair, and for each element that is copied."""
    return _naive(problem, "float", problem.dtype)


def emit_reference(problem: RopeProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, "double", DType.FLOAT64)


def blocks(problem: RopeProblem, schedule: RopeSchedule) -> int:
    """Blocks of the grid; none if there is nothing to write."""
    return schedule.blocks(problem)


def arguments(problem: RopeProblem, result: DType) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    element = problem.dtype.cuda
    listed = problem.positions is not Positions.OFFSET
    computed = problem.angles is Angles.COMPUTED
    return (
        *(Argument(name, f"const {element}*") for name in "qk"),
        *(Argument(name, f"{result.cuda}*") for name in "rs"),
        *([Argument("positions", f"const {DType(problem.positions).cuda}*")] if listed else []),
        *([] if computed else [Argument("table", "const float*")]),
        *size_arguments(_sizes(problem)),
        *([] if listed else [Argument("offset", "long long")]),
        *([Argument(name, "double", positive=True) for name in _SCALING] if computed else []),
    )


def _sizes(problem: RopeProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    counts = {name: getattr(problem, name) for name in ("heads_q", "heads_k", "head_dim", "rotated")}
    lengths = {"batch": problem.batch, **({"sequence": problem.sequence} if problem.sequence else {})}
    lengths |= {name: getattr(problem, name) for name in _STRIDES}
    return {name: ("int", value) for name, value in counts.items()} | {
        name: ("long long", value) for name, value in lengths.items()
    }


def _facts(problem: RopeProblem) -> dict[str, int | str]:
    return {"interleaved": problem.interleaved}


def _conditions(problem: RopeProblem) -> dict[str, int | str]:
    """What conditions in headers name beside the schedule."""
    names: dict[str, int | str] = {str(member): str(member) for kind in (Angles, Positions) for member in kind}
    return names | {
        "angles": str(problem.angles),
        "positions": str(problem.positions),
        "sequences": problem.sequence > 0,
        "conj": problem.conj,
    }


def _table_width(problem: RopeProblem, schedule: RopeSchedule) -> int:
    """Floats of an access to the table, which all of its accesses are aligned for."""
    widest = min(_TABLE_WIDTH, problem.align_table // DType.FLOAT32.bytes)
    return widest_divisor(widest, schedule.pairs(problem))


def _wide(problem: RopeProblem, schedule: RopeSchedule) -> bool:
    """Whether the number of a group of heads, of those behind the last one, too, may take more than 31 bits."""
    return schedule.items(problem) + schedule.threads > INT_MAX


def _served(problem: RopeProblem) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    order = "neighbours" if problem.interleaved else "halves"
    angles = f"{'negated ' * problem.conj}angles {'from a table' if problem.angles is Angles.TABLE else 'computed'}"
    return f"pairs of {order} of {problem.dtype}, {angles}, positions by {problem.positions}"


def _naive(problem: RopeProblem, number: str, result: DType) -> Program:
    members, scaled = arguments(problem, result), result is DType.FLOAT64
    if scaled:
        members = (*members[:4], *(Argument(f"{name}_scale", "double*") for name in "rs"), *members[4:])
    body = used_source("streaming/rope/naive.cuh", "rope_naive", _conditions(problem) | {"scaled": scaled})
    weight = f", {problem.error_weight}" if scaled else ""
    types = [f"using Element = {problem.dtype.cuda};"]
    facts = _facts(problem) | {"table_width": 1}
    threads = problem.batch * problem.heads * (problem.head_dim - problem.rotated // 2)
    launch = Launch(ENTRY, (ceil_div(threads, _NAIVE_THREADS), 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: a thread for each pair, in {number}, {_served(problem)}"
    return plain_program(
        title, members, declared, body, {launch: f"rope_naive<{number}>(arguments, arguments.r, arguments.s{weight});"}
    )
