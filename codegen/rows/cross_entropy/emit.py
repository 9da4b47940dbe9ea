"""A LogitsProblem and its schedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.rows.programs import row_naive
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import KernelSource, using
from autotune.codegen.source.problem_struct import double_constants

from .logits_problem import LEAST, LogitsProblem
from .problem import CrossEntropyProblem
from .schedule import CrossEntropyBackwardSchedule, CrossEntropySchedule


def emit(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    source, facts = loss_source(problem), vector_facts(problem, schedule)
    facts |= {"bulk": schedule.bulk} if isinstance(schedule, CrossEntropySchedule) else {"early": False}
    rows, header = served(problem, schedule, source.served), "backward" if problem.lse_given else "cross_entropy"
    return source.scheduled(schedule, header, facts=facts, served=rows)


def emit_naive(problem: LogitsProblem, *, reference: bool = False) -> Program:
    """See `row_naive`."""
    return row_naive(loss_source(problem), "cross_entropy_naive", reference=reference)


def emit_reference(problem: LogitsProblem) -> Program:
    """See `row_naive`."""
    return emit_naive(problem, reference=True)


def name_of(problem: LogitsProblem) -> str:
    """The operator's, and its kernels'."""
    return "cross_entropy_backward" if problem.lse_given else "cross_entropy"


def loss_source(problem: LogitsProblem) -> KernelSource:
    """What the sources of all kernels of a problem state alike."""
    numbers = {
        "sums_weight": problem.error_weight(DType.FLOAT32),
        "gradient_weight": problem.error_weight(problem.dtype),
        "least": LEAST,
    }
    return KernelSource(
        name_of(problem),
        "rows/cross_entropy",
        problem,
        types=using(Element=problem.dtype),
        facts={
            "smoothed": problem.smoothed,
            "z_loss": problem.z_loss,
            "capped": problem.capped,
            "gradient": problem.has_gradient,
            "shared_gradient": problem.shared_gradient,
            "lse": isinstance(problem, CrossEntropyProblem) and problem.lse,
            "saved": problem.lse_given,
        },
        lines=double_constants(numbers),
        sizes=sizes_of(problem, "rows", "columns", "ldx", *(["ldd"] if problem.has_gradient else [])),
        scalars=[
            Argument("ignore_index", "long long"),
            *([Argument("label_smoothing", "float", probability=True)] if problem.smoothed else []),
            *([Argument("lse_square_scale", "float")] if problem.z_loss else []),
            *([Argument("softcap", "float", positive=True)] if problem.capped else []),
        ],
        scaled=[tensor.name for tensor in problem.tensors],
        served=_rows(problem),
    )


def _rows(problem: LogitsProblem) -> str:
    """What an unspecialised source computes."""
    parts = [f"rows of {problem.dtype}, targets of {problem.target_dtype}"]
    parts += ["smoothed labels"] if problem.smoothed else []
    parts += ["z-loss"] if problem.z_loss else []
    parts += ["capped"] if problem.capped else []
    parts += ["with lse"] if isinstance(problem, CrossEntropyProblem) and problem.lse else []
    parts += ["with gradients"] if problem.has_gradient else []
    parts += ["from one for all rows"] if problem.shared_gradient else []
    return ", ".join(parts)
