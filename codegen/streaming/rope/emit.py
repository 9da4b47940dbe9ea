"""RopeProblem and RopeSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import INT_MAX, widest_divisor
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import Angles, Positions, RopeProblem
from .schedule import RopeSchedule

_TABLE_WIDTH = 4  # floats of the widest access
_SCALING = ("theta", "factor", "low_freq_factor", "high_freq_factor", "old_context")
_STRIDES = tuple(f"{kind}{operand}" for operand in "qkrs" for kind in ("ld", "stride_"))


def emit(problem: RopeProblem, schedule: RopeSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    generic = schedule.specialize is Specialize.NONE  # of sizes that are known, compilers know these ranges
    index = "long long" if _wide(problem, schedule) else "unsigned" if generic else "int"
    offset = "int" if generic and _near(problem) else "long long"
    return _source(problem, offset).scheduled(
        schedule,
        facts={"table_width": _table_width(problem, schedule)},
        types=[
            f"using Index = {index};  // the number of a group of heads",
            f"using Offset = {offset};  // of an element",
        ],
    )


def emit_naive(problem: RopeProblem) -> Program:
    """A thread for each pair, and for each element that is copied."""
    return _naive(problem, "float")


def emit_reference(problem: RopeProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, "double", f", {problem.error_weight}")


def _naive(problem: RopeProblem, number: str, weight: str = "") -> Program:
    call = f"rope_naive<{number}>(arguments, arguments.r, arguments.s{weight});"
    threads = problem.batch * problem.heads * (problem.head_dim - problem.rotated // 2)
    return _source(problem).plain(f", a thread for each pair, in {number}", threads, call, reference=bool(weight))


def _source(problem: RopeProblem, offset: str = "long long") -> KernelSource:
    listed, computed = problem.positions is not Positions.OFFSET, problem.angles is Angles.COMPUTED
    counts = ("heads_q", "heads_k", "head_dim", "rotated")
    lengths = ("batch", *(["sequence"] if problem.sequence else []), *_STRIDES)
    return KernelSource(
        "rope",
        "streaming/rope",
        problem,
        types=using(Element=problem.dtype),
        facts={"interleaved": problem.interleaved, "table_width": 1, "sequences": problem.sequence > 0},
        sizes={name: ("int", getattr(problem, name)) for name in counts}
        | {name: (offset, getattr(problem, name)) for name in lengths},
        scalars=[
            *([] if listed else [Argument("offset", "long long")]),
            *([Argument(name, "double", positive=True) for name in _SCALING] if computed else []),
        ],
        scaled=("r", "s"),
        served=_served(problem),
    )


def _table_width(problem: RopeProblem, schedule: RopeSchedule) -> int:
    """Floats of an access to the table, which all of its accesses are aligned for."""
    widest = min(_TABLE_WIDTH, problem.align_table // DType.FLOAT32.bytes)
    return widest_divisor(widest, schedule.pairs(problem))


def _wide(problem: RopeProblem, schedule: RopeSchedule) -> bool:
    """Whether the number of a group of heads, of those behind the last one, too, may take more than 31 bits."""
    return schedule.items(problem) + schedule.threads > INT_MAX


def _near(problem: RopeProblem) -> bool:
    """Whether the number of each element of an operand takes at most 31 bits."""
    ends = (
        problem.batch * getattr(problem, f"stride_{operand}") + problem.heads * getattr(problem, f"ld{operand}")
        for operand in "qkrs"
    )
    return all(end <= INT_MAX for end in ends)


def _served(problem: RopeProblem) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    order = "neighbours" if problem.interleaved else "halves"
    angles = f"{'negated ' * problem.conj}angles {'from a table' if problem.angles is Angles.TABLE else 'computed'}"
    return f"pairs of {order} of {problem.dtype}, {angles}, positions by {problem.positions}"
