"""SgemmProblem and SgemmSchedule → Program."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.epilogue import epilogue
from autotune.codegen.matmul import double_sums
from autotune.codegen.matmul.workspace_copy import workspace_bytes
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import cuda_arguments, size_arguments
from autotune.codegen.source.emission import comment, launch_comment
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.schedule_struct import schedule_struct

from .problem import SgemmProblem
from .schedule import SgemmSchedule
from .transpose_first import product, source_of, transposed_first

ENTRY = "sgemm"
FORMULA = "C = alpha*op(A)*op(B) + beta*C"
# The sum of no products is 0 whatever alpha is, which may be infinite or NaN.
_NO_PRODUCTS = """Arguments without_products = arguments;
  without_products.alpha = 0.0f;
  sgemm_block(without_products);"""
_NAIVE_TILE = 16  # rows and columns of C that a block of the naive kernel computes


def emit(problem: SgemmProblem, schedule: SgemmSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    before, given, stated = transposed_first(problem, schedule), problem, comment(str(schedule))
    problem, schedule = product(problem, schedule)
    edges = _edges(problem, schedule)
    served = problem.key if schedule.specialize is Specialize.SHAPE else _served(problem, edges)
    members = kernel_arguments(given)
    footprint = schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = _facts(problem, edges) | {f"k_major_{operand}": schedule.k_major(problem, operand) for operand in "ab"}
    constants = (
        schedule.constants
        | facts
        | {
            "clusters": True,
            "gathered_a": False,
            "staged_c": schedule.staged_c,
            "gathered_b": False,
            "lanes_k": schedule.lanes_k,
            "k_partitions": schedule.warps_k * schedule.cluster_k,
        }
    )
    body = used_source("matmul/sgemm/sgemm.cuh", "sgemm_block", constants)
    source = f"""{comment(f"{ENTRY}: {FORMULA}, for {served}")}
{stated}
{launch_comment(launch)}

{cuda_arguments(members)}

{schedule_struct(schedule, body)}

{_problem_struct(problem, facts, _wide(problem, schedule), schedule.specialize, body)}

