"""gemv: which schedules tensor cores can compute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import LANES_K, GemvSchedule, MultiplyUnit
from autotune.codegen.model.hardware import WARP
from autotune.search_spaces.machine.device_spec import DeviceSpec

_SINCE = (8, 0)  # compute capability of mma.m16n8k16
_STRIPS = 2  # strips of a thread, which make 16 rows with those of its warp
_WIDTH = 4  # stored elements of a load: what a lane brings to a product, or codes of 4 bits that are decoded together


def tensor_cores_multiply(problem: GemvProblem, spec: DeviceSpec) -> bool:
    """Whether there is such a schedule."""
    return not any(_lacking(problem, spec)) and problem.vector_width("w") >= _WIDTH


def tensor_core_violations(problem: GemvProblem, schedule: GemvSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule of tensor cores illegal."""
    yield from _lacking(problem, spec)
    if schedule.strips < _STRIPS:
        yield f"strips {schedule.strips}: tensor cores take {_STRIPS} at least"
    least, most = LANES_K, _most_threads_per_output(schedule)
    if not least <= schedule.threads_per_output <= most:
        yield f"threads_per_output {schedule.threads_per_output}: tensor cores take {least} to {most}"
    width = schedule.vector_width
    if width < _WIDTH:
        yield f"vector_width {width}: tensor cores take {_WIDTH} at least"
    if width > _most_width(problem, width):
        terms = LANES_K * schedule.terms(problem)
        yield f"vector_width {width}: {LANES_K} lanes load {terms} weights, over the {problem.group_size} of a group"


def spread_violations(problem: GemvProblem, schedule: GemvSchedule) -> Iterator[str]:
    """What keeps parts of x from being columns of their own."""
    if schedule.unit is MultiplyUnit.FMA or not problem.quantised:
        yield f"spread_x: expected unit tensor_core and quantised weights, not {schedule.unit} and {problem.weights}"


def for_tensor_cores(problem: GemvProblem, schedule: GemvSchedule, spec: DeviceSpec) -> GemvSchedule:
    """The schedule, changed as far as tensor cores need it; one that multiplies otherwise where they cannot."""
    if schedule.spread_x and any(spread_violations(problem, schedule)):
        schedule = replace(schedule, spread_x=False)
    if schedule.unit is MultiplyUnit.FMA:
        return schedule
    if not tensor_cores_multiply(problem, spec):
        return replace(schedule, unit=MultiplyUnit.FMA, spread_x=False)
    width = max(schedule.vector_width, _WIDTH)
    return replace(
        schedule,
        threads_per_output=min(max(LANES_K, schedule.threads_per_output), _most_threads_per_output(schedule)),
        strips=max(_STRIPS, schedule.strips),
        vector_width=_most_width(problem, width),
    )


def _lacking(problem: GemvProblem, spec: DeviceSpec) -> Iterator[str]:
    if spec.compute_capability < _SINCE:
        yield f"unit tensor_core: mma.m16n8k16 needs sm_80 or newer, not {spec.arch}"
    if problem.dtype.bits != 16 or problem.order is not WeightOrder.NK:
        yield f"unit tensor_core: expected 16-bit numbers and order nk, not {problem.dtype} and {problem.order}"
    if problem.transpose_x:
        yield "unit tensor_core: expected vectors x stored as m×k, not transposed"


def _most_threads_per_output(schedule: GemvSchedule) -> int:
    return schedule.threads // WARP * LANES_K


def _most_width(problem: GemvProblem, width: int) -> int:
    """A warp's loads of an output are of one group."""
    return min(width, problem.group_size // LANES_K // problem.weights.packed) if problem.group_size else width
