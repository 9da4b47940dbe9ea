"""A norm's problem and schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.rows.programs import row_naive
from autotune.codegen.rows.schedule import RowSchedule
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.kernel_source import KernelSource, using
from autotune.codegen.source.problem_struct import double_constants

from .problem import NormProblem
from .schedule import RmsNormSchedule, weight_width


def emit(problem: NormProblem, schedule: RmsNormSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    source = norm_source(problem)
    rows, facts = served(problem, schedule, source.served), norm_facts(problem, schedule)
    return source.scheduled(schedule, "norm", "norm_block", facts=facts, served=rows)


def emit_naive(problem: NormProblem, *, reference: bool = False) -> Program:
    """See `row_naive`."""
    return row_naive(norm_source(problem), "norm_naive", reference=reference)


def emit_reference(problem: NormProblem) -> Program:
    """See `row_naive`."""
    return emit_naive(problem, reference=True)


def name_of(problem: NormProblem) -> str:
    """The operator's, and its kernels'."""
    return "layer_norm" if problem.centered else "rms_norm"


def norm_source(problem: NormProblem) -> KernelSource:
    """What the sources of all kernels of a problem state alike."""
    weights = {"error_weight": problem.result_dtype, "statistics_weight": DType.FLOAT32}
    quantised = {
        "Result": f"using Result = {problem.result_dtype.cuda};",
        "largest": f"static constexpr float largest = {problem.largest}f;  // the largest result of a row",
    }
    return KernelSource(
        name_of(problem),
        "rows/norm",
        problem,
        types=using(Element=problem.dtype, Weight=problem.weight_dtype),
        facts={
            "centered": problem.centered,
            "weighted": problem.weight,
            "biased": problem.biased,
            "residual": problem.residual,
            "statistics": problem.statistics,
            "quantized": problem.out_dtype is not None,
            "integer": problem.int8,
        },
        lines=(quantised if problem.out_dtype else {})
        | double_constants({name: problem.error_weight(kind) for name, kind in weights.items() if kind.is_float}),
        scaled=[tensor.name for tensor in problem.tensors],
        served=_rows(problem),
    )


def norm_facts(problem: NormProblem, schedule: RowSchedule) -> dict[str, int | str]:
    """See `vector_facts`; `weight_width` elements of weight or bias are loaded at once."""
    return vector_facts(problem, schedule, {"weight_width": weight_width(problem, schedule)})


def _rows(problem: NormProblem) -> str:
    """What an unspecialised source computes."""
    parts = [f"rows of {problem.dtype}"]
    parts += [f"quantised to {problem.out_dtype}"] if problem.out_dtype else []
    parts += ["plus a residual"] if problem.residual else []
    parts += [f"weights of {problem.weight_dtype}"] if problem.weight else []
    parts += [f"biases of {problem.weight_dtype}"] if problem.biased else []
    return ", ".join([*parts, *(["with statistics"] if problem.statistics else [])])
