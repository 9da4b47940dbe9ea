"""GemvProblem and GemvSchedule → Program."""

from __future__ import annotations

from autotune.codegen.epilogue import epilogue
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import GemvProblem, WeightOrder
from .schedule import GemvSchedule

_NAIVE_THREADS = 128


def emit(problem: GemvProblem, schedule: GemvSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(
        schedule,
        facts=_edges(problem, schedule),
        types=_types(problem),
        workspace_bytes=schedule.workspace_bytes(problem),
    )


def emit_naive(problem: GemvProblem, number: str = "float") -> Program:
    """A thread for each output."""
    how, threads = f", a thread for each output, in {number}", problem.n * problem.m * problem.batch
    call = f"gemv_naive<{number}>(arguments, arguments.x, arguments.y);"
    return _source(problem).plain(how, threads, call, block=_NAIVE_THREADS, reference=number == "double")


def emit_reference(problem: GemvProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return emit_naive(problem, "double")


def _types(problem: GemvProblem) -> list[str]:
    """Lines that declare what the elements of arrays are."""
    types = {"Element": problem.dtype}
    if problem.quantised:
        types["Stored"] = problem.weight_dtype
    if problem.group_size:
        types["Scale"] = problem.scale_dtype
    return using(**types)


def _source(problem: GemvProblem) -> KernelSource:
    wide = ("ldx", "ldw", "ldy", "stride_x", "stride_w", "stride_y")
    sizes = sizes_of(problem, "n", "k", "batch", *wide)
    if problem.quantised:
        rows, groups = problem.weights.scales_shape(problem.n, problem.k, problem.group_size)
        sizes |= {"groups": ("int", groups), "stride_scales": ("long long", rows * groups if problem.stride_w else 0)}
    return KernelSource(
        "gemv",
        "matmul/gemv",
        problem,
        facts={
            "m": max(1, problem.m),  # C++ has no arrays of no elements; of no vectors nothing is launched
            "along_k": problem.order is WeightOrder.NK,
            "batched": problem.batch > 1,
            "beta_nonzero": problem.beta_nonzero,
            "packed": problem.weights.packed,
            "group_size": problem.group_size,
            "scale_rows": problem.scale_rows,
        },
        conditions={
            **problem.epilogue.conditions,
            "tensor_core": "tensor_core",
            "element_is_bfloat16": problem.dtype is DType.BFLOAT16,
        },
        sizes=sizes,
        workspace=True,
        scalars=epilogue.ARGUMENTS,
        served=_served(problem),
    )


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
