"""ReduceProblem and ReduceSchedule → Program."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource

from .operation import Operation
from .problem import Axis, ReduceProblem
from .schedule import ReduceSchedule

_THREADS = 256  # threads of a block of the plain kernels
_WIDEST_PARTIAL = 16  # bytes
_OF_ONE_ARRAY = {"ElementPointer": "const Element*", "elements_of(arguments)": "arguments.x"}


def emit(problem: ReduceProblem, schedule: ReduceSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = _facts(problem, schedule.vector_width)
    if schedule.folded:
        facts |= {"ragged": True, "fold": schedule.fold(problem)}
    lines = {Axis.FIRST: "columns", Axis.SEGMENTS: "segments"}.get(problem.axis, "rows")
    if schedule.staged:
        facts |= {"held_at": schedule.held_at(problem)}
    return _source(problem, wide=schedule.wide(problem), split=schedule.splits > 1).scheduled(
        schedule,
        f"staged_{lines}" if schedule.staged else lines,
        f"reduce_{lines}",
        facts=facts,
        workspace_bytes=schedule.workspace_bytes(problem),
    )


def emit_serial(problem: ReduceProblem) -> Program:
    """One thread a result."""
    source, call = _plain_source(problem), "reduce_serially(arguments);"
    return source.plain(", one thread a result", problem.results, call, "serial", block=_THREADS)


def emit_tree(problem: ReduceProblem) -> Program:
    """One block a result."""
    return _tree(_plain_source(problem), ", one block a result", f"reduce_by_tree<{_THREADS}>(arguments);")


def emit_reference(problem: ReduceProblem) -> Program:
    """One block a result; where results are rounded in double, beside the scale of their errors."""
    if not problem.rounded:
        return emit_tree(problem)
    call = f"reference_by_tree<{_THREADS}>(arguments, {problem.sum_error_weight});"
    return _tree(_plain_source(problem, DType.FLOAT64), ", in double", call)


def _tree(source: _Source, how: str, call: str) -> Program:
    shared, reference = _THREADS * _WIDEST_PARTIAL, call.startswith("reference")
    threads = source.problem.results * _THREADS
    return source.plain(how, threads, call, "tree", block=_THREADS, shared_bytes=shared, reference=reference)


class _Source(KernelSource):
    problem: ReduceProblem

    def used(self, header: str, functions: tuple[str, ...], names: Mapping[str, Constant]) -> str:
        """See `KernelSource`. Of one array it has plain pointers, as sources had that were measured."""
        body = super().used(header, functions, names)
        if self.problem.op.arrays == 1:
            for general, plain in _OF_ONE_ARRAY.items():
                body = body.replace(general, plain)
        return body


def _plain_source(problem: ReduceProblem, number: DType | None = None) -> _Source:
    """Of kernels without a schedule."""
    return _source(problem, number, wide=problem.longest + _THREADS > INT_MAX)


def _source(problem: ReduceProblem, number: DType | None = None, *, wide: bool, split: bool = False) -> _Source:
    """What sources have in common whose indices along the axis may be wide, and whose blocks may share a result."""
    index, op = DType.INT64 if wide else DType.INT32, problem.op
    last = f"static constexpr Index last_index = {2 ** (index.bits - 1) - 1};"
    names = ("columns", "segments") if problem.axis is Axis.SEGMENTS else ("rows", "columns", "ldx")
    return _Source(
        "reduce",
        "rows/reduce",
        problem,
        facts=_facts(problem, 1),
        conditions={
            "adds": op.adds,
            "indexed": op.indexed,
            "smallest": op.smallest,
            "root": op.root,
            "arrays": op.arrays,
            "integer": not problem.dtype.is_float,
            "element_bits": problem.dtype.bits,
            "result_bits": problem.result_dtype.bits,
            "reference": False,
        },
        types=[
            f"using Element = {problem.dtype.cuda};",
            f"using Number = {(number or _number(problem)).cuda};  // what kernels compute in",
            f"using Result = {problem.result_dtype.cuda};",
            f"using Index = {index.cuda};  // counts along the axis that is reduced",
            *([last] if split else []),
        ],
        sizes=sizes_of(problem, *names),
        workspace=True,
        scaled=("y",),
        served=_served(problem),
    )


def _facts(problem: ReduceProblem, vector_width: int) -> dict[str, int | str]:
    """Rows are skewed if they begin between vectors, and ragged if they may end within one."""
    skewed = problem.axis is Axis.LAST and problem.rows > 1 and problem.ldx % vector_width != 0
    skewed = skewed or (problem.axis is Axis.SEGMENTS and vector_width > 1)
    return {"skewed": skewed, "ragged": skewed or problem.columns % vector_width != 0}


def _number(problem: ReduceProblem) -> DType:
    """The type that kernels compute in."""
    if problem.dtype.is_float:
        return DType.FLOAT32
    return problem.result_dtype if problem.op is Operation.SUM else problem.dtype


def _served(problem: ReduceProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    what = {
        Axis.ALL: "all elements of a matrix",
        Axis.LAST: "each row of a matrix",
        Axis.FIRST: "each column of a matrix",
        Axis.SEGMENTS: "each segment of an array",
    }
    of = what[problem.axis]
    if problem.op.arrays == 2:
        of = of.replace("a matrix", "two matrices").replace("an array", "two arrays")
    return f"y = {problem.op} of {of}, {problem.dtype}"
