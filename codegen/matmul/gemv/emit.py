"""GemvProblem and GemvSchedule → Program."""

from __future__ import annotations

from collections.abc import Collection

from autotune.codegen.epilogue import epilogue
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import GemvProblem, WeightOrder
from .schedule import GemvSchedule
from .weights import Weights

ENTRY = "gemv"
_NAIVE_THREADS = 128


def emit(problem: GemvProblem, schedule: GemvSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = _arguments(problem), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = _facts(problem) | _edges(problem, schedule)
    kernel = {"kernel": schedule.kernel, "tensor_core": "tensor_core"}
    constants = schedule.constants | _conditions(problem) | facts | kernel
    body = used_source("matmul/gemv/gemv.cuh", "gemv_block", constants)
    served = problem.key if schedule.specialize is Specialize.SHAPE else _served(problem)
    declared = problem_struct(_types(problem), facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, "gemv_block(arguments);")
    source = scheduled_source(f"{ENTRY}: {served}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,), schedule.workspace_bytes(problem))


def emit_naive(problem: GemvProblem) -> Program:
    """A thread for each output."""
    return _naive(problem, "float")


def emit_reference(problem: GemvProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, "double")


def _naive(problem: GemvProblem, number: str) -> Program:
    members, facts = _arguments(problem, ["y"] if number == "double" else []), _facts(problem)
    body = used_source("matmul/gemv/naive.cuh", "gemv_naive", _conditions(problem) | facts)
    grid = ceil_div(problem.n * problem.m * problem.batch, _NAIVE_THREADS)
    launch = Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct([], facts, _sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: {_served(problem)}, a thread for each output, in {number}"
    return plain_program(
        title, members, declared, body, {launch: f"gemv_naive<{number}>(arguments, arguments.x, arguments.y);"}
    )


def _types(problem: GemvProblem) -> list[str]:
    """Lines that declare what the elements of arrays are."""
    types = {"Element": problem.dtype}
    if problem.quantised:
        types["Stored"] = problem.weight_dtype
    if problem.group_size:
        types["Scale"] = problem.scale_dtype
    return [f"using {name} = {dtype.cuda};" for name, dtype in types.items()]


def _sizes(problem: GemvProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    wide = ("ldx", "ldw", "ldy", "stride_x", "stride_w", "stride_y")
    sizes = {name: ("int", getattr(problem, name)) for name in ("n", "k", "batch")} | {
        name: ("long long", getattr(problem, name)) for name in wide
    }
    if problem.quantised:
        rows, groups = problem.weights.scales_shape(problem.n, problem.k, problem.group_size)
        sizes |= {"groups": ("int", groups), "stride_scales": ("long long", rows * groups if problem.stride_w else 0)}
    return sizes


def _arguments(problem: GemvProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    return (
        *pointer_arguments(problem.tensors, wide),
        Argument("workspace", "void*"),
        *size_arguments(_sizes(problem)),
        *epilogue.ARGUMENTS,
    )


def _conditions(problem: GemvProblem) -> dict[str, int | str]:
    """What conditions in headers name beside facts and the schedule."""
    names: dict[str, int | str] = {str(member): str(member) for member in (*WeightOrder, *Weights)}
    return (
        names
        | problem.epilogue.conditions
        | {
            "order": str(problem.order),
            "weights": str(problem.weights),
            "zeros": problem.zeros,
            "transpose_x": problem.transpose_x,
            "transpose_y": problem.transpose_y,
            "element_is_bfloat16": problem.dtype is DType.BFLOAT16,
        }
    )


def _facts(problem: GemvProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {
        "m": max(1, problem.m),  # C++ has no arrays of no elements; of no vectors nothing is launched
        "along_k": problem.order is WeightOrder.NK,
        "batched": problem.batch > 1,
        "beta_nonzero": problem.beta_nonzero,
        "packed": problem.weights.packed,
        "group_size": problem.group_size,
        "scale_rows": problem.scale_rows,
    }


def _edges(problem: GemvProblem, schedule: GemvSchedule) -> dict[str, int | str]:
    """Whether the last block or step has less than a whole one, a row of W ends within a vector; accesses to x."""
    _, columns = problem.stored["w"]
    return {
        "edge_n": problem.n % schedule.block_n(problem) != 0,
        "edge_k": problem.k % schedule.block_k(problem) != 0,
        "ragged": columns % schedule.vector_width != 0,
        "width_x": schedule.x_width(problem),
        "x_pitch": schedule.x_pitch(problem),
        "spread": schedule.spread(problem),
    }


def _served(problem: GemvProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    formula = f"y = {problem.epilogue.formula('W*x', 'y')}"
    batches = "batches of " if problem.batch > 1 else ""
    stored = f"{problem.weights} stored" if problem.quantised else "stored"
    vectors = f"{problem.m} vectors of {problem.dtype}, W {stored} as {problem.order}"
    transposed = "".join(f", {name} transposed" for name in "xy" if getattr(problem, f"transpose_{name}"))
    return f"{formula}, {batches}{vectors}{transposed}"
