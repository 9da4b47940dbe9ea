"""CausalConv1dUpdateProblem and CausalConv1dUpdateSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import CausalConv1dUpdateProblem
from .schedule import CausalConv1dUpdateSchedule

ENTRY = "causal_conv1d_update"


def emit(problem: CausalConv1dUpdateProblem, schedule: CausalConv1dUpdateSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(schedule)


def emit_naive(problem: CausalConv1dUpdateProblem) -> Program:
    """A thread for each channel of a request."""
    return _plain(problem, "float", reference=False)


def emit_reference(problem: CausalConv1dUpdateProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    return _plain(problem, "double", reference=True)


def _plain(problem: CausalConv1dUpdateProblem, number: str, *, reference: bool) -> Program:
    channels, call = problem.requests * problem.channels, f"update_channel<{number}>(arguments);"
    return _source(problem).plain(f", in {number}", channels, call, ENTRY, reference=reference)


def _source(problem: CausalConv1dUpdateProblem) -> KernelSource:
    counts = {name: ("int", getattr(problem, name)) for name in ("requests", "channels", "slots", "steps")}
    layouts = problem.layouts.values()
    strides = {name: ("long long", step) for one in layouts for name, step in zip(one.fields, one.strides, strict=True)}
    return KernelSource(
        ENTRY,
        f"convolution/{ENTRY}",
        problem,
        types=using(Element=problem.dtype),
        conditions={"beta_nonzero": False},
        sizes=counts | strides,
        served=f"{problem.activation} of sums of {problem.width} steps{' and a bias' if problem.bias else ''} of "
        f"{problem.dtype}{', slots by index' if problem.indexed else ''}",
    )
