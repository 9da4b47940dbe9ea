"""NormBackwardProblem and NormBackwardSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.kernel_source import Entry, KernelSource, using
from autotune.codegen.source.problem_struct import double_constants

from .problem import NormBackwardProblem
from .schedule import NormBackwardSchedule

ENTRY = "norm_backward"
_SUMS = "norm_backward_sums"
_SUM_COLUMNS, SUM_THREADS = 8, 256  # columns and threads of a block that adds up what blocks left (sum_partials.cuh)
SUM_BYTES = SUM_THREADS // 32 * _SUM_COLUMNS * 4  # a sum of each warp and column
_SUM_FOOTPRINT = Footprint(SUM_THREADS, SUM_BYTES, min_blocks_per_sm=4)
_NAIVE_THREADS = 128
_STATISTICS_BYTES = 24  # statistics of a row in the plain kernels


def emit(problem: NormBackwardProblem, schedule: NormBackwardSchedule) -> Program:
    """The source of a schedule that is legal for the problem: rows, and then the sums over them, if there are any."""
    source, sums = _source(problem), Entry(_SUMS, "sum_partials", sum_blocks(problem), _SUM_FOOTPRINT)
    return source.scheduled(
        schedule,
        "all",
        "norm_backward_block",
        *([sums] if problem.summed else []),
        facts=_vectors(problem, schedule),
        served=served(problem, schedule, source.served),
        workspace_bytes=schedule.workspace_bytes(problem),
    )


def sum_blocks(problem: NormBackwardProblem) -> int:
    """Blocks that add up what the others left."""
    return ceil_div(problem.columns, _SUM_COLUMNS) * problem.summed


def emit_naive(problem: NormBackwardProblem, number: str = "float") -> Program:
    """A warp for each row, and then a thread for each column."""
    columns = Launch(_SUMS, (ceil_div(problem.columns, _NAIVE_THREADS), 1, 1), (_NAIVE_THREADS, 1, 1))
    return _source(problem).plain(
        f" in {number}",
        problem.rows * WARP,
        f"backward_rows<{number}>(arguments);",
        block=_NAIVE_THREADS,
        reference=number == "double",
        then={columns: f"backward_columns<{number}>(arguments);"} if problem.summed else {},
        workspace_bytes=_STATISTICS_BYTES * problem.rows if problem.summed else 0,
    )


def emit_reference(problem: NormBackwardProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return emit_naive(problem, "double")


def _source(problem: NormBackwardProblem) -> KernelSource:
    weights = {"error_weight": problem.dtype, "sums_weight": problem.weight_dtype}
    return KernelSource(
        ENTRY,
        "rows/norm_backward",
        problem,
        types=using(Element=problem.dtype, Weight=problem.weight_dtype),
        facts={
            "centered": problem.centered,
            "weighted": problem.weight,
            "biased": problem.bias,
            "saved": problem.saved,
        },
        lines=double_constants({name: problem.error_weight(dtype) for name, dtype in weights.items()}),
        workspace=True,
        scaled=[tensor.name for tensor in problem.tensors],
        served=_rows(problem),
    )


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
