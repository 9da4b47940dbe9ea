"""gemv: which schedules of tensor cores are legal."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.tensor_core.schedule import LANES_K, TensorCoreSchedule
from autotune.codegen.model.hardware import WARP
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemv.fitting import common_violations, within_limits

_MANY = 4  # vectors
_SINCE = (8, 0)  # compute capability of mma.m16n8k16
_STRIPS = 2  # strips of a thread, which make 16 rows with those of its warp
_WIDTH = 4  # stored elements of a load: what a lane brings to a product, or codes of 4 bits that are decoded together


def applies(problem: GemvProblem, spec: DeviceSpec) -> bool:
    """Whether tensor cores can multiply."""
    return not any(_lacking(problem, spec)) and problem.vector_width("w") >= _WIDTH


def preferred(problem: GemvProblem, spec: DeviceSpec) -> bool:
    """Whether tensor cores come first: for many vectors, and for codes, of which two are decoded at once for them."""
    return (problem.m >= _MANY or problem.quantised) and applies(problem, spec)


def constraints(problem: GemvProblem, schedule: TensorCoreSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    return [*_violations(problem, schedule), *_lacking(problem, spec), *common_violations(problem, schedule, spec)]


def _violations(problem: GemvProblem, schedule: TensorCoreSchedule) -> Iterator[str]:
    if schedule.strips < _STRIPS:
        yield f"strips {schedule.strips}: tensor cores take {_STRIPS} at least"
    least, most = LANES_K, _most_threads_per_output(schedule)
    if not least <= schedule.threads_per_output <= most:
        yield f"threads_per_output {schedule.threads_per_output}: tensor cores take {least} to {most}"
    if schedule.spread_x and not problem.quantised:
        yield f"spread_x: expected quantised weights, not {problem.weights}"
    width = schedule.vector_width
    if width < _WIDTH:
        yield f"vector_width {width}: tensor cores take {_WIDTH} at least"
    if width > _most_width(problem, width):
        terms = LANES_K * schedule.terms(problem)
        yield f"vector_width {width}: {LANES_K} lanes load {terms} weights, over the {problem.group_size} of a group"


def fitted(problem: GemvProblem, schedule: TensorCoreSchedule, spec: DeviceSpec) -> TensorCoreSchedule:
    """The schedule, changed as far as tensor cores need it, with no more of anything than there is room for."""
    wanted = schedule.replace(
        spread_x=schedule.spread_x and problem.quantised,
        threads_per_output=min(max(LANES_K, schedule.threads_per_output), _most_threads_per_output(schedule)),
        strips=max(_STRIPS, schedule.strips),
        vector_width=_most_width(problem, max(schedule.vector_width, _WIDTH)),
    )
    return within_limits(problem, wanted, spec)


def _lacking(problem: GemvProblem, spec: DeviceSpec) -> Iterator[str]:
    if spec.compute_capability < _SINCE:
        yield f"tensor_core: mma.m16n8k16 needs sm_80 or newer, not {spec.arch}"
    if problem.dtype.bits != 16 or problem.order is not WeightOrder.NK:
        yield f"tensor_core: expected 16-bit numbers and order nk, not {problem.dtype} and {problem.order}"
    if problem.transpose_x:
        yield "tensor_core: expected vectors x stored as m×k, not transposed"


def _most_threads_per_output(schedule: TensorCoreSchedule) -> int:
    return schedule.threads // WARP * LANES_K


def _most_width(problem: GemvProblem, width: int) -> int:
    """A warp's loads of an output are of one group."""
    return min(width, problem.group_size // LANES_K // problem.weights.packed) if problem.group_size else width
