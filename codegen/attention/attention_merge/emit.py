"""AttentionMergeProblem and AttentionMergeSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import AttentionMergeProblem
from .schedule import AttentionMergeSchedule


def emit(problem: AttentionMergeProblem, schedule: AttentionMergeSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(schedule, "merge", "attention_merge_block")


def emit_naive(problem: AttentionMergeProblem) -> Program:
    """A thread for each row, which goes through one element after the other."""
    return _naive(problem, "float")


def emit_reference(problem: AttentionMergeProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, "double", reference=True)


def _naive(problem: AttentionMergeProblem, number: str, *, reference: bool = False) -> Program:
    return _source(problem).plain(
        f", a thread for each row, in {number}",
        problem.rows,
        f"attention_merge_naive<{number}>(arguments);",
        reference=reference,
    )


def _source(problem: AttentionMergeProblem) -> KernelSource:
    layouts = problem.layouts.values()
    strides = {name: step for one in layouts for name, step in zip(one.fields, one.strides, strict=True)}
    counts = {name: getattr(problem, name) for name in ("queries", "heads", "rows")}
    return KernelSource(
        "attention_merge",
        "attention/attention_merge",
        problem,
        types=using(Element=problem.dtype),
        sizes={name: ("int", value) for name, value in counts.items()}
        | {name: ("long long", value) for name, value in strides.items()},
        scaled=("o",),
        served=f"heads of {problem.head_dim} {problem.dtype}{', lse' if problem.lse else ''}",
    )
