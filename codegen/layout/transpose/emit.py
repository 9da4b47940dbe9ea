"""TransposeProblem and TransposeSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import comment, launch_comment
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.schedule_struct import schedule_struct

from .problem import TransposeProblem
from .schedule import TransposeSchedule

ENTRY = "transpose"
ELEMENTS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "uint2", 16: "uint4"}
NAIVE_THREADS = 256


def arguments(problem: TransposeProblem) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    element = ELEMENTS[problem.element_bytes]
    sizes = ("m", "n", "batch", "lda", "ldb", "stride_a", "stride_b")
    return (
        Argument("a", f"const {element}*"),
        Argument("b", f"{element}*"),
        *(Argument(name, "long long", getattr(problem, name)) for name in sizes),
    )


def emit(problem: TransposeProblem, schedule: TransposeSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members = arguments(problem)
    footprint = schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    source = f"""// {ENTRY}: B[batch][n][m] = A[batch][m][n], for {_described(problem, schedule)}
{comment(str(schedule))}
{launch_comment(launch)}

{cuda_arguments(members)}

{device_code(problem, schedule)}
{footprint.entry(ENTRY, "transpose_block(arguments);")}"""
    return Program(source, members, (launch,))


def device_code(problem: TransposeProblem, schedule: TransposeSchedule) -> str:
    """The source between ``struct Arguments`` and an entry, which calls ``transpose_block``."""
    index = "long long" if _wide(problem, schedule) else "int"
    overlap_m, overlap_n = schedule.overlaps(problem.element_bytes)
    types = [
        f"using Element = {ELEMENTS[problem.element_bytes]};",
        "// Holds an offset inside of a tile.",
        f"using Index = {index};",
    ]
    # Of the elements that row groups are shifted against each other by XOR; of the rows and columns that tiles share;
    # whether tiles exceed the matrix, and whether vectors do.
    facts = {
        "group_shift": schedule.group_shift(problem.element_bytes),
        "overlap_m": overlap_m,
        "overlap_n": overlap_n,
        "edges": _edges(problem, schedule),
        "ragged": schedule.ragged(problem),
    }
    sizes = {name: (index, getattr(problem, name)) for name in ("m", "n", "lda", "ldb")}
    sizes |= {name: ("long long", getattr(problem, name)) for name in ("stride_a", "stride_b")}
    body = used_source("layout/transpose/transpose.cuh", "transpose_block", schedule.constants | facts)
    return f"""{schedule_struct(schedule, body)}

{problem_struct(types, facts, sizes, schedule.specialize, body)}

{body}"""


def emit_naive(problem: TransposeProblem) -> Program:
    """One thread per element: the reference on a device."""
    members = arguments(problem)
    source = f"""// {ENTRY}: B[batch][n][m] = A[batch][m][n], one thread per element of {problem.element_bytes} bytes

{cuda_arguments(members)}

{used_source("layout/transpose/naive.cuh", "transpose_element", {})}
extern "C" __global__ void __launch_bounds__({NAIVE_THREADS}) {ENTRY}(const Arguments arguments) {{
  transpose_element(arguments);
}}
"""
    grid = ceil_div(problem.batch * problem.m * problem.n, NAIVE_THREADS)
    return Program(source, members, (Launch(ENTRY, (grid, 1, 1), (NAIVE_THREADS, 1, 1)),))


def _wide(problem: TransposeProblem, schedule: TransposeSchedule) -> bool:
    """Whether a size, or an offset inside of a tile, may take more than 31 bits."""
    rows, columns = schedule.tile_m, schedule.tile_n
    return rows * problem.lda + columns > INT_MAX or columns * problem.ldb + rows > INT_MAX


def _edges(problem: TransposeProblem, schedule: TransposeSchedule) -> bool:
    """Whether tiles exceed the matrix."""
    overlap_m, overlap_n = schedule.overlaps(problem.element_bytes)
    return overlap_m + overlap_n > 0 or problem.m % schedule.tile_m != 0 or problem.n % schedule.tile_n != 0


def _described(problem: TransposeProblem, schedule: TransposeSchedule) -> str:
    """The problems that a source serves: one, or all of a kind, so that equal kernels have equal comments."""
    if schedule.specialize is Specialize.SHAPE:
        return problem.key
    sizes = (
        "whole tiles" if not _edges(problem, schedule) else "any size" if schedule.ragged(problem) else "whole vectors"
    )
    return f"elements of {problem.element_bytes} bytes, {sizes}"
