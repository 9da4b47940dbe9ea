"""NormBackwardProblem and NormBackwardSchedule → Program."""

from __future__ import annotations

from collections.abc import Collection

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
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

from .problem import NormBackwardProblem
from .schedule import NormBackwardSchedule

ENTRY = "norm_backward"
_SUMS = "norm_backward_sums"
_SUM_COLUMNS, SUM_THREADS = 8, 256  # columns and threads of a block that adds up what blocks left (sum_partials.cuh)
_SUM_BLOCKS_PER_SM = 4
SUM_BYTES = SUM_THREADS // 32 * _SUM_COLUMNS * 4  # a sum of each warp and column
_NAIVE_THREADS = 128
_STATISTICS_BYTES = 24  # statistics of a row in the plain kernels


def emit(problem: NormBackwardProblem, schedule: NormBackwardSchedule) -> Program:
    """The source of a schedule that is legal for the problem: rows, and then the sums over them, if there are any."""
    members, footprint = _arguments(problem), schedule.footprint(problem)
    rows = footprint.launch(ENTRY, schedule.grid(problem))
    sums = Launch(_SUMS, (sum_blocks(problem), 1, 1), (SUM_THREADS, 1, 1), SUM_BYTES)
    steps = (rows, sums) if problem.summed else (rows,)
    facts = _facts(problem) | _vectors(problem, schedule)
    functions = {"norm_backward_block": ENTRY} | ({"sum_partials": _SUMS} if problem.summed else {})
    body = used_source("rows/norm_backward/all.cuh", tuple(functions), schedule.constants | facts)
    entries = footprint.entry(ENTRY, "norm_backward_block(arguments);")
    if problem.summed:
        bounds = f"__launch_bounds__({SUM_THREADS}, {_SUM_BLOCKS_PER_SM})"
        entries += f'\nextern "C" __global__ void {bounds} {_SUMS}(const Arguments arguments) {{\n'
        entries += "  sum_partials(arguments);\n}\n"
    declared = problem_struct(_types(problem), facts, _sizes(problem), schedule.specialize, body)
    source = scheduled_source(
        f"{ENTRY}: {served(problem, schedule, _rows(problem))}", schedule, rows, members, declared, body, entries
    )
    return Program(source, members, steps, schedule.workspace_bytes(problem))


def sum_blocks(problem: NormBackwardProblem) -> int:
    """Blocks that add up what the others left."""
    return ceil_div(problem.columns, _SUM_COLUMNS) * problem.summed


def emit_naive(problem: NormBackwardProblem) -> Program:
    """A warp for each row, and then a thread for each column."""
    return _naive(problem, reference=False)


def emit_reference(problem: NormBackwardProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, reference=True)


def _naive(problem: NormBackwardProblem, reference: bool) -> Program:
    number = "double" if reference else "float"
    outputs = [tensor.name for tensor in problem.tensors if tensor.role is Role.OUTPUT]
    members = _arguments(problem, outputs if reference else ())
    facts = _facts(problem) | {"reference": reference}
    functions = ("backward_rows", "backward_columns") if problem.summed else ("backward_rows",)
    body = used_source("rows/norm_backward/naive.cuh", functions, facts)
    weights = {"error_weight": problem.dtype, "sums_weight": problem.weight_dtype}
    types = _types(problem) + double_constants(
        {name: problem.error_weight(dtype) for name, dtype in weights.items()}, body
    )
    rows = ceil_div(problem.rows * WARP, _NAIVE_THREADS) if problem.columns else 0
    grids = (rows, ceil_div(problem.columns, _NAIVE_THREADS))
    calls = {
        Launch(name, (grid, 1, 1), (_NAIVE_THREADS, 1, 1)): f"{function}<{number}>(arguments);"
        for name, grid, function in zip((ENTRY, _SUMS), grids, functions, strict=False)
    }
    declared = problem_struct(types, facts, _sizes(problem), Specialize.NONE, body)
    workspace = _STATISTICS_BYTES * problem.rows if problem.summed else 0
    return plain_program(f"{ENTRY}: {_rows(problem)} in {number}", members, declared, body, calls, workspace)


def _types(problem: NormBackwardProblem) -> list[str]:
    return [f"using Element = {problem.dtype.cuda};", f"using Weight = {problem.weight_dtype.cuda};"]


def _sizes(problem: NormBackwardProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    kinds = {"rows": "long long", "columns": "int", "ldx": "long long", "ldd": "long long"}
    return {name: (kind, getattr(problem, name)) for name, kind in kinds.items()}


def _arguments(problem: NormBackwardProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; `wide` outputs have scales."""
    pointers = pointer_arguments(problem.tensors, wide, wide)
    sizes = size_arguments(_sizes(problem))
    scalars = (Argument("eps", "float"), Argument("weight_offset", "float"))
    return (*pointers, Argument("workspace", "void*"), *sizes, *scalars)


def _facts(problem: NormBackwardProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {
        "centered": problem.centered,
        "weighted": problem.weight,
        "biased": problem.bias,
        "saved": problem.saved,
    }


def _vectors(problem: NormBackwardProblem, schedule: NormBackwardSchedule) -> dict[str, int | str]:
    """See `vector_facts`; `weight_width` elements of the weight are loaded at once."""
    aligned = min(problem.align_w, WIDEST_ACCESS) // problem.weight_dtype.bytes
    return vector_facts(problem, schedule, {"weight_width": min(schedule.vector_width, aligned)})


def _rows(problem: NormBackwardProblem) -> str:
    """What an unspecialised source computes."""
    norm = "layer_norm" if problem.centered else "rms_norm"
    parts = [f"gradients of {norm} of {problem.dtype}"]
    parts += ["by saved statistics"] if problem.saved else []
    parts += [f"of weights of {problem.weight_dtype}"] if problem.weight else []
    return ", ".join([*parts, *([f"of biases of {problem.weight_dtype}"] if problem.bias else [])])
