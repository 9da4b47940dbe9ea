"""A norm's problem and schedule → Program."""

from __future__ import annotations

from collections.abc import Collection

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import Exact, Role
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import double_constants, problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import NormProblem
from .schedule import RmsNormSchedule

_NAIVE_THREADS = 128


def emit(problem: NormProblem, schedule: RmsNormSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, entry = _arguments(problem), name_of(problem)
    footprint = schedule.footprint(problem)
    launch = footprint.launch(entry, schedule.blocks(problem.rows) if problem.columns else 0)
    facts = _facts(problem) | _vectors(problem, schedule)
    body = used_source("rows/norm/norm.cuh", "norm_block", schedule.constants | facts)
    declared = problem_struct(_types(problem, body), facts, _sizes(problem), schedule.specialize, body)
    title = f"{entry}: {served(problem, schedule, _rows(problem))}"
    kernel = footprint.entry(entry, "norm_block(arguments);")
    source = scheduled_source(title, schedule, launch, members, declared, body, kernel)
    return Program(source, members, (launch,))


def emit_naive(problem: NormProblem) -> Program:
    """A thread for each row."""
    return _naive(problem, 1, reference=False)


def emit_reference(problem: NormProblem) -> Program:
    """A warp for each row, in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, 32, reference=True)


def name_of(problem: NormProblem) -> str:
    """The operator's, and its kernels'."""
    return "layer_norm" if problem.centered else "rms_norm"


def _naive(problem: NormProblem, lanes: int, reference: bool) -> Program:
    number = "double" if reference else "float"
    judged = [
        tensor for tensor in problem.tensors if tensor.role is Role.OUTPUT and not isinstance(tensor.judged, Exact)
    ]
    wide = [tensor.name for tensor in judged] if reference else []
    members, entry, facts = _arguments(problem, wide), name_of(problem), _facts(problem) | {"reference": reference}
    body = used_source("rows/norm/naive.cuh", "norm_naive", facts)
    weights = {
        name: problem.error_weight(dtype)
        for name, dtype in (("error_weight", problem.result_dtype), ("statistics_weight", DType.FLOAT32))
        if dtype.is_float
    }
    grid = ceil_div(problem.rows * lanes, _NAIVE_THREADS) if problem.columns else 0
    launch = Launch(entry, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(
        _types(problem, body) + double_constants(weights, body), facts, _sizes(problem), Specialize.NONE, body
    )
    title = f"{entry}: {_rows(problem)} in {number}, {lanes} threads per row"
    return plain_program(title, members, declared, body, {launch: f"norm_naive<{lanes}, {number}>(arguments);"})


def _types(problem: NormProblem, body: str) -> list[str]:
    """Types that ``struct Problem`` declares; that of quantised results is known where they are an argument."""
    types = [f"using Element = {problem.dtype.cuda};", f"using Weight = {problem.weight_dtype.cuda};"]
    if problem.out_dtype and "Problem::Result" in body:
        types += [
            f"using Result = {problem.result_dtype.cuda};",
        ]
    if "Problem::largest" in body:
        types.append(f"static constexpr float largest = {problem.largest}f;  // the largest result of a row")
    return types


def _sizes(problem: NormProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    kinds = {"rows": "long long", "columns": "int", "ldx": "long long", "ldy": "long long"}
    return {name: (kind, getattr(problem, name)) for name, kind in kinds.items()}


def _arguments(problem: NormProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; `wide` outputs have scales."""
    pointers = pointer_arguments(problem.tensors, wide, wide)
    sizes = size_arguments(_sizes(problem))
    return (*pointers, *sizes, Argument("eps", "float"), Argument("weight_offset", "float"))


def _facts(problem: NormProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {
        "centered": problem.centered,
        "weighted": problem.weight,
        "biased": problem.biased,
        "residual": problem.residual,
        "statistics": problem.statistics,
        "quantized": problem.out_dtype is not None,
        "integer": problem.int8,
    }


def _vectors(problem: NormProblem, schedule: RmsNormSchedule) -> dict[str, int | str]:
    """See `vector_facts`; `weight_width` elements of weight or bias are loaded at once."""
    aligned = min(problem.align_w, WIDEST_ACCESS) // problem.weight_dtype.bytes
    own = {"weight_width": 1 if schedule.skewed(problem) else min(schedule.vector_width, aligned)}
    return vector_facts(problem, schedule, own)


def _rows(problem: NormProblem) -> str:
    """What an unspecialised source computes."""
    parts = [f"rows of {problem.dtype}"]
    parts += [f"quantised to {problem.out_dtype}"] if problem.out_dtype else []
    parts += ["plus a residual"] if problem.residual else []
    parts += [f"weights of {problem.weight_dtype}"] if problem.weight else []
    parts += [f"biases of {problem.weight_dtype}"] if problem.biased else []
    return ", ".join([*parts, *(["with statistics"] if problem.statistics else [])])
