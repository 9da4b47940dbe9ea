"""MapProblem and MapSchedule → Program."""

from __future__ import annotations

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource, using

from .arrays import NARROW
from .problem import MapProblem
from .schedule import MapSchedule

_NAIVE_THREADS = 256


def emit(problem: MapProblem, schedule: MapSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    whole, index = problem.collapsed, _index(problem.collapsed, schedule)
    tile = "unsigned" if schedule.tiles(whole) <= INT_MAX else "long long"
    return _source(whole).scheduled(
        schedule,
        facts=_edges(whole, schedule),
        types=[
            *using(Input=whole.dtype, Output=whole.result),
            f"using Index = {index};",
            f"using Tile = {tile};",
        ],
        narrowed={"columns": index},
        served=problem.key if schedule.specialize is Specialize.SHAPE else _served(whole, schedule),
    )


def emit_naive(problem: MapProblem, number: str = "float") -> Program:
    """A thread for each result."""
    whole, call = problem.collapsed, f"map_naive<{number}>(arguments, arguments.y);"
    how, threads = f", a thread for each result, in {number}", whole.rows * whole.columns
    return _source(whole).plain(how, threads, call, block=_NAIVE_THREADS, reference=number == "double")


def emit_reference(problem: MapProblem) -> Program:
    """The same in double precision where results are rounded: the truth that others are compared with on a device."""
    return emit_naive(problem, "float" if problem.exact else "double")


def _source(problem: MapProblem) -> KernelSource:
    return KernelSource(
        "map",
        "streaming/map",
        problem,
        facts={
            "bias": problem.bias,
            "residual": problem.residual,
            "scaled": problem.scaled,
            "saturate": problem.saturate,
            "backward": problem.backward,
            "pairs": problem.pairs("x"),
            "narrow": not {problem.dtype, problem.result}.isdisjoint(NARROW),
        },
        lines={"largest": f"static constexpr double largest = {problem.result.largest!r};"},
        sizes=sizes_of(problem, "rows", "columns", *(f"ld{operand}" for operand in problem.stored)),
        served=_formula(problem),
    )


def _edges(problem: MapProblem, schedule: MapSchedule) -> dict[str, Constant]:
    """Whether there is one row, rows may begin within vectors, and vectors may be partly outside of a row."""
    skewed = schedule.skewed(problem)
    ragged = problem.columns % schedule.vector_width != 0
    return {"single_row": problem.rows == 1, "skewed": skewed, "partial": skewed or ragged}


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
