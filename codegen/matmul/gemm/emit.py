"""What the programs of all kernels of gemm have in common, and those of kernels without a schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from autotune.codegen.epilogue import epilogue
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul import double_sums
from autotune.codegen.matmul.workspace_copy import workspace_bytes
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import Constant, used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from . import prepare
from .fields import Scales
from .numbers import FLOAT8
from .problem import GemmProblem
from .schedule import GemmSchedule
from .source_facts import conditions, edges_of, element_types, facts_of

ENTRY = "gemm"
_NAIVE_TILE = 16  # rows and columns of D that a block of the naive kernel computes, or a warp by wmma
_WMMA_TYPES = {  # what multiplies a type, and its terms along k
    DType.FLOAT16: ("WmmaFloat16", 16),
    DType.BFLOAT16: ("WmmaBfloat16", 16),
    DType.FLOAT32: ("WmmaTf32", 8),
    DType.INT8: ("WmmaInt8", 16),
}


def scheduled(
    problem: GemmProblem,
    schedule: GemmSchedule,
    block: str,
    facts: Mapping[str, Constant],
    *,
    swapped: Callable[[GemmProblem], GemmProblem] = lambda problem: problem,
    maps: tuple[Argument, ...] = (),
    functions: str = "",
    unknown: Collection[str] = (),
) -> Program:
    """The program of a schedule: operands are prepared, then multiplied.

    Args:
        problem, schedule: what is computed, and how.
        block: the function of a block, in ``block.cuh`` of the kernel's folder.
        facts: what the kernel's headers name beside the schedule and what all kernels know of the problem.
        swapped: what is multiplied in place of a problem.
        maps: tensor maps. With them, the function takes the workspace beside the arguments.
        functions: source that the kernel has beside its headers.
        unknown: sizes that are no constants of any source.
    """
    footprint = schedule.footprint(problem)
    before, left = prepare.prepared(problem, schedule), swapped(prepare.product(problem, schedule))
    launches = [prepare.launch(before)] if before else []
    launches.append(footprint.launch(ENTRY, schedule.blocks(problem)))
    known = {**facts_of(left), **edges_of(left, schedule), **facts}
    if problem.bucket_rows:  # the same source for all rows of a bucket
        known["edge_n" if schedule.swap else "edge_m"] = True
    specialized = schedule.specialize is Specialize.SHAPE
    chosen = {"clusters": False, "gathered_a": False, "gathered_b": False, "specialized": specialized}
    header = f"matmul/gemm/{schedule.kernel}/block.cuh"
    constants = schedule.constants | conditions(left) | known | chosen | {"by_column": by_column(left)}
    body = used_source(header, (block, "OperandCopy") if before else block, constants)
    served = problem.key if specialized else _served(problem)
    sizes = _sizes(left, problem.ldd)
    declared = problem_struct(element_types(left), known, sizes, schedule.specialize, body, unknown)
    declared += f"\n\n{functions}" if functions else ""
    members = (*maps, *_arguments(problem, swapped(problem)))
    given = "with_prepared(arguments)" if before else "arguments"
    called = f"{block}(arguments, {given}.workspace);" if maps else f"{block}({given});"
    entry = footprint.entry(ENTRY, called, tensor_maps=bool(maps))
    entries = f"{prepare.source_of(before, tensor_maps=bool(maps))}{entry}" if before else entry
    source = scheduled_source(f"{ENTRY}: {served}", schedule, launches[-1], members, declared, body, entries)
    own = schedule.workspace_bytes(problem)
    needed = workspace_bytes(problem, [one.copy for one in before], own)
    suffix = footprint.arch_suffix
    return Program(source, members, tuple(launches), needed, scratch=own == 0, arch_suffix=suffix)


def by_column(problem: GemmProblem) -> bool:
    """Whether columns of D have factors or biases."""
    return problem.scales is Scales.ROW or problem.bias is Bias.ROW


def emit_naive(problem: GemmProblem) -> Program:
    """A thread for each element of D."""
    number = "double" if problem.dtype is DType.INT8 else "float"
    tiles = ceil_div(problem.m, _NAIVE_TILE) * ceil_div(problem.n // problem.parts, _NAIVE_TILE) * problem.batch
    launch = Launch(ENTRY, (tiles, 1, 1), (_NAIVE_TILE**2, 1, 1))
    call = f"gemm_naive<{_NAIVE_TILE}, {number}>(arguments, arguments.d);"
    return _plain(problem, f"a thread for each element, in {number}", "naive", launch, call)


def emit_wmma(problem: GemmProblem) -> Program:
    """A warp for each 16×16 elements of D, by wmma. Float8 is multiplied as float16."""
    tiles = ceil_div(problem.m, _NAIVE_TILE) * ceil_div(problem.n // problem.parts, _NAIVE_TILE) * problem.batch
    multiplied_as = problem.dtype if problem.dtype in _WMMA_TYPES else DType.FLOAT16
    name, terms = _WMMA_TYPES[multiplied_as]
    shared_bytes = _NAIVE_TILE * (2 * terms * multiplied_as.bytes + _NAIVE_TILE * DType.FLOAT32.bytes)
    launch = Launch(ENTRY, (tiles, 1, 1), (WARP, 1, 1), shared_bytes)
    number = "double" if problem.dtype is DType.INT8 else "float"
    call = f"gemm_wmma<{name}, {number}>(arguments, arguments.d);"
    return _plain(problem, "a warp for each 16×16 elements, by wmma", "wmma", launch, call, type_name=name)


def emit_reference(problem: GemmProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    wide = [] if problem.result is DType.INT32 else ["d", "z"]
    launch = double_sums.launch(ENTRY, problem.m, problem.n // problem.parts, problem.batch)
    return _plain(problem, "in double", "reference", launch, "gemm_reference(arguments, arguments.d);", wide)


def _plain(
    problem: GemmProblem,
    how: str,
    header: str,
    launch: Launch,
    call: str,
    wide: Collection[str] = (),
    type_name: str = "",
) -> Program:
    """A kernel without a schedule, whose call may name a type."""
    members, facts = _arguments(problem, problem, wide), facts_of(problem)
    body = used_source(f"matmul/gemm/{header}.cuh", (f"gemm_{header}", type_name), conditions(problem) | facts)
    largest = [f"static constexpr double largest = {problem.result.largest};"] if problem.result in FLOAT8 else []
    declared = problem_struct(largest, facts, _sizes(problem, problem.ldd), Specialize.NONE, body)
    return plain_program(f"{ENTRY}: {_served(problem)}, {how}", members, declared, body, {launch: call})


def _sizes(problem: GemmProblem, ldd: int) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem whose D, maybe by columns, is so far apart."""
    wide = ("lda", "ldb", "ldd", "stride_a", "stride_b", "stride_d")
    sizes = {name: ("int", getattr(problem, name)) for name in ("m", "n", "k", "batch")}
    return sizes | {name: ("long long", getattr(problem, name)) for name in wide} | {"ldd": ("long long", ldd)}


def _arguments(problem: GemmProblem, sized: GemmProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator: a problem's tensors, another's sizes."""
    return (
        *pointer_arguments(problem.tensors, wide),
        Argument("workspace", "void*"),
        *size_arguments(_sizes(sized, problem.ldd)),
        *epilogue.ARGUMENTS,
    )


def _served(problem: GemmProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    kept = ", Z" if problem.preactivation else ""
    formula = f"D{kept} = {problem.epilogue.formula('op(A)*op(B)', 'C')}"
    batches = "batches" if problem.batch > 1 else "matrices"
    types = f"{problem.dtype} and {problem.dtype_b}" if problem.mixed else problem.dtype
    scales = "" if problem.scales is Scales.NONE else f" with {str(problem.scales).replace('_', ' ')}"
    return f"{formula}, {batches} {problem.layout} of {types}{scales}, D of {problem.result}"
