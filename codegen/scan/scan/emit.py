"""ScanProblem and ScanSchedule → Program."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import ScanProblem
from .schedule import ScanSchedule

HILLIS_STEELE, BLELLOCH, WARP_SCANS = METHODS = ("hillis_steele", "blelloch", "warp_scans")
_THREADS, _SERIAL_THREADS = 256, 64  # threads of a block of the plain kernels
_MOST_THREADS, _LONG_ROW = 1024, 1 << 20  # threads of a block of the reference, for rows of so many elements
_WIDEST_CARRY = 16  # bytes


def emit(problem: ScanProblem, schedule: ScanSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {
        "ragged": problem.columns % schedule.vector_width != 0,
        "skewed": schedule.vector_width > problem.widest,
        "one_row": problem.rows == 1,
        "first_mark": schedule.slots,
        "odd_end": problem.columns * problem.dtype.bytes % WIDEST_ACCESS != 0,
    }
    return _source(problem, conditions={"rows": "rows"}).scheduled(
        schedule,
        schedule.header,
        schedule.function,
        facts=facts,
        workspace_bytes=schedule.workspace_bytes(problem),
    )


def emit_serial(problem: ScanProblem) -> Program:
    """One thread a row."""
    threads = problem.rows
    return _source(problem).plain(
        ", one thread a row", threads, "scan_serially(arguments);", "plain", block=_SERIAL_THREADS
    )


def emit_block_scans(problem: ScanProblem, method: str, threads: int = _THREADS) -> Program:
    """One block a row, an element a thread, by a method of block_scans.cuh."""
    return _block_scans(problem, f", one block a row, by {method}", f"scan_row<{threads}>(arguments);", method, threads)


def emit_reference(problem: ScanProblem) -> Program:
    """One block a row; floating-point sums in double, beside the scale of their errors."""
    threads = _MOST_THREADS if problem.columns >= _LONG_ROW else _THREADS
    if not problem.rounded:
        return emit_block_scans(problem, WARP_SCANS, threads)
    call = f"reference_row<{threads}>(arguments, {problem.sum_error_weight});"
    return _block_scans(problem, ", in double", call, WARP_SCANS, threads, reference=True)


def _block_scans(
    problem: ScanProblem, how: str, call: str, method: str, threads: int, *, reference: bool = False
) -> Program:
    conditions = {"method": method, **{name: name for name in METHODS}}
    shared, rows = (threads + threads // WARP) * _WIDEST_CARRY, problem.rows
    source = _source(problem, DType.FLOAT64 if reference else None, conditions)
    return source.plain(
        how, rows * threads, call, "block_scans", block=threads, shared_bytes=shared, reference=reference
    )


def _source(
    problem: ScanProblem, number: DType | None = None, conditions: Mapping[str, str] | None = None
) -> KernelSource:
    """`number` is what a reference computes in, and what its results are."""
    result = number or problem.result_dtype
    remark = "" if number else "  // what kernels compute in"
    return KernelSource(
        "scan",
        "scan/scan",
        problem,
        types=[
            *using(Element=problem.dtype),
            f"using Number = {(number or problem.number).cuda};{remark}",
            f"using Result = {result.cuda};",
        ],
        conditions={
            "single": problem.number is DType.FLOAT32,
            "integer": not problem.dtype.is_float,
            "element_bits": problem.dtype.bits,
            "result_bits": result.bits,
            "init_bits": problem.result_dtype.bits,
            "segmented": problem.segmented,
            **(conditions or {}),
        },
        sizes=sizes_of(problem, "rows", "columns", "ldx", "ldy", *(["segments"] if problem.offsets else [])),
        workspace=True,
        scaled=("y",),
        served=_served(problem),
    )


def _served(problem: ScanProblem) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    wide = f" to {problem.result_dtype}" if problem.wide else ""
    said = ("exclusive" * problem.exclusive, "reverse" * problem.reverse, "segmented" * problem.segmented)
    begin = " from an initial value" * problem.init
    return f"{' '.join(filter(None, said))} {problem.op} along each row{begin}, {problem.dtype}{wide}".strip()
