"""SoftmaxProblem and SoftmaxSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.rows.programs import row_naive
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import KernelSource, using
from autotune.codegen.source.problem_struct import double_constants

from .mask import Mask
from .problem import SoftmaxProblem
from .schedule import SoftmaxSchedule


def emit(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    rows = f"{formula(problem)} of rows, for {served(problem, schedule, served_rows(problem))}"
    facts = _vectors(problem, schedule)
    return kernel_source(problem).scheduled(schedule, facts=facts, served=rows)


def emit_naive(problem: SoftmaxProblem, *, reference: bool = False) -> Program:
    """See `row_naive`."""
    return row_naive(kernel_source(problem), reference=reference)


def emit_reference(problem: SoftmaxProblem) -> Program:
    """See `row_naive`."""
    return emit_naive(problem, reference=True)


def kernel_source(problem: SoftmaxProblem) -> KernelSource:
    """What the sources of all kernels of a problem state alike."""
    weights = {"error_weight": problem.dtype, "lse_error_weight": DType.FLOAT32}
    sizes = ["rows", "columns", "ldx", "ldy"]
    sizes += ["queries"] if problem.blocked else []
    sizes += ["heads", "ldm"] if problem.has_mask else []
    return KernelSource(
        "softmax",
        "rows/softmax",
        problem,
        types=using(Element=problem.dtype, **({"MaskElement": problem.mask_dtype} if problem.has_mask else {})),
        facts={
            "logarithm": problem.log,
            "mask": problem.has_mask,
            "added": problem.mask is Mask.ADD,
        },
        lines=double_constants({name: problem.error_weight(dtype) for name, dtype in weights.items()}),
        sizes=sizes_of(problem, *sizes),
        scalars=[
            Argument("temperature", "float", positive=True),
            *([Argument("causal_offset", "int")] if problem.causal else []),
        ],
        scaled=problem.logarithms,
        served=f"{formula(problem)} of {served_rows(problem)}",
    )


def formula(problem: SoftmaxProblem) -> str:
    """What a title says of y."""
    return f"y = {'log_' if problem.log else ''}softmax(x / temperature)"


def _vectors(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> dict[str, int | str]:
    """See `vector_facts`; `mask_width` elements of a mask are loaded at once."""
    mask = 1 if schedule.skewed(problem) or not problem.has_mask else problem.vector_width("m")
    own = {"mask_width": min(schedule.vector_width, mask), "heads_first": schedule.heads_first}
    return vector_facts(problem, schedule, own, masked=problem.masked and not schedule.skip)


def served_rows(problem: SoftmaxProblem) -> str:
    """The rows that an unspecialised source takes, and what it makes of them beside y."""
    with_or_in = [
        *(["with lengths"] if problem.lengths else []),
        *(["in causal blocks"] if problem.causal else []),
        *([f"with masks of {problem.mask_dtype}"] if problem.has_mask else []),
        *(["0 where all is -infinity"] if problem.zero_rows else []),
        *(["with their lse"] if problem.lse else []),
    ]
    return " ".join([problem.dtype, ", ".join(with_or_in)]).rstrip()
