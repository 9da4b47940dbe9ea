"""MapProblem and MapSchedule → Program."""

from __future__ import annotations

from collections.abc import Collection

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import Constant, used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .arrays import NARROW
from .problem import MapProblem
from .schedule import MapSchedule

ENTRY = "map"
_NAIVE_THREADS = 256


def emit(problem: MapProblem, schedule: MapSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    whole = problem.collapsed
    members, facts = _arguments(whole), _facts(whole) | _edges(whole, schedule)
    launch = schedule.footprint(whole).launch(ENTRY, schedule.blocks(whole))
    body = used_source("streaming/map/map.cuh", "map_block", schedule.constants | _conditions(whole) | facts)
    served = problem.key if schedule.specialize is Specialize.SHAPE else _served(whole, schedule)
    declared = problem_struct(
        _types(whole, schedule), facts, _sizes(whole, _index(whole, schedule)), schedule.specialize, body
    )
    entry = schedule.footprint(whole).entry(ENTRY, "map_block(arguments);")
    source = scheduled_source(f"{ENTRY}: {served}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,))


def emit_naive(problem: MapProblem) -> Program:
    """A thread for each result."""
    return _naive(problem, "float")


def emit_reference(problem: MapProblem) -> Program:
    """The same in double precision where results are rounded: the truth that others are compared with on a device."""
    return _naive(problem, "float" if problem.exact else "double")


def _naive(problem: MapProblem, number: str) -> Program:
    whole = problem.collapsed
    members, facts = _arguments(whole, ["y"] if number == "double" else []), _facts(whole)
    body = used_source("streaming/map/naive.cuh", "map_naive", _conditions(whole) | facts)
    grid = ceil_div(whole.rows * whole.columns, _NAIVE_THREADS)
    launch = Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct([], facts, _sizes(whole, "long long"), Specialize.NONE, body)
    title = f"{ENTRY}: {_formula(whole)}, a thread for each result, in {number}"
    return plain_program(title, members, declared, body, {launch: f"map_naive<{number}>(arguments, arguments.y);"})


def _arguments(problem: MapProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    return (*pointer_arguments(problem.tensors, wide), *size_arguments(_sizes(problem, "long long")))


def _sizes(problem: MapProblem, index: str) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    leading = {f"ld{operand}": ("long long", getattr(problem, f"ld{operand}")) for operand in problem.stored}
    return {"rows": ("long long", problem.rows), "columns": (index, problem.columns)} | leading


def _conditions(problem: MapProblem) -> dict[str, Constant]:
    """What conditions in headers name beside facts and the schedule."""
    names: dict[str, Constant] = {str(member): str(member) for member in (*Activation, *Gate)}
    return names | {"function": str(problem.function), "gate": str(problem.gate)}


def _facts(problem: MapProblem) -> dict[str, Constant]:
    """What a source is specialised for in any case."""
    return {
        "bias": problem.bias,
        "residual": problem.residual,
        "scaled": problem.scaled,
        "saturate": problem.saturate,
        "backward": problem.backward,
        "pairs": problem.pairs("x"),
        "narrow": not {problem.dtype, problem.result}.isdisjoint(NARROW),
    }


def _edges(problem: MapProblem, schedule: MapSchedule) -> dict[str, Constant]:
    """Whether there is one row, rows may begin within vectors, and vectors may be partly outside of a row."""
    skewed = schedule.skewed(problem)
    ragged = problem.columns % schedule.vector_width != 0
    return {"single_row": problem.rows == 1, "skewed": skewed, "partial": skewed or ragged}


def _types(problem: MapProblem, schedule: MapSchedule) -> list[str]:
    return [
        f"using Input = {problem.dtype.cuda};",
        f"using Output = {problem.result.cuda};",
        f"using Index = {_index(problem, schedule)};",
        f"using Tile = {'unsigned' if schedule.tiles(problem) <= INT_MAX else 'long long'};",
    ]


def _index(problem: MapProblem, schedule: MapSchedule) -> str:
    """The type of a column, of one beyond the last tile, too."""
    beyond = problem.columns + 2 * schedule.tile_columns(problem)
    return "int" if problem.pairs("x") * beyond <= INT_MAX else "long long"


def _served(problem: MapProblem, schedule: MapSchedule) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    facts = _edges(problem, schedule)
    rows = "one row" if facts["single_row"] else "rows"
    vectors = "of any length" if facts["partial"] else "of whole vectors"
    return f"{_formula(problem)}, {rows} {vectors}{', that begin between vectors' if facts['skewed'] else ''}"


def _formula(problem: MapProblem) -> str:
    z = "x + bias" if problem.bias else "x"
    gated = "" if problem.gate is Gate.NONE else " * u"
    if problem.backward:
        formula = f"y = {problem.function}'({z}){gated} * g" + (f", {problem.function}({z}) * g" if gated else "")
    else:
        formula = f"{problem.function}({z}){gated}{' + r' if problem.residual else ''}"
        formula = f"y = ({formula}) * scale" if problem.scaled else f"y = {formula}"
    packed = f" {problem.gate}" if problem.gate is not Gate.NONE else ""
    return f"{formula}, {problem.dtype}{packed} to {problem.result}{', saturated' if problem.saturate else ''}"
