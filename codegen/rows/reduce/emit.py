"""ReduceProblem and ReduceSchedule → Program."""

from __future__ import annotations

from collections.abc import Collection, Mapping

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

from .operation import Operation
from .problem import Axis, ReduceProblem
from .schedule import ReduceSchedule

ENTRY = "reduce"
_THREADS = 256  # threads of a block of the plain kernels
_WIDEST_PARTIAL = 16  # bytes
_OF_ONE_ARRAY = {"ElementPointer": "const Element*", "elements_of(arguments)": "arguments.x"}


def emit(problem: ReduceProblem, schedule: ReduceSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = _arguments(problem), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = _facts(problem, schedule.vector_width)
    if schedule.folded:
        facts |= {"ragged": True, "fold": schedule.fold(problem)}
    lines = {Axis.FIRST: "columns", Axis.SEGMENTS: "segments"}.get(problem.axis, "rows")
    if schedule.staged:
        facts |= {"held_at": schedule.held_at(problem)}
    header = f"staged_{lines}" if schedule.staged else lines
    body = _body(problem, header, f"reduce_{lines}", _conditions(problem) | facts | schedule.constants)
    served = problem.key if schedule.specialize is Specialize.SHAPE else _served(problem)
    types = _types(problem, _number(problem), schedule.wide(problem), split=schedule.splits > 1)
    declared = problem_struct(types, facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, f"reduce_{lines}(arguments);")
    source = scheduled_source(f"{ENTRY}: {served}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,), schedule.workspace_bytes(problem))


def emit_serial(problem: ReduceProblem) -> Program:
    """One thread a result."""
    launch = Launch(ENTRY, (ceil_div(problem.results, _THREADS), 1, 1), (_THREADS, 1, 1))
    return _plain(problem, "one thread a result", "serial", launch, "reduce_serially")


def emit_tree(problem: ReduceProblem) -> Program:
    """One block a result."""
    return _plain(problem, "one block a result", "tree", _tree_launch(problem), "reduce_by_tree")


def emit_reference(problem: ReduceProblem) -> Program:
    """One block a result; where results are rounded in double, beside the scale of their errors."""
    if not problem.rounded:
        return emit_tree(problem)
    return _plain(problem, "in double", "tree", _tree_launch(problem), "reference_by_tree")


def _tree_launch(problem: ReduceProblem) -> Launch:
    return Launch(ENTRY, (problem.results, 1, 1), (_THREADS, 1, 1), _THREADS * _WIDEST_PARTIAL)


def _plain(problem: ReduceProblem, how: str, header: str, launch: Launch, function: str) -> Program:
    """A kernel without a schedule: `function` of a header, which takes the block's threads if they form a tree."""
    reference = function == "reference_by_tree"
    members, facts = _arguments(problem, ["y"] if reference else []), _facts(problem, 1)
    passed = f"arguments, {problem.sum_error_weight}" if reference else "arguments"
    body = _body(problem, header, function, _conditions(problem, reference) | facts)
    number = DType.FLOAT64 if reference else _number(problem)
    types = _types(problem, number, problem.longest + _THREADS > INT_MAX)
    template = f"<{_THREADS}>" if header == "tree" else ""
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: {_served(problem)}, {how}"
    return plain_program(title, members, declared, body, {launch: f"{function}{template}({passed});"})


def _body(problem: ReduceProblem, header: str, function: str, names: Mapping[str, int | str | bool]) -> str:
    """What the kernel calls. Of one array it has plain pointers, as sources had that were measured."""
    body = used_source(f"rows/reduce/{header}.cuh", function, names)
    if problem.op.arrays == 1:
        for general, plain in _OF_ONE_ARRAY.items():
            body = body.replace(general, plain)
    return body


def _conditions(problem: ReduceProblem, reference: bool = False) -> dict[str, int | str]:
    """What conditions in headers name beside facts and the schedule."""
    names: dict[str, int | str] = {str(member): str(member) for member in (*Operation, *Axis)}
    return names | {
        "op": str(problem.op),
        "adds": problem.op.adds,
        "indexed": problem.op.indexed,
        "smallest": problem.op.smallest,
        "root": problem.op.root,
        "arrays": problem.op.arrays,
        "axis": str(problem.axis),
        "integer": not problem.dtype.is_float,
        "element_bits": problem.dtype.bits,
        "result_bits": problem.result_dtype.bits,
        "reference": reference,
    }


def _facts(problem: ReduceProblem, vector_width: int) -> dict[str, int | str]:
    """Rows are skewed if they begin between vectors, and ragged if they may end within one."""
    skewed = problem.axis is Axis.LAST and problem.rows > 1 and problem.ldx % vector_width != 0
    skewed = skewed or (problem.axis is Axis.SEGMENTS and vector_width > 1)
    return {"skewed": skewed, "ragged": skewed or problem.columns % vector_width != 0}


def _arguments(problem: ReduceProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; `wide` outputs have scales."""
    return (
        *pointer_arguments(problem.tensors, wide, wide),
        Argument("workspace", "void*"),
        *size_arguments(_sizes(problem)),
    )


def _sizes(problem: ReduceProblem) -> dict[str, tuple[str, int]]:
    names = ("columns", "segments") if problem.axis is Axis.SEGMENTS else ("rows", "columns", "ldx")
    return {name: ("long long", getattr(problem, name)) for name in names}


def _number(problem: ReduceProblem) -> DType:
    """The type that kernels compute in."""
    if problem.dtype.is_float:
        return DType.FLOAT32
    return problem.result_dtype if problem.op is Operation.SUM else problem.dtype


def _types(problem: ReduceProblem, number: DType, wide: bool, split: bool = False) -> list[str]:
    """The types of ``struct Problem``, and the last index, behind all others, where blocks share a result."""
    index = DType.INT64 if wide else DType.INT32
    types = [
        f"using Element = {problem.dtype.cuda};",
        f"using Number = {number.cuda};  // what kernels compute in",
        f"using Result = {problem.result_dtype.cuda};",
        f"using Index = {index.cuda};  // counts along the axis that is reduced",
    ]
    return [*types, f"static constexpr Index last_index = {2 ** (index.bits - 1) - 1};"] if split else types


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
