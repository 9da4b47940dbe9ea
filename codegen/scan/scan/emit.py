"""ScanProblem and ScanSchedule → Program."""

from __future__ import annotations

from collections.abc import Collection

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .operation import Operation
from .problem import ScanProblem
from .schedule import ScanSchedule

ENTRY = "scan"
HILLIS_STEELE, BLELLOCH, WARP_SCANS = METHODS = ("hillis_steele", "blelloch", "warp_scans")
_THREADS, _SERIAL_THREADS = 256, 64  # threads of a block of the plain kernels
_MOST_THREADS, _LONG_ROW = 1024, 1 << 20  # threads of a block of the reference, for rows of so many elements
_WIDEST_CARRY = 16  # bytes


def emit(problem: ScanProblem, schedule: ScanSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = arguments(problem), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = {
        "ragged": problem.columns % schedule.vector_width != 0,
        "skewed": schedule.vector_width > problem.widest,
        "one_row": problem.rows == 1,
        "first_mark": schedule.slots,
        "odd_end": problem.columns * problem.dtype.bytes % WIDEST_ACCESS != 0,
    }
    function, kernel = schedule.function, {"kernel": schedule.kernel, "rows": "rows"}
    constants = conditions(problem) | facts | schedule.constants | kernel
    body = used_source(f"scan/scan/{schedule.header}.cuh", function, constants)
    specialize = schedule.specialize
    what = problem.key if specialize is Specialize.SHAPE else served(problem)
    declared = problem_struct(types(problem), facts, sizes(problem), specialize, body)
    entry = footprint.entry(ENTRY, f"{function}(arguments);")
    source = scheduled_source(f"{ENTRY}: {what}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,), schedule.workspace_bytes(problem))


def conditions(problem: ScanProblem) -> dict[str, int | str]:
    """What conditions in headers name beside facts and the schedule."""
    names: dict[str, int | str] = {str(member): str(member) for member in Operation}
    return names | {
        "op": str(problem.op),
        "single": problem.number is DType.FLOAT32,
        "integer": not problem.dtype.is_float,
        "element_bits": problem.dtype.bits,
        "result_bits": problem.result_dtype.bits,
        "exclusive": problem.exclusive,
        "reverse": problem.reverse,
        "flags": problem.flags,
        "offsets": problem.offsets,
        "init": problem.init,
        "init_bits": problem.result_dtype.bits,
        "segmented": problem.segmented,
    }


def arguments(problem: ScanProblem, wide: Collection[str] = ()) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator; `wide` outputs have scales."""
    return (
        *pointer_arguments(problem.tensors, wide, wide),
        Argument("workspace", "void*"),
        *size_arguments(sizes(problem)),
    )


def sizes(problem: ScanProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    names = ("rows", "columns", "ldx", "ldy", *(["segments"] if problem.offsets else []))
    return {name: ("long long", getattr(problem, name)) for name in names}


def types(problem: ScanProblem) -> list[str]:
    """The types of ``struct Problem``."""
    return [
        f"using Element = {problem.dtype.cuda};",
        f"using Number = {problem.number.cuda};  // what kernels compute in",
        f"using Result = {problem.result_dtype.cuda};",
    ]


def served(problem: ScanProblem) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    wide = f" to {problem.result_dtype}" if problem.wide else ""
    said = ("exclusive" * problem.exclusive, "reverse" * problem.reverse, "segmented" * problem.segmented)
    begin = " from an initial value" * problem.init
    return f"{' '.join(filter(None, said))} {problem.op} along each row{begin}, {problem.dtype}{wide}".strip()


def emit_serial(problem: ScanProblem) -> Program:
    """One thread a row."""
    blocks = ceil_div(problem.rows, _SERIAL_THREADS) if problem.columns else 0
    launch = Launch(ENTRY, (blocks, 1, 1), (_SERIAL_THREADS, 1, 1))
    return _plain(problem, "one thread a row", "plain", launch, "scan_serially(arguments);")


def emit_block_scans(problem: ScanProblem, method: str, threads: int = _THREADS) -> Program:
    """One block a row, an element a thread, by a method of block_scans.cuh."""
    how, launch = f"one block a row, by {method}", _block_launch(problem, threads)
    return _plain(problem, how, "block_scans", launch, f"scan_row<{threads}>(arguments);", method)


def emit_reference(problem: ScanProblem) -> Program:
    """One block a row; floating-point sums in double, beside the scale of their errors."""
    threads = _MOST_THREADS if problem.columns >= _LONG_ROW else _THREADS
    if not problem.rounded:
        return emit_block_scans(problem, WARP_SCANS, threads)
    call = f"reference_row<{threads}>(arguments, {problem.sum_error_weight});"
    return _plain(problem, "in double", "block_scans", _block_launch(problem, threads), call, WARP_SCANS)


def _block_launch(problem: ScanProblem, threads: int) -> Launch:
    shared = (threads + threads // WARP) * _WIDEST_CARRY
    return Launch(ENTRY, (problem.rows if problem.columns else 0, 1, 1), (threads, 1, 1), shared)


def _plain(problem: ScanProblem, how: str, header: str, launch: Launch, call: str, method: str = "") -> Program:
    """A kernel without a schedule."""
    reference = call.startswith("reference")
    members, known, elements = arguments(problem, ["y"] if reference else []), conditions(problem), types(problem)
    if reference:
        known |= {"result_bits": DType.FLOAT64.bits}
        elements = [elements[0], "using Number = double;", "using Result = double;"]
    known |= {"method": method, **{name: name for name in METHODS}}
    function = call.partition("(")[0].partition("<")[0]
    body = used_source(f"scan/scan/{header}.cuh", function, known)
    declared = problem_struct(elements, {}, sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: {served(problem)}, {how}"
    return plain_program(title, members, declared, body, {launch: call})
