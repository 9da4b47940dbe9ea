"""CausalConv1dProblem and CausalConv1dSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import CausalConv1dProblem
from .schedule import CausalConv1dSchedule

ENTRY = "causal_conv1d"


def emit(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    header, skewed = "along_channels" if problem.channels_last else "along_steps", schedule.skewed(problem)
    served = f"{_served(problem)}, rows that begin between vectors" if skewed else _served(problem)
    return _source(problem).scheduled(
        schedule,
        header,
        facts={"skewed": skewed},
        served=problem.key if schedule.specialize is Specialize.SHAPE else served,
    )


def emit_naive(problem: CausalConv1dProblem) -> Program:
    """A thread for each step of a channel."""
    return _source(problem).plain(", a thread for each step", _steps(problem), f"{ENTRY}_naive<float>(arguments);")


def emit_reference(problem: CausalConv1dProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    call = f"{ENTRY}_naive<double>(arguments);"
    return _source(problem).plain(", in double", _steps(problem), call, reference=True)


def _steps(problem: CausalConv1dProblem) -> int:
    return problem.batch * problem.channels * max(1, problem.length)


def _source(problem: CausalConv1dProblem) -> KernelSource:
    counts = {name: ("int", getattr(problem, name)) for name in ("channels", "length", "batch")}
    strides = {name: ("long long", getattr(problem, name)) for name in ("ldx", "stride_x", "ldy", "stride_y")}
    return KernelSource(
        ENTRY,
        "convolution/causal_conv1d",
        problem,
        types=using(Element=problem.dtype),
        conditions={"beta_nonzero": False},
        sizes=counts | strides,
        served=_served(problem),
    )


def _served(problem: CausalConv1dProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    order = "channels last" if problem.channels_last else "steps of a channel side by side"
    states = "".join(f", {name} states" for name in ("initial", "final") if getattr(problem, name))
    numbers = ", within sequences" if problem.numbered else ""
    return (
        f"{problem.activation} of sums of {problem.width} steps{' and a bias' if problem.bias else ''} of "
        f"{problem.dtype}, {order}{states}{numbers}"
    )