{body}
{source_of(before) if before else ""}{footprint.entry(ENTRY, _body(problem, transposed=bool(before)))}"""
    needed = workspace_bytes(given, [one.copy for one in before], schedule.workspace_bytes(problem))
    return Program(source, members, (*(one.launch for one in before), launch), needed)


def _body(problem: SgemmProblem, *, transposed: bool) -> str:
    """The statements of the entry."""
    if transposed:
        return "sgemm_block(with_transposed(arguments));"
    return _NO_PRODUCTS if problem.k == 0 else "sgemm_block(arguments);"


def emit_naive(problem: SgemmProblem, coalesced: bool) -> Program:
    """A kernel with one thread per element of C."""
    tiles = ceil_div(problem.m, _NAIVE_TILE) * ceil_div(problem.n, _NAIVE_TILE) * problem.batch
    launch = Launch(ENTRY, (tiles, 1, 1), (_NAIVE_TILE**2, 1, 1))
    how, flag = ("coalesced", "true") if coalesced else ("uncoalesced", "false")
    call = f"sgemm_naive<{_NAIVE_TILE}, {flag}>(arguments);"
    return _plain(problem, f"naive, {how}", "naive", launch, call, "float")


def emit_reference(problem: SgemmProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    launch = double_sums.launch(ENTRY, problem.m, problem.n, problem.batch)
    return _plain(problem, "in double", "reference", launch, "sgemm_reference(arguments, arguments.c);", "double")


def _plain(problem: SgemmProblem, how: str, header: str, launch: Launch, call: str, number: str) -> Program:
    """A kernel without a schedule; `number` is the type of C."""
    body = used_source(f"matmul/sgemm/{header}.cuh", f"sgemm_{header}", {})
    title = f"{ENTRY}: {FORMULA}, for {_served(problem, {})}, {how}"
    declared = plain_problem_struct(problem, body)
    return plain_program(title, kernel_arguments(problem, number), declared, body, {launch: call})


def _sizes(problem: SgemmProblem) -> Mapping[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    sizes = {name: ("int", getattr(problem, name)) for name in ("m", "n", "k", "batch", "lda", "ldb", "ldc")}
    return sizes | {name: ("long long", getattr(problem, name)) for name in ("stride_a", "stride_b", "stride_c")}


def kernel_arguments(problem: SgemmProblem, number: str = "float") -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    return (
        Argument("a", "const float*"),
        Argument("b", "const float*"),
        Argument("c", f"{number}*"),
        Argument("workspace", "void*"),
        *size_arguments(_sizes(problem)),
        *epilogue.ARGUMENTS,
    )


def _wide(problem: SgemmProblem, schedule: SgemmSchedule) -> bool:
    """Whether an offset inside of a tile may take more than 31 bits."""
    side = max(schedule.block_m, schedule.block_n, schedule.block_k)
    return side * (max(problem.lda, problem.ldb, problem.ldc) + 1) >= 2**31


def _edges(problem: SgemmProblem, schedule: SgemmSchedule) -> dict[str, bool]:
    """What becomes of the last tile along each dimension, if the tiles do not divide it.

    Across k it slides over its neighbour, if there is one and its vectors stay aligned. Along k the rest comes first,
    ahead of the loop, if a whole tile follows. Neither needs guards in the loop.
    """
    sticks_out = {name: getattr(problem, name) % getattr(schedule, f"block_{name}") != 0 for name in "mnk"}
    slide = {
        name: sticks_out[name] and size > block and size % schedule.vector_along(problem, name) == 0
        for name, size, block in (
            ("m", problem.m, schedule.block_m),
            ("n", problem.n, schedule.block_n),
        )
    }
    return {
        "guard_m": sticks_out["m"] and not slide["m"],
        "guard_n": sticks_out["n"] and not slide["n"],
        "guard_k": sticks_out["k"],
        "overlap_last_m": slide["m"],
        "overlap_last_n": slide["n"],
        "residue_first": sticks_out["k"] and problem.k > schedule.block_k and schedule.stages > 1,
    }


def _served(problem: SgemmProblem, edges: Mapping[str, bool]) -> str:
    """The problems that an unspecialised source serves; it may not depend on anything else of the problem."""
    whole = [name for name in "mnk" if edges and not edges[f"guard_{name}"] and not edges.get(f"overlap_last_{name}")]
    more = [
        name
        for name, fact in (("m", "overlap_last_m"), ("n", "overlap_last_n"), ("k", "residue_first"))
        if edges.get(fact)
    ]
    size = ", ".join(
        f"{sizes} along {', '.join(names)}"
        for sizes, names in (("in whole tiles", whole), ("of more than a tile", more))
        if names
    )
    return f"{'batches' if problem.batch > 1 else 'matrices'} {problem.layout} of any size" + (
        f" {size}" if size else ""
    )


def _facts(problem: SgemmProblem, edges: Mapping[str, bool]) -> dict[str, bool]:
    """What a source is specialised for in any case."""
    return {
        "transpose_a": problem.transpose_a,
        "transpose_b": problem.transpose_b,
        "batched": problem.batch > 1,
        "beta_nonzero": problem.beta_nonzero,
        **edges,
    }


def plain_problem_struct(problem: SgemmProblem, source: str) -> str:
    """``struct Problem`` of a kernel that takes any size and knows nothing of edges."""
    return problem_struct([], _facts(problem, {}), _sizes(problem), Specialize.NONE, source)


def _problem_struct(
    problem: SgemmProblem, facts: Mapping[str, bool], wide: bool, specialize: Specialize, source: str
) -> str:
    index = [
        "// Holds an offset inside of a tile.",
        f"using Index = {'long long' if wide else 'int'};",
    ]
    return problem_struct(index, facts, _sizes(problem), specialize, source)
